"""Running reductions along an axis, both ways."""

import numpy as np

from laws.sampling import BFLOAT16, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

SHAPES = (((5,), 0), ((2, 6), 1), ((4, 3), 0), ((2, 7, 2), 1), ((1,), 0), ((0, 2), 0))
NARROW = (np.dtype("float16"), BFLOAT16)


def _params():
    for shape, axis in SHAPES:
        for reverse in (False, True):
            yield shape, {"axis": axis, "reverse": reverse}


def _running(x, ufunc, axis, reverse):
    wide = np.abs(x.astype(np.complex128))
    return np.flip(ufunc.accumulate(np.flip(wide, axis), axis), axis) if reverse else ufunc.accumulate(wide, axis)


def _slots(shape, axis, dtype):
    """Roundings allowed: one a term, and twice as many where JAX itself rounds every partial result."""
    return shape[axis] * (2 if dtype in NARROW else 1)


def sums():
    """cumsum: as many roundings as terms."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, params in _params():
            x = numbers("cumsum", shape, dtype)
            size = (_slots(shape, params["axis"], dtype), lambda x, params=params: _running(x, np.add, **params))
            yield Sample(lax.cumsum_p, (x,), params, sums=size)


def products():
    """cumprod: as many roundings as factors."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, params in _params():
            x = numbers("cumprod", shape, dtype, 0.5, 1.5)
            terms = 2 * _slots(shape, params["axis"], dtype)
            size = (terms, lambda x, params=params: _running(x, np.multiply, **params))
            yield Sample(lax.cumprod_p, (x,), params, sums=size)


def extrema():
    """cummax and cummin: exact; complex numbers jump."""
    for p in (lax.cummax_p, lax.cummin_p):
        for dtype in INTEGERS + FLOATS + COMPLEXES:
            for shape, params in _params():
                x = numbers(p.name, shape, dtype)
                yield Sample(p, (x,), params, exact=True, differentiable=() if dtype in COMPLEXES else None)
    x = np.array([[1, np.nan, 2], [np.inf, -np.inf, np.nan]], np.float32)
    for p in (lax.cummax_p, lax.cummin_p):
        for dtype in FLOATS:
            yield Sample(p, (x.astype(dtype),), {"axis": 1, "reverse": False}, exact=True, differentiable=())


def logarithms():
    """cumlogsumexp: a chain of logarithms, each within an ulp of the largest partial result."""
    for dtype in FLOATS + COMPLEXES:
        for shape, params in _params():
            x = numbers("cumlogsumexp", shape, dtype)
            size = (2 * _slots(shape, params["axis"], dtype), lambda x: np.full(x.shape, 4.0))
            yield Sample(lax.cumlogsumexp_p, (x,), params, sums=size)
    edges = np.array([-np.inf, -np.inf, 1, 80, np.inf, np.nan, 1], np.float32)
    yield Sample(lax.cumlogsumexp_p, (edges,), {"axis": 0, "reverse": False}, differentiable=())
    yield Sample(lax.cumlogsumexp_p, (edges,), {"axis": 0, "reverse": True}, differentiable=())


SAMPLES = [*sums(), *products(), *extrema(), *logarithms()]
