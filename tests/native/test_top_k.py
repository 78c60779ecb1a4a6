"""The largest numbers of rows: the order of every kind of number, of any size, on several threads as on one."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._native import top_k

DTYPES = sorted(top_k.TYPES, key=str)


def wanted(x, k):
    """Values and places by a stable sort of the bits in their total order."""
    bits = x.view(np.int32)
    order = {"f": np.where(bits < 0, bits ^ 0x7FFFFFFF, bits), "i": bits, "u": x}[x.dtype.kind]
    places = np.argsort(-order.astype(np.int64), -1, kind="stable")[..., :k]
    return np.take_along_axis(x, places, -1), places.astype(np.int32)


def same(got, want):
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.ascontiguousarray(w)
        assert g.dtype == w.dtype and g.shape == w.shape and g.tobytes() == w.tobytes()


def numbers(rng, shape, dtype, kind):
    """Any bits, few values, those in order, or each the same."""
    x = rng.integers(0, 2**32, shape, np.uint32)
    x = {"any": x, "few": x % 5, "upward": x, "same": x * 0}[kind].view(dtype)
    return np.sort(x, -1) if kind == "upward" else x


@pytest.mark.parametrize("kind", ("any", "few", "upward", "same"))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_orders(dtype, kind):
    rng = np.random.default_rng(0)
    for n in (1, 2, 127, 128, 129, 700, 5000):
        for k in {0, 1, 2, 16, 17, 100, n // 3, n - 1, n}:
            if k <= n:
                x = numbers(rng, (3, n), dtype, kind)
                same(top_k.top_k(x, k), wanted(x, k))
                if n < 700:
                    same(top_k.top_k(x, k, has_room=False), wanted(x, k))


@pytest.mark.parametrize(
    "shape, k", [((300_001,), 100), ((3, 270_000), 9000), ((40, 5000), 30), ((2, 5, 70), 70), ((0, 9), 2)]
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nodes_use_threads(shape, k, dtype):
    x = numbers(np.random.default_rng(1), shape, dtype, "any")
    same(jax.jit(lambda x: lax.top_k(x, k))(x), wanted(x, k))
    same(lax.top_k(x, k), wanted(x, k))


def test_other_axes_and_types():
    x = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    for y, axis in ((x, 0), (x.astype(np.float16), 1), (x[:, ::2], 1), (x.T, 1)):
        want = wanted(np.moveaxis(y, axis, -1).astype(np.float32), 3)
        for function in (lax.top_k, jax.jit(lax.top_k, static_argnums=1, static_argnames="axis")):
            values, places = function(y, 3, axis=axis)
            same([np.moveaxis(np.asarray(places), axis, -1)], [want[1]])
            np.testing.assert_array_equal(np.moveaxis(np.asarray(values), axis, -1), want[0])
