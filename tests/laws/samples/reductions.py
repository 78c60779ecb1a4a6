"""Reductions over one axis and several, in every dtype they accept."""

import numpy as np

from laws.sampling import ALL, BOOL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

SHAPES = (((2, 3), (0,)), ((2, 3), (0, 1)), ((2, 3), ()), ((5, 2), (0,)), ((2, 3, 4), (0, 2)), ((2, 0), (0,)), ((), ()))
NOTHING = ((0, 2), (0,))  # what a reduction of no elements gives


def extrema():
    """reduce_max and reduce_min: exact; complex numbers jump."""
    for p in (lax.reduce_max_p, lax.reduce_min_p):
        for dtype in ALL:
            for shape, axes in SHAPES:
                x = numbers(p.name, shape, dtype)
                yield Sample(p, (x,), {"axes": axes}, exact=True, differentiable=() if dtype in COMPLEXES else None)
        for dtype in INTEGERS + FLOATS + BOOL:
            yield Sample(p, (np.zeros((0, 2), dtype),), {"axes": (0,)}, exact=True, differentiable=())


def products():
    """reduce_prod: as many roundings as factors, of the product's size."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, axes in (*SHAPES, NOTHING):
            x = numbers("reduce_prod", shape, dtype)
            terms = int(np.prod([shape[a] for a in axes], dtype=int))
            size = (2 * terms, lambda x, axes=axes: np.prod(np.abs(x.astype(np.complex128)), axis=axes))
            yield Sample(lax.reduce_prod_p, (x,), {"axes": axes}, sums=size)


def logical():
    """reduce_and, reduce_or, reduce_xor."""
    for p in (lax.reduce_and_p, lax.reduce_or_p, lax.reduce_xor_p):
        for dtype in INTEGERS + BOOL:
            for shape, axes in (*SHAPES, NOTHING):
                yield Sample(p, (numbers(p.name, shape, dtype),), {"axes": axes})


def places():
    """argmax and argmin, with ties."""
    for p in (lax.argmax_p, lax.argmin_p):
        for dtype in INTEGERS + FLOATS + BOOL:
            for axis in (0, 1):
                for index_dtype in (np.dtype("int32"), np.dtype("uint8")):
                    params = {"axes": (axis,), "index_dtype": index_dtype}
                    yield Sample(p, (numbers(p.name, (4, 3), dtype),), params, differentiable=())
            params = {"axes": (0,), "index_dtype": np.dtype("int32")}
            yield Sample(p, (numbers(p.name, (2, 0), dtype),), params, differentiable=())


SAMPLES = [*extrema(), *products(), *logical(), *places()]
