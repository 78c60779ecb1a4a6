"""stack, unstack and tile on tapes give the bits that the kernels give."""

import numpy as np
import pytest

import onax as jax
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


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "f4", "i8", "c8"])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_single_elements_side_by_side(dtype, count):
    """Two to four sources of 4 or 8 bytes are interleaved; long results are written a part at a time."""
    for n in (5, 64, 100_000):
        xs = [np.arange(i, i + n).astype(dtype) for i in range(count)]
        with jax.enable_x64(True):
            got = jax.jit(lambda *xs: jax.numpy.stack(xs, -1))(*xs)
        assert got.dtype == dtype and np.array_equal(np.asarray(got), np.stack(xs, -1))


@pytest.mark.parametrize("widths", [(1, 2), (3, 1, 7), (40, 1)])
def test_rows_of_several_widths_side_by_side(widths):
    xs = [np.arange(20_000 * w, dtype=np.float32).reshape(20_000, w) for w in widths]
    got = jax.jit(lambda *xs: jax.numpy.concatenate(xs, 1))(*xs)
    assert np.array_equal(np.asarray(got), np.concatenate(xs, 1))
