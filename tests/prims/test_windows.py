"""Reductions over windows: NaN, infinities and ties, integers, any function, words of errors.  Expected: JAX 0.10.2."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._transforms.autodiff import grad, jvp, vjp
from onax._transforms.vmap import vmap

INF, NAN = np.inf, np.nan
X = np.ones((2, 3, 8), np.float32)
MONOIDS = ((lax.add, 0.0, np.sum), (lax.max, -INF, np.max), (lax.min, INF, np.min))


def by_definition(x, function, window, strides):
    """The function over each window of a matrix."""
    counts = [(n - w) // s + 1 for n, w, s in zip(x.shape, window, strides)]
    out = np.zeros(counts, x.dtype)
    for i, j in np.ndindex(*counts):
        rows, columns = (slice(k * s, k * s + w) for k, s, w in zip((i, j), strides, window))
        out[i, j] = function(x[rows, columns])
    return out


@pytest.mark.parametrize("dtype", ("float32", "float16", "int8", "uint16", "int32", "uint32"))
def test_windows_of_every_width(dtype):
    """Narrow windows go element by element, wide ones by doubling; jit as eagerly."""
    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, (5, 40)).astype(dtype)
    for width in (1, 2, 3, 8, 9, 12, 31, 40):
        for stride in (1, 3):
            for function, init, reference in MONOIDS:
                if np.isinf(init) and x.dtype.kind != "f":
                    info = np.iinfo(dtype)
                    init = info.min if init < 0 else info.max
                f = lambda v, a=function, i=x.dtype.type(init), w=width, s=stride: lax.reduce_window(
                    v, i, a, (2, w), (2, s)
                )
                reference = (lambda v: np.sum(v, dtype=dtype)) if function is lax.add else reference
                want = by_definition(x, reference, (2, width), (2, stride))
                for got in (f(x), jax.jit(f)(x)):
                    np.testing.assert_array_equal(np.asarray(got), want)


def pooled(x, function, init):
    return lax.reduce_window(x, np.float32(init), function, (2,), (2,))


@pytest.mark.parametrize("run", (lambda f: f, jax.jit), ids=("eager", "jit"))
def test_nan_and_infinities(run):
    x = np.array([NAN, 1, 2, NAN, -INF, -INF, INF, INF, -0.0, -0.0], np.float32)
    f = run(lambda v: (pooled(v, lax.max, -INF), pooled(v, lax.min, INF), pooled(v, lax.add, 0)))
    largest, smallest, total = map(np.asarray, f(x))
    np.testing.assert_array_equal(largest, [NAN, NAN, -INF, INF, 0])
    np.testing.assert_array_equal(smallest, [NAN, NAN, -INF, INF, 0])
    np.testing.assert_array_equal(total, [NAN, NAN, -INF, INF, 0])
    assert not np.signbit(total[-1])


@pytest.mark.parametrize("run", (lambda f: f, jax.jit), ids=("eager", "jit"))
def test_the_chosen_element(run):
    """The first of several; not NaN if something follows it; the first of a window of -inf, though its tangent is 0."""
    x = np.array([3, 3, NAN, 1, 1, NAN, -INF, -INF, 2, 5], np.float32)
    t = np.arange(1, 11, dtype=np.float32)
    f = lambda v: pooled(v, lax.max, -INF)
    _, tangent = run(lambda x, t: jvp(f, (x,), (t,)))(x, t)
    np.testing.assert_array_equal(np.asarray(tangent), [1, 4, 6, 0, 10])
    ct = run(lambda x, c: vjp(f, x)[1](c)[0])(x, t[:5])
    np.testing.assert_array_equal(np.asarray(ct), [1, 0, 0, 2, 0, 3, 4, 0, 0, 5])


def test_overlapping_and_padded_gradients():
    x = np.array([[4, 1, 7, 2, 9], [3, 8, 5, 6, 0]], np.float32)
    f = lambda v: lax.reduce_window(v, -INF, lax.max, (2, 3), (1, 1), "SAME")
    want = np.zeros_like(x)
    padded = np.pad(x, ((0, 1), (1, 1)), constant_values=-INF)
    for i, j in np.ndindex(2, 5):
        window = padded[i : i + 2, j : j + 3]
        a, b = np.unravel_index(window.argmax(), window.shape)
        want[i + a, j + b - 1] += 1
    for run in (lambda f: f, jax.jit):
        np.testing.assert_array_equal(np.asarray(run(grad(lambda v: f(v).sum()))(x)), want)
        got = run(vmap(grad(lambda v: f(v).sum())))(np.stack([x, x[:, ::-1]]))
        np.testing.assert_array_equal(np.asarray(got[0]), want)


def test_second_derivatives():
    """Of a square of maxima: the chosen elements carry 2."""
    x = np.array([1, 3, 2, 5], np.float32)
    hessian = jax.hessian(lambda v: (pooled(v, lax.max, -INF) ** 2).sum())(x)
    np.testing.assert_array_equal(np.asarray(hessian), np.diag([0, 2, 0, 2]))


def test_sums_of_padding_and_holes():
    x = np.arange(1, 4, dtype=np.float32)
    f = lambda v: lax.reduce_window(v, 0.0, lax.add, (3,), (1,), [(2, -1)], (2,), (1,))
    np.testing.assert_array_equal(np.asarray(f(x)), [1, 1, 3, 2])
    np.testing.assert_array_equal(np.asarray(grad(lambda v: f(v).sum())(x)), [3, 2, 0])


@pytest.mark.parametrize("run", (lambda f: f, jax.jit), ids=("eager", "jit"))
def test_any_function(run):
    """Products, sums from another start, functions of Python, and pairs."""
    x = np.array([[3, 1, 4, 1, 5]], np.float32)
    f = run(lambda v: lax.reduce_window(v, np.float32(1), lax.mul, (1, 2), (1, 2), "SAME"))
    np.testing.assert_array_equal(np.asarray(f(x)), [[3, 4, 5]])
    f = run(lambda v: lax.reduce_window(v, np.float32(10), lax.add, (1, 2), (1, 2), "SAME"))
    np.testing.assert_array_equal(np.asarray(f(x)), [[14, 15, 15]])
    f = run(lambda v: lax.reduce_window(v, np.float32(0), lambda a, b: a + b + a * b, (1, 2)))
    np.testing.assert_array_equal(np.asarray(f(x)), [[7, 9, 9, 11]])

    def first_largest(a, b):
        keep = a[0] >= b[0]
        return jnp.where(keep, a[0], b[0]), jnp.where(keep, a[1], b[1])

    places = np.arange(5, dtype=np.int32)[None]
    both = run(lambda v: lax.reduce_window((v, places), (np.float32(-INF), np.int32(-1)), first_largest, (1, 3)))
    largest, where = map(np.asarray, both(x))
    np.testing.assert_array_equal(largest, [[4, 4, 5]])
    np.testing.assert_array_equal(where, [[2, 2, 4]])


SUM = lambda *args, **kwargs: lax.reduce_window(X, 0.0, lax.add, *args, **kwargs)
CALLS = {  # words of the error, and a call that raises it
    "wrong number of window_dimensions for operand: got operand shape (2, 3, 8) with window_dimensions (1, 2).": (
        lambda: SUM((1, 2))
    ),
    "window_dimensions must have every element be strictly positive, got (1, 1, 0).": lambda: SUM((1, 1, 0)),
    "must have every element be an integer type, got (<class 'int'>, <class 'int'>, <class 'float'>).": (
        lambda: SUM((1, 1, 2.0))
    ),
    "got window_strides (1, 1) and window_dimensions (1, 1, 2).": lambda: SUM((1, 1, 2), (1, 1)),
    "window_strides must have every element be strictly positive, got (1, 1, 0).": lambda: SUM((1, 1, 2), (1, 1, 0)),
    "All dilations must be positive, got (0, 1, 1).": lambda: SUM((1, 1, 2), (1, 1, 1), [(0, 0)] * 3, (0, 1, 1)),
    "Unrecognized padding type": lambda: SUM((1, 1, 2), (1, 1, 2), "BAR"),
    "operand to reduce_window_sum must have a number dtype, got bool": lambda: lax.reduce_window(
        X > 0, False, lax.add, (1, 1, 2)
    ),
    "got operand dtypes [dtype('float32')] and init_value dtypes [dtype('int32')].": lambda: lax.reduce_window(
        X, 0, lax.mul, (1, 1, 2)
    ),
    "expected init_values to be scalars but init_values have shapes [(1,)].": lambda: lax.reduce_window(
        X, jnp.zeros(1), lax.add, (1, 1, 2)
    ),
    "VJP not implemented for select_and_gather (MaxPool) with window dilation, got window_dilation=(1, 1, 2).": (
        lambda: grad(lambda v: lax.reduce_window(v, -INF, lax.max, (1, 1, 2), window_dilation=(1, 1, 2)).sum())(X)
    ),
}


@pytest.mark.parametrize("words", CALLS)
def test_errors(words):
    with pytest.raises((TypeError, ValueError, RuntimeError, NotImplementedError), match=re.escape(words)):
        CALLS[words]()


def test_symbolic_batch():
    """Pools and their gradients over a batch of unknown size, as programs and as a model."""
    (b,) = jax.export.symbolic_shape("b")
    largest = lambda x: lax.reduce_window(x, -INF, lax.max, (1, 3), (1, 2), "SAME")
    mean = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 2)) / 2
    spec = jax.ShapeDtypeStruct((b, 8), np.float32)
    assert jax.eval_shape(largest, spec).shape == (b, 4)
    both = lambda x: (largest(x), mean(x), *(grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in (largest, mean)))
    exported = jax.export.export(jax.jit(both))(spec)
    rng = np.random.default_rng(8)
    for size in (1, 3):
        x = rng.standard_normal((size, 8)).astype(np.float32)
        for got, want in zip(exported.call(x), both(x)):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


@pytest.mark.parametrize(
    "shape, window, strides, is_repeated",
    [
        ((4, 6), (2, 3), (2, 3), True),
        ((5, 6), (2, 3), (2, 3), False),  # the last row is in no window
        ((4, 6), (2, 3), (2, 1), False),
        ((4, 6), (1, 6), (1, 6), True),
        ((0, 6), (2, 3), (2, 3), True),
    ],
)
def test_cotangents_of_windows_side_by_side_are_repeated(shape, window, strides, is_repeated):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    total, backward = vjp(lambda x: lax.reduce_window(x, 0.0, lax.add, window, strides, "VALID"), x)
    ct = np.arange(total.size, dtype=np.float32).reshape(total.shape)
    want = np.zeros(shape, np.float32)
    for i, j in np.ndindex(*ct.shape):
        rows, columns = (slice(k * s, k * s + w) for k, s, w in zip((i, j), strides, window))
        want[rows, columns] += ct[i, j]
    np.testing.assert_array_equal(backward(ct)[0], want)
    assert ("reduce_window_sum" not in str(jax.make_jaxpr(backward)(ct))) == is_repeated
