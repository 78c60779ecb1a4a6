"""Reductions as instructions against the kernels."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from tape.harness import check, run_tape
from tape.values import FLOATS, INTEGERS, NUMBERS, values

SHAPES = [(), (1,), (8,), (70,), (16, 32), (33, 5), (2, 3, 4), (5, 1, 9, 2), (2, 3, 4, 5), (0, 3), (600, 3), (3, 40000)]


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def _all_axes(shape):
    return [axes for n in range(len(shape) + 1) for axes in itertools.combinations(range(len(shape)), n)]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("reduction", [lax.reduce_max, lax.reduce_min], ids=lambda f: f.__name__)
def test_extremes(reduction, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        for axes in _all_axes(shape):
            check(lambda x, axes=axes: reduction(x, axes), x)


@pytest.mark.parametrize("dtype", [*INTEGERS, np.dtype(bool)], ids=str)
@pytest.mark.parametrize("reduction", [lax.reduce_and, lax.reduce_or, lax.reduce_xor], ids=lambda f: f.__name__)
def test_bits(reduction, dtype):
    for shape in SHAPES:
        for axes in _all_axes(shape):
            check(lambda x, axes=axes: reduction(x, axes), values(shape, dtype))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("reduction", [lax.reduce_sum, lax.reduce_prod], ids=lambda f: f.__name__)
def test_integers_wrap(reduction, dtype):
    for shape in SHAPES:
        for axes in _all_axes(shape):
            check(lambda x, axes=axes: reduction(x, axes), values(shape, dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.complex64), np.dtype(np.complex128)], ids=str)
def test_sums(dtype):
    """The error is that of the result's rounding, beside a few float64 ones of each term."""
    real = np.zeros((), dtype).real.dtype
    eps = float(jax.numpy.finfo(real).eps)
    for shape in SHAPES:
        x = values(shape, dtype, special=False)
        wide = x.astype(np.clongdouble if dtype.kind == "c" else np.longdouble)
        for axes in _all_axes(shape):
            (got,) = run_tape(lambda x, axes=axes: lax.reduce_sum(x, axes), x)
            exact, size = wide.sum(axis=axes), np.abs(wide).sum(axis=axes)
            assert got.dtype == dtype and got.shape == exact.shape
            assert np.all(np.abs(np.asarray(got).astype(exact.dtype) - exact) <= 4 * eps * size)


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.complex64)], ids=str)
def test_products(dtype):
    for shape in SHAPES[:-1]:
        x = (1 + values(shape, np.float32, special=False) / 64).astype(dtype)
        for axes in _all_axes(shape):
            eps = float(jax.numpy.finfo(dtype).eps)
            check(lambda x, axes=axes: lax.reduce_prod(x, axes), x, rtol=eps * (8 + x.size), atol=eps)


def test_special_values_of_sums():
    x = np.array([[np.inf, 1, np.nan, -np.inf], [1, 2, 3, np.inf]], np.float32)
    for dtype in FLOATS:
        for axes in ((0,), (1,), (0, 1)):
            check(lambda x, axes=axes: lax.reduce_sum(x, axes), x.astype(dtype))


def test_sums_of_nothing():
    for dtype in NUMBERS:
        for reduction in (lax.reduce_sum, lax.reduce_prod, lax.reduce_max, lax.reduce_min):
            check(lambda x, f=reduction: f(x, (1,)), np.zeros((3, 0, 2), dtype))


def test_large_sums_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    for shape, axes in (((4_000_000,), (0,)), ((500_000, 8), (0,)), ((8, 500_000), (1,)), ((2000, 2000), (0,))):
        x = rng.standard_normal(shape).astype(np.float32)
        (got,) = run_tape(lambda x, axes=axes: lax.reduce_sum(x, axes), x)
        wide = x.astype(np.float64)
        assert np.all(np.abs(np.asarray(got) - wide.sum(axis=axes)) <= 1e-6 * np.abs(wide).sum(axis=axes))


@pytest.mark.parametrize("dtype", [d for d in (*NUMBERS, np.dtype(bool)) if d.kind != "c"], ids=str)
@pytest.mark.parametrize("search", [lax.argmax, lax.argmin], ids=lambda f: f.__name__)
def test_places(search, dtype):
    for shape in [(1,), (8,), (300,), (16, 32), (33, 5), (5, 1, 9, 2), (600, 3), (3, 70000), (2, 300, 300), (3, 0)]:
        for axis in [a for a, size in enumerate(shape) if size]:
            for index in (np.int32, np.int8, np.uint16, np.int64):
                check(lambda x, a=axis, i=index: search(x, a, i), values(shape, dtype))
                check(lambda x, a=axis, i=index: search(x, a, i), np.zeros(shape, dtype))


def test_places_of_nan():
    x = np.array([[1, np.nan, 3, np.nan], [np.inf, 2, 9, np.inf]], np.float32)
    for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16):
        for axis in (0, 1):
            check(lambda x, a=axis: (lax.argmax(x, a, np.int32), lax.argmin(x, a, np.int32)), x.astype(dtype))


def test_too_many_axes_fall_to_the_kernel():
    check(lambda x: lax.reduce_sum(x, (0, 16)), np.ones((2,) * 17, np.float32), python={"reduce_sum"})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", [jnp.max, jnp.min])
@pytest.mark.parametrize("n", [5, 8, 19, 64, 70, 333])
def test_a_nan_anywhere_in_a_row_wins(n, reduction, dtype):
    with jax.enable_x64(True):
        x = np.random.default_rng(n).normal(size=(n + 1, n)).astype(dtype)
        x[np.arange(n), np.arange(n)] = np.nan
        x[n, :3] = -np.inf, np.inf, 0
        (got,) = run_tape(lambda v: reduction(v, 1), x)
        got = np.asarray(got._value)
    assert np.isnan(got[:n]).all() and got[n] == (np.inf if reduction is jnp.max else -np.inf)
