"""Movement of data in every dtype; reduce_sum and iota."""

import numpy as np

from laws.sampling import ALL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

#        primitive, shape of the operand, parameters
MOVES = (
    (lax.broadcast_in_dim_p, (2, 3), {"shape": (4, 2, 3), "broadcast_dimensions": (1, 2), "sharding": None}),
    (lax.broadcast_in_dim_p, (1, 3), {"shape": (4, 2, 3), "broadcast_dimensions": (0, 2), "sharding": None}),
    (lax.broadcast_in_dim_p, (), {"shape": (2, 0), "broadcast_dimensions": (), "sharding": None}),
    (lax.broadcast_in_dim_p, (), {"shape": (2, 2), "broadcast_dimensions": (), "sharding": None}),
    (lax.reshape_p, (2, 3), {"new_sizes": (3, 2), "dimensions": None, "sharding": None}),
    (lax.reshape_p, (2, 3, 4), {"new_sizes": (4, 6), "dimensions": (2, 0, 1), "sharding": None}),
    (lax.reshape_p, (), {"new_sizes": (1, 1), "dimensions": None, "sharding": None}),
    (lax.transpose_p, (2, 3, 4), {"permutation": (1, 2, 0)}),
    (lax.squeeze_p, (1, 3, 1), {"dimensions": (0, 2)}),
    (lax.rev_p, (2, 3), {"dimensions": (1,)}),
    (lax.rev_p, (2, 3), {"dimensions": ()}),
    (lax.copy_p, (2, 3), {}),
)


def moves():
    """Each movement in each dtype."""
    for p, shape, params in MOVES:
        for dtype in ALL:
            yield Sample(p, (numbers(p.name, shape, dtype),), params)


def sums():
    """reduce_sum over one axis, all, none, and an empty one."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, axes in (((2, 3), (0,)), ((2, 3), (0, 1)), ((2, 3), ()), ((2, 0, 3), (1,)), ((4, 2, 3), (0, 2))):
            x = numbers("reduce_sum", shape, dtype)
            terms = int(np.prod([shape[a] for a in axes], dtype=int))
            size = (terms, lambda x, axes=axes: np.sum(np.abs(x.astype(np.complex128)), axis=axes))
            yield Sample(lax.reduce_sum_p, (x,), {"axes": axes, "out_sharding": None}, sums=size)


def iotas():
    """iota of rank 1 and 2."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, dimension in (((5,), 0), ((2, 3), 1)):
            params = {"dtype": dtype, "shape": shape, "dimension": dimension, "sharding": None}
            yield Sample(lax.iota_p, (), params)


SAMPLES = [*moves(), *sums(), *iotas()]
