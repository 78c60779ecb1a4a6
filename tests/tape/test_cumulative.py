"""Running reductions as instructions against the kernels, which round as JAX does."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from tape.harness import check
from tape.values import FLOATS, NUMBERS, values

SHAPES = [
    (1,),
    (8,),
    (16,),
    (17,),
    (33,),
    (64,),
    (70,),
    (300,),
    (5000,),
    (3, 4),
    (40, 7),
    (7, 40),
    (2, 300, 3),
    (300, 70),
]
EMPTY = [(0,), (0, 3), (3, 0)]


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def _every_way(shape):
    return [(axis, reverse) for axis in range(len(shape)) for reverse in (False, True)]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("running", [lax.cumsum, lax.cummax, lax.cummin], ids=lambda f: f.__name__)
def test_same_bits(running, dtype):
    for shape in SHAPES + EMPTY:
        x = values(shape, dtype)
        for axis, reverse in _every_way(shape):
            check(lambda x, a=axis, r=reverse: running(x, a, r), x)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_products(dtype):
    for shape in SHAPES:
        x = values(shape, dtype) if dtype.kind in "iu" else (1 + values(shape, np.float32, False) / 64).astype(dtype)
        for axis, reverse in _every_way(shape):
            check(lambda x, a=axis, r=reverse: lax.cumprod(x, a, r), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_cumlogsumexp(dtype):
    for shape in SHAPES + EMPTY:
        x = values(shape, dtype)
        for axis, reverse in _every_way(shape):
            eps = 16 * float(jax.numpy.finfo(dtype).eps)
            check(lambda x, a=axis, r=reverse: lax.cumlogsumexp(x, a, r), x, rtol=eps, atol=eps)


def test_cumlogsumexp_of_infinities():
    x = np.array([-np.inf, -np.inf, 1, np.inf, np.inf, -np.inf, 2], np.float32)
    check(lambda x: (lax.cumlogsumexp(x), lax.cumlogsumexp(x, reverse=True)), x)


def test_complex_cumlogsumexp_is_the_kernels():
    check(lambda x: lax.cumlogsumexp(x), values((9,), np.complex64, False), python={"cumlogsumexp"}, rtol=1e-6)
