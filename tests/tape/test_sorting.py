"""Sorting as instructions against the kernels."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from tape.harness import check, check_bits
from tape.values import FLOATS, INTEGERS, NUMBERS, values

BOOL = np.dtype(bool)
SHAPES = [(1,), (2,), (8,), (63,), (64,), (65,), (200,), (5000,), (3, 4), (16, 32), (70, 5), (2, 100, 3), (3, 0)]


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def _few(shape, dtype):
    """Numbers of which many are equal, zeros of both signs among floats."""
    x = np.round(values(shape, np.float32, False) * 1.5)
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [*NUMBERS, BOOL], ids=str)
def test_sort_and_argsort(dtype):
    for shape in SHAPES:
        count = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        for axis in range(len(shape)):
            for x in (values(shape, dtype), _few(shape, dtype)):
                check(lambda x, a=axis: lax.sort(x, a), x)
                check(lambda x, n, a=axis: lax.sort((x, n), a), x, count)


@pytest.mark.parametrize("dtype", [*NUMBERS, BOOL], ids=str)
def test_several_keys(dtype):
    for shape in SHAPES:
        first, third, rest = _few(shape, np.int8), _few(shape, np.complex128), values(shape, np.uint64)
        for axis in range(len(shape)):
            check(lambda *xs, a=axis: lax.sort(xs, a, num_keys=2), first, _few(shape, dtype), rest)
            check(lambda *xs, a=axis: lax.sort(xs, a, num_keys=3), first, _few(shape, dtype), third, rest)


def test_equal_elements_keep_their_order():
    x = np.array([0.0, -0.0, 1, -0.0, 0.0, -np.inf, np.inf] * 10)
    odd = np.where(x == 1, np.nan, np.where(x == np.inf, -np.nan, x))
    for n in (7, 70):
        for dtype in FLOATS:
            check_bits(lambda x: lax.sort(x), x[:n].astype(dtype))
            check(lambda x: jnp.argsort(x), odd[:n].astype(dtype))


def test_keys_of_random_numbers_are_reordered():
    keys = jax.random.split(jax.random.key(0), 70)
    check(lambda x, k: jax.random.key_data(lax.sort((x, k))[1]), values((70,), np.float32), keys)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, BOOL], ids=str)
def test_top_k(dtype):
    for shape in SHAPES:
        for axis, size in enumerate(shape):
            for k in sorted({0, min(1, size), min(3, size), size // 17, size // 2, size}):
                for x in (values(shape, dtype), _few(shape, dtype)):
                    check(lambda x, k=k, a=axis: lax.top_k(x, k, axis=a), x)


def test_top_k_of_long_rows():
    x = values((2, 40_000), np.float32)
    for k in (3, 16, 17, 100, 2000, 4000):
        for operand in (
            x,
            np.sort(x),
            np.nan_to_num(x * 1e6, posinf=1e9, neginf=-1e9).astype(np.int32),
            np.zeros_like(x),
        ):
            check(lambda x, k=k: lax.top_k(x, k), operand)


def test_approx_top_k():
    check(lambda x: lax.approx_max_k(x, 5), values((3, 300), np.float32))
    check(lambda x: lax.approx_min_k(x, 5), values((3, 300), np.float32), python={"approx_top_k"})


def test_many_rows_and_long_ones():
    check(lambda x: lax.sort(x, 1), values((3000, 100), np.float32))
    check(lambda x: lax.sort(x, 0), values((100_000,), np.float32))
    check(lambda x: lax.sort(x, 0), values((300, 1000), np.float64))
