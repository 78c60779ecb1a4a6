"""reduce_window with any computation: against a loop over windows; structures and dtypes that do not fit."""

import itertools

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp

X = np.random.default_rng(0).integers(-4, 5, (5, 6)).astype(np.float32)


def by_loop(x, start, combine, sizes, strides=(1, 1), padding=((0, 0), (0, 0)), base=(1, 1), gaps=(1, 1)):
    """What a window sees of the padding is left out."""
    wide = np.full([d * (n - 1) + 1 + sum(p) for n, d, p in zip(x.shape, base, padding)], np.nan)
    wide[tuple(slice(lo, n - hi, d) for n, d, (lo, hi) in zip(wide.shape, base, padding))] = x
    counts = [(n - g * (k - 1) - 1) // s + 1 for n, k, s, g in zip(wide.shape, sizes, strides, gaps)]
    out = np.zeros(counts, x.dtype)
    for at in np.ndindex(*counts):
        total = start
        for offset in itertools.product(*map(range, sizes)):
            value = wide[tuple(i * s + o * g for i, s, o, g in zip(at, strides, offset, gaps))]
            total = total if np.isnan(value) else combine(total, value)
        out[at] = total
    return out


WINDOWS = {
    "plain": {"sizes": (2, 3)},
    "strides": {"sizes": (2, 2), "strides": (2, 3)},
    "padding": {"sizes": (3, 2), "padding": ((1, 1), (0, 1))},
    "dilations": {"sizes": (2, 2), "base": (2, 1), "gaps": (2, 3)},
    "everything": {"sizes": (2, 2), "strides": (2, 1), "padding": ((1, 0), (2, 1)), "base": (1, 2), "gaps": (1, 2)},
}
COMPUTATIONS = {  # function, start, meaning
    "add from 0": (lax.add, 0, lambda a, b: a + b),
    "max": (lax.max, -np.inf, max),
    "max from 0": (lax.max, 0, max),
    "mul": (lax.mul, 1, lambda a, b: a * b),
    "of a user": (lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b), 0, lambda a, b: a if abs(a) > abs(b) else b),
}


@pytest.mark.parametrize("computation", COMPUTATIONS)
@pytest.mark.parametrize("window", WINDOWS)
def test_as_by_a_loop(window, computation):
    function, start, meaning = COMPUTATIONS[computation]
    options = WINDOWS[window]
    names = {"sizes": "window_dimensions", "strides": "window_strides", "padding": "padding", "base": "base_dilation",
             "gaps": "window_dilation"}  # fmt: skip
    reduced = lambda x: lax.reduce_window(x, np.float32(start), function, **{names[k]: v for k, v in options.items()})
    want = by_loop(X, start, meaning, **options)
    np.testing.assert_allclose(reduced(X), want)
    np.testing.assert_allclose(jax.jit(reduced)(X), want)


def test_trees():
    def larger(a, b):
        keep = a["value"] >= b["value"]
        return jax.tree.map(lambda x, y: jnp.where(keep, x, y), a, b)

    start = {"value": np.float32(-np.inf), "at": np.int32(-1)}
    operand = {"value": X[0], "at": np.arange(6, dtype=np.int32)}
    found = jax.jit(lambda t: lax.reduce_window(t, start, larger, (3,), (3,)))(operand)
    assert found["value"].tolist() == [X[0, :3].max(), X[0, 3:].max()]
    assert found["at"].tolist() == [int(X[0, :3].argmax()), 3 + int(X[0, 3:].argmax())]


I = np.arange(X.size, dtype=np.int32).reshape(X.shape) % 7
START = np.float32(0), np.int32(0)
SEVERAL = {  # computations of two operands with functions of jnp: (computation, what it gives for a window's elements)
    "sums": (lambda a, b: (jnp.add(a[0], b[0]), a[1] + b[1]), lambda x, i: (x.sum(), i.sum())),
    "sum and largest": (
        lambda a, b: (jnp.add(a[0], b[0]), jnp.maximum(a[1], b[1])),
        lambda x, i: (x.sum(), max(i.max(initial=0), 0)),
    ),
    "index of the largest": (
        lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])),
        lambda x, i: (max(x.max(initial=0), 0), i[x.argmax()] if x.max(initial=0) > 0 else 0),
    ),
}
PLACES = {
    "valid": {"window_dimensions": (2, 2)},
    "strides": {"window_dimensions": (2, 3), "window_strides": (2, 1)},
    "dilated": {"window_dimensions": (2, 2), "window_dilation": (2, 1)},
    "cropped": {"window_dimensions": (1, 2), "padding": ((0, -1), (-1, 0))},
}


def _each_window(x, window_dimensions, window_strides=(1, 1), window_dilation=(1, 1), padding=((0, 0), (0, 0))):
    x = x[tuple(slice(-low, n + high) for n, (low, high) in zip(x.shape, padding))]
    widths = [(w - 1) * d + 1 for w, d in zip(window_dimensions, window_dilation)]
    rows, columns = (range(0, n - w + 1, s) for n, w, s in zip(x.shape, widths, window_strides))
    down, along = window_dilation
    return [[x[r : r + widths[0] : down, c : c + widths[1] : along].reshape(-1) for c in columns] for r in rows]


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("window", PLACES)
@pytest.mark.parametrize("name", SEVERAL)
def test_several_operands(name, window, way):
    (computation, meaning), options = SEVERAL[name], PLACES[window]
    found = way(lambda *xs: lax.reduce_window(xs, START, computation, **options))(X, I)
    pairs = zip(_each_window(X, **options), _each_window(I, **options))
    want = np.array([[meaning(x, i) for x, i in zip(*rows)] for rows in pairs])
    assert [x.dtype for x in found] == [np.float32, np.int32]
    np.testing.assert_allclose(found[0], want[..., 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[1], want[..., 1])


def test_windows_without_elements():
    assert lax.reduce_window(X[:, :1], np.float32(1), lax.mul, (1, 2)).shape == (5, 0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.reduce_window([X], np.float32(0), lax.add, (1, 1)), ValueError, "same tree structure"),
        (lambda: lax.reduce_window([], [], lax.add, ()), ValueError, "at least one operand"),
        (lambda: lax.reduce_window(X, 0, lax.mul, (1, 1)), TypeError, "inconsistent dtypes"),
        (lambda: lax.reduce_window(X, X[0], lax.mul, (1, 1)), TypeError, "to be scalars"),
        (lambda: lax.reduce_window(X, np.float32(1), lambda a, b: (a, b), (1, 1)), ValueError, "tree structure"),
        (lambda: lax.reduce_window((X, I), START, lambda a, b: (a[0], b[0]), (1, 1)), ValueError, "operands' dtypes"),
        (lambda: lax.reduce_window((X, I[:2]), START, lambda a, b: a, (1, 1)), ValueError, "operands of one shape"),
        (lambda: lax.reduce_window(X, np.float32(1), lax.mul, (1, 0)), (TypeError, ValueError), "window"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
