"""Slices, dynamic slices and updates, concatenations, pads and splits in every dtype; edges in float32."""

import numpy as np

from laws.sampling import ALL, COMPLEXES, FLOATS, Sample, numbers
from onax import lax
from onax._prims.slicing import dim_as_value_p

F32 = np.dtype("float32")
INEXACT = FLOATS + COMPLEXES

SLICES = (  # shape, start, limit, strides
    ((4, 5), (1, 0), (3, 4), None),
    ((4, 5), (0, 1), (4, 5), (2, 3)),
    ((4, 5), (2, 2), (2, 5), None),
    ((7,), (1,), (6,), (4,)),
    ((), (), (), None),
    ((0, 3), (0, 1), (0, 2), (1, 1)),
)
WINDOWS = (  # shape, indices, sizes
    ((4, 5), (1, 2), (2, 3)),
    ((4, 5), (3, 4), (2, 3)),  # clamped
    ((4, 5), (-2, 0), (1, 5)),  # clamped below
    ((6,), (2,), (0,)),
    ((0, 3), (0, 1), (0, 2)),
    ((), (), ()),
)
PADS = (  # shape, padding_config
    ((2, 3), ((1, 2, 0), (0, 0, 0))),
    ((2, 3), ((1, 0, 2), (0, 1, 1))),
    ((4, 5), ((-1, -2, 0), (2, -1, 0))),
    ((4, 5), ((-1, 1, 1), (-2, -3, 2))),
    ((3,), ((-2, 0, 1),)),
    ((0, 2), ((1, 1, 3), (0, 0, 0))),
    ((3,), ((4, -6, 0),)),
    ((), ()),
)
JOINS = ((((2, 3), (1, 3)), 0), (((2, 3), (2, 0), (2, 2)), 1), (((3,),), 0))
SPLITS = (((4, 5), (2, 3), 1), ((4, 5), (0, 4), 0), ((3,), (1, 2), 0), ((0, 4), (1, 3), 1))


def slices():
    """Every dtype on the first shape, every shape in float32."""
    for dtype, (shape, start, limit, strides) in _grid(SLICES):
        params = {"start_indices": start, "limit_indices": limit, "strides": strides}
        yield Sample(lax.slice_p, (numbers("slice", shape, dtype),), params)


def windows():
    """dynamic_slice and dynamic_update_slice at places within and without."""
    for dtype, (shape, at, sizes) in _grid(WINDOWS):
        x = numbers("dynamic_slice", shape, dtype)
        indices = [np.int32(i) for i in at]
        inexact = dtype in INEXACT
        yield Sample(
            lax.dynamic_slice_p,
            (x, *indices),
            {"slice_sizes": sizes},
            linear=((0,),) if inexact else (),
        )
        update = numbers("update", sizes, dtype)
        yield Sample(lax.dynamic_update_slice_p, (x, update, *indices), linear=((0, 1),) if inexact else ())
    for kind in (np.int8, np.uint8, np.int64):
        x = numbers("dynamic_slice", (4, 5), F32)
        yield Sample(lax.dynamic_slice_p, (x, kind(1), kind(2)), {"slice_sizes": (2, 2)}, linear=((0,),))


def pads():
    """Positive, negative and interior padding."""
    for dtype, (shape, config) in _grid(PADS):
        operands = numbers("pad", shape, dtype), numbers("value", (), dtype)
        yield Sample(lax.pad_p, operands, {"padding_config": config})


def joins():
    """Two operands, three with an empty one, one."""
    for dtype, (shapes, axis) in _grid(JOINS):
        operands = [numbers(f"join{i}", shape, dtype) for i, shape in enumerate(shapes)]
        yield Sample(lax.concatenate_p, operands, {"dimension": axis})


def splits():
    """Two parts each, an empty one among them."""
    for dtype, (shape, sizes, axis) in _grid(SPLITS):
        yield Sample(lax.split_p, (numbers("split", shape, dtype),), {"sizes": sizes, "axis": axis})


def _grid(cases):
    yield from ((dtype, cases[0]) for dtype in ALL)
    yield from ((F32, case) for case in cases[1:])


SAMPLES = [
    *slices(),
    *windows(),
    *pads(),
    *joins(),
    *splits(),
    Sample(dim_as_value_p, (), {"dim": 3}),
]
