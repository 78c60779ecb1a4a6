"""Movement of data in every dtype; reduce_sum and iota."""

import numpy as np

from laws.sampling import ALL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

FEW = tuple(map(np.dtype, ("float32", "int8", "uint64", "bool")))

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
EDGES = (  # no elements, rank 0
    (lax.broadcast_in_dim_p, (0, 3), {"shape": (2, 0, 3), "broadcast_dimensions": (1, 2), "sharding": None}),
    (lax.reshape_p, (2, 0, 3), {"new_sizes": (0, 5), "dimensions": None, "sharding": None}),
    (lax.reshape_p, (1, 1), {"new_sizes": (), "dimensions": None, "sharding": None}),
    (lax.transpose_p, (2, 0, 3), {"permutation": (2, 1, 0)}),
    (lax.transpose_p, (), {"permutation": ()}),
    (lax.squeeze_p, (1, 0, 1), {"dimensions": (0, 2)}),
    (lax.squeeze_p, (1, 1), {"dimensions": (0, 1)}),
    (lax.rev_p, (0, 3), {"dimensions": (0, 1)}),
    (lax.copy_p, (0, 3), {}),
    (lax.copy_p, (), {}),
)


def moves():
    """Each movement in each dtype; edges in one of each kind."""
    for cases, dtypes in ((MOVES, ALL), (EDGES, FEW)):
        for p, shape, params in cases:
            for dtype in dtypes:
                yield Sample(p, (numbers(p.name, shape, dtype),), params)


def sums():
    """reduce_sum over one axis, all, none, and an empty one."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, axes in (
            ((2, 3), (0,)),
            ((2, 3), (0, 1)),
            ((2, 3), ()),
            ((2, 0, 3), (1,)),
            ((4, 2, 3), (0, 2)),
            ((), ()),
        ):
            x = numbers("reduce_sum", shape, dtype)
            terms = int(np.prod([shape[a] for a in axes], dtype=int))
            size = (terms, lambda x, axes=axes: np.sum(np.abs(x.astype(np.complex128)), axis=axes))
            yield Sample(lax.reduce_sum_p, (x,), {"axes": axes, "out_sharding": None}, sums=size)


def iotas():
    """iota of rank 1 and 2."""
    for dtype in INTEGERS + FLOATS + COMPLEXES:
        for shape, dimension in (((5,), 0), ((2, 3), 1), ((0, 3), 0)):
            params = {"dtype": dtype, "shape": shape, "dimension": dimension, "sharding": None}
            yield Sample(lax.iota_p, (), params)


SAMPLES = [*moves(), *sums(), *iotas()]
