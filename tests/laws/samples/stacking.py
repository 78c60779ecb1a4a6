"""stack, unstack and tile in every dtype; empty and rank-0 operands in float32."""

import numpy as np

from laws.sampling import ALL, Sample, numbers
from onax import lax

F32 = np.dtype("float32")
STACKS = (((2, 3), 2, 1), ((2, 3), 3, 0), ((), 2, 0), ((0, 2), 2, 2), ((3,), 1, 1))  # shape, how many, axis
UNSTACKS = (((2, 3), 0), ((3, 2), 1), ((2,), 0), ((2, 0, 2), 2), ((0, 2), 1))  # shape, axis: two results each
TILES = (((2, 3), (2, 1)), ((2, 3), (1, 3)), ((), ()), ((2,), (0,)), ((0, 2), (3, 2)))  # shape, reps


def _grid(cases):
    yield from ((dtype, cases[0]) for dtype in ALL)
    yield from ((F32, case) for case in cases[1:])


SAMPLES = [
    *(
        Sample(lax.stack_p, tuple(numbers(f"stack{i}", shape, dtype) for i in range(count)), {"axis": axis})
        for dtype, (shape, count, axis) in _grid(STACKS)
    ),
    *(
        Sample(lax.unstack_p, (numbers("unstack", shape, dtype),), {"axis": axis})
        for dtype, (shape, axis) in _grid(UNSTACKS)
    ),
    *(Sample(lax.tile_p, (numbers("tile", shape, dtype),), {"reps": reps}) for dtype, (shape, reps) in _grid(TILES)),
]
