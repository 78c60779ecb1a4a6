"""Gathers and scatters: dtypes on one plain layout; layouts, modes and index types in float32."""

import numpy as np

from laws.sampling import ALL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax
from onax._prims.indexing import _combiner

F32 = np.dtype("float32")
INEXACT = FLOATS + COMPLEXES
CLIP, FILL, SURE = (getattr(lax.GatherScatterMode, m) for m in ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"))

# operand shape, indices, (window dims, point axes, index map, batching, index batching), slice sizes
LAYOUTS = (
    ((4, 5), [[1], [3], [1]], ((1,), (0,), (0,), (), ()), (1, 5)),  # rows
    ((4, 5), [[2], [0]], ((0,), (1,), (1,), (), ()), (4, 1)),  # columns
    ((4, 5), [[1, 2], [3, 4]], ((), (0, 1), (0, 1), (), ()), (1, 1)),  # points
    ((4, 5), [1], ((0,), (0,), (0,), (), ()), (1, 5)),  # one row
    ((4, 5), [1, 2], ((0, 1), (), (0, 1), (), ()), (2, 3)),  # one window
    ((6,), [[1], [4], [3]], ((1,), (), (0,), (), ()), (2,)),  # windows that overlap
    ((3, 4, 5), [[[1, 0]], [[2, 1]]], ((0, 2), (2,), (2, 0), (), ()), (2, 4, 1)),  # index map out of order
    ((3, 4), [[[1], [2]], [[0], [3]], [[2], [2]]], ((), (1,), (1,), (0,), (0,)), (1, 1)),  # batching
    ((3, 4, 2), [[[1], [0], [2]]], ((2,), (1,), (1,), (0,), (1,)), (1, 1, 2)),  # batching along another axis
    ((2, 3), [[], []], ((1, 2), (), (), (), ()), (2, 3)),  # nothing to index
    ((), [[], []], ((), (), (), (), ()), ()),  # rank 0
    ((4, 5), np.zeros((0, 1), int), ((1,), (0,), (0,), (), ()), (1, 5)),  # no windows
)
OUTSIDE = ((4, 5), [[-1], [9], [2], [3]], ((1,), (0,), (0,), (), ()), (1, 5))
PARTLY = ((6,), [[5], [-1], [2]], ((1,), (), (0,), (), ()), (2,))


def gathers():
    """Linear in the operand."""
    for dtype in ALL:
        yield _gather(dtype, *LAYOUTS[0], SURE)
        yield _gather(dtype, *OUTSIDE, FILL)
    for layout in LAYOUTS[1:]:
        for mode in (CLIP, FILL, SURE):
            yield _gather(F32, *layout, mode)
    for layout in (OUTSIDE, PARTLY):
        yield _gather(F32, *layout, CLIP)
        yield _gather(F32, *layout, FILL)
    for kind in INTEGERS:
        yield _gather(F32, *LAYOUTS[2], CLIP, kind)


def _gather(dtype, shape, indices, numbers_, sizes, mode, kind=np.dtype("int32")):
    # The default fill, NaN, is no linear function: gradients are checked with a fill of 0.
    params = {
        "dimension_numbers": lax.GatherDimensionNumbers(*numbers_),
        "slice_sizes": sizes,
        "unique_indices": False,
        "indices_are_sorted": False,
        "mode": mode,
        "fill_value": 0 if mode is FILL else None,
    }
    operands = numbers("gather", shape, dtype), np.asarray(indices, kind)
    return Sample(lax.gather_p, operands, params, linear=((0,),) if dtype in INEXACT else ())


#            primitive, combining primitive, linear groups, differentiable (unique indices), (otherwise)
SCATTERS = (
    (lax.scatter_p, None, ((0, 2),), (0, 2), (0, 2)),
    (lax.scatter_add_p, lax.add_p, ((0, 2),), (0, 2), (0, 2)),
    (lax.scatter_sub_p, lax.sub_p, ((0, 2),), (0, 2), (0, 2)),
    (lax.scatter_mul_p, lax.mul_p, ((0,),), (0, 2), (0,)),
    (lax.scatter_min_p, lax.min_p, (), (0, 2), (0, 2)),
    (lax.scatter_max_p, lax.max_p, (), (0, 2), (0, 2)),
)
UNIQUE = ((4, 5), [[1], [3], [0]], ((1,), (0,), (0,), (), ()), (1, 5))


def scatters():
    """Each way to combine; unique and repeated indices; windows in and out of bounds."""
    for row in SCATTERS:
        for dtype in ALL:
            if dtype.kind == "b" and row[1] not in (None, lax.min_p, lax.max_p):
                continue
            yield _scatter(row, dtype, *UNIQUE, FILL, unique=True)
        for layout in LAYOUTS:
            yield _scatter(row, F32, *layout, FILL)
        for layout in (OUTSIDE, PARTLY):
            for mode in (CLIP, FILL):
                yield _scatter(row, F32, *layout, mode)


def _scatter(row, dtype, shape, indices, numbers_, sizes, mode, unique=False):
    p, combine, linear, differentiable, repeated = row
    layout = lax.ScatterDimensionNumbers(*numbers_)
    indices = np.asarray(indices, np.int32)
    dropped = (*layout.inserted_window_dims, *layout.operand_batching_dims)
    windows = iter([n for a, n in enumerate(sizes) if a not in dropped])
    batch = iter(indices.shape[:-1])
    rank = indices.ndim - 1 + len(layout.update_window_dims)
    updates = tuple(next(windows) if o in layout.update_window_dims else next(batch) for o in range(rank))
    params = {
        "dimension_numbers": layout,
        "indices_are_sorted": False,
        "unique_indices": unique,
        "mode": mode,
        "update_jaxpr": None if combine is None else _combiner(combine, dtype),
        "update_consts": (),
    }
    operands = numbers(p.name, shape, dtype), indices, numbers(p.name + " updates", updates, dtype)
    smooth = dtype in INEXACT and not (dtype in COMPLEXES and combine in (lax.min_p, lax.max_p))
    if combine is None and not unique:
        linear = ()
    return Sample(
        p,
        operands,
        params,
        differentiable=(differentiable if unique else repeated) if smooth else (),
        linear=linear if smooth else (),
    )


SAMPLES = [*gathers(), *scatters()]
