"""Sorting against NumPy: axes, NaN at the end, stability, complex numbers; partitions."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, (4, 6)).astype(np.float64)
X[1, 2] = np.nan
X[0, 0] = -np.inf
I = RNG.integers(-3, 3, (3, 7)).astype(np.int8)
Z = RNG.integers(0, 3, 8) + 1j * RNG.integers(0, 3, 8)
CALLS = [
    *[call("sort", x, axis=axis) for x in (X, I) for axis in (0, -1, None)], call("sort", Z), call("sort", X > 1),
    call("sort", X[:0]),
    *[call("argsort", x, axis=axis, stable=True) for x in (X, I) for axis in (0, -1, None)],
    call("lexsort", np.stack([I[0], I[1]])), call(lambda xp, a, b: xp.lexsort((a, b)), I, I[::-1]),
    call("lexsort", I, axis=0),
    call("sort_complex", Z), call("sort_complex", I[0], dtypes=False),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_falling_order_keeps_equal_elements_in_place():
    assert jnp.sort(I, descending=True).tolist() == np.sort(I)[:, ::-1].tolist()
    assert jnp.argsort(np.array([1, 2, 1, 2]), descending=True).tolist() == [1, 3, 0, 2]
    assert jnp.argsort(I, dtype=np.int8).dtype == np.int8


@pytest.mark.parametrize("kth", [0, 3, -1])
@pytest.mark.parametrize("axis", [0, -1])
def test_partitions(kth, axis):
    kth = min(kth, 2) if axis == 0 else kth
    for run in (jnp.partition, jax.jit(jnp.partition, static_argnums=(1, 2))):
        x = np.moveaxis(np.asarray(run(I, kth, axis)), axis, -1)
        want = np.sort(np.moveaxis(I, axis, -1))
        np.testing.assert_array_equal(x[..., kth], want[..., kth])
        k = kth % x.shape[-1]
        assert (x[..., :k] <= x[..., [k]]).all() and (x[..., k:] >= x[..., [k]]).all()
        np.testing.assert_array_equal(np.sort(x), want)
    order = np.moveaxis(np.asarray(jnp.argpartition(I, kth, axis)), axis, -1)
    np.testing.assert_array_equal(np.take_along_axis(np.moveaxis(I, axis, -1), order, -1)[..., kth], want[..., kth])
    np.testing.assert_array_equal(np.sort(order), np.broadcast_to(np.arange(want.shape[-1]), want.shape))


def test_slopes():
    x = jnp.array([3.0, 1.0, 2.0])
    assert jax.jit(jax.grad(lambda x: jnp.sort(x) @ jnp.arange(3.0)))(x).tolist() == [2, 0, 1]


REFUSED = [
    (lambda: jnp.sort(X, axis=2), ValueError, "out of bounds"),
    (lambda: jnp.argsort(X, kind="stable"), TypeError, "kind"),
    (lambda: jnp.sort(X, order="name"), (ValueError, TypeError), "order"),
    (lambda: jnp.lexsort(()), TypeError, "sequence|empty|need"),
    (lambda: jnp.partition(I, 7), ValueError, "kth|out of bounds"),
    (lambda: jnp.sort([1]), TypeError, "requires ndarray"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
