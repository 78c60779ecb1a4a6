"""stack, unstack and tile on tapes give the bits that the kernels give."""

import numpy as np
import pytest

from onax._ground.dtypes import ALL_DTYPES
from onax._prims.stacking import stack, tile, unstack
from tape.harness import check_bits
from tape.test_shaping import _array

FUNCTIONS = [
    lambda x: stack([x, x, x], 0),
    lambda x: stack([x, x], 1),
    lambda x: stack([x, x], 2),
    lambda x: stack([x], 1),
    lambda x: unstack(x, 0),
    lambda x: unstack(x, 1),
    lambda x: tile(x, (2, 3)),
    lambda x: tile(x, (1, 1)),
    lambda x: tile(x, (1, 2)),
    lambda x: tile(x, (0, 2)),
]


@pytest.mark.parametrize("dtype", sorted(ALL_DTYPES, key=str), ids=str)
def test_every_dtype(dtype):
    for shape in ((3, 4), (1, 5), (4, 0)):
        x = _array(shape, dtype)
        for fn in FUNCTIONS:
            check_bits(fn, x)


def test_one_slice():
    check_bits(lambda x: unstack(x, 1), np.arange(4, dtype=np.float32).reshape(4, 1))
