"""Shapes on tapes give the bits that the kernels give, for every dtype."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp
from onax._ground.dtypes import ALL_DTYPES
from tape.harness import check_bits, run_tape, tape_of

DTYPES = sorted(ALL_DTYPES, key=str)


def _array(shape, dtype, seed=0):
    """Bits of all kinds, NaN among them; bools are 0 and 1."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.itemsize == 1 and dtype.name[-1] in "124" and "int" in dtype.name:
        return rng.integers(0, 2, shape).astype(dtype)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)


FUNCTIONS = [
    lambda x: lax.transpose(x, (2, 0, 1)),
    lambda x: lax.transpose(x, (0, 2, 1)),
    lambda x: lax.reshape(x, (x.shape[0] * x.shape[1], x.shape[2])),
    lambda x: lax.reshape(x, (x.size,), (1, 0, 2)),
    lambda x: lax.rev(x, (0, 2)),
    lambda x: lax.rev(x, (1,)),
    lambda x: lax.broadcast_in_dim(x, (2, *x.shape), (1, 2, 3)),
    lambda x: lax.broadcast_in_dim(x, (*x.shape, 3), (0, 1, 2)),
    lambda x: lax.expand_dims(x, (0, 2)),
    lambda x: lax.squeeze(lax.expand_dims(x, (1,)), (1,)),
    lambda x: lax.copy_p.bind(x),
]
SHAPES = [(3, 4, 5), (1, 4, 1), (0, 2, 3), (17, 33, 2)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    for shape in SHAPES:
        x = _array(shape, dtype)
        for fn in FUNCTIONS:
            check_bits(fn, x)


@pytest.mark.parametrize("level", ["1", "3", "4"])
def test_transpositions_by_squares(level, monkeypatch):
    monkeypatch.setenv("ONAX_CPU_LEVEL", level)
    for dtype in map(np.dtype, ("int8", "float16", "float32", "float64", "complex128")):
        for shape in ((200, 150), (81, 80), (16, 200), (15, 77), (3, 70, 65)):
            x = _array(shape, dtype)
            check_bits(lambda x: x.T, x)
            check_bits(lambda x: lax.slice_in_dim(x, 1, None, axis=x.ndim - 1).T, x)  # lines begin elsewhere


def test_scalars():
    for fn in (lambda x: lax.transpose(x, ()), lambda x: lax.broadcast(x, (3, 2)), lambda x: lax.reshape(x, (1, 1))):
        check_bits(fn, np.float32(-0.0))


def test_stretched_axes():
    check_bits(lambda x: lax.broadcast_in_dim(x, (5, 3, 4), (0, 2)), _array((1, 4), np.dtype(np.int16)))


def test_keys_are_moved_whole():
    keys = jax.random.split(jax.random.key(7), 6)

    def fn(keys):
        moved = lax.rev(lax.transpose(lax.reshape(keys, (2, 3)), (1, 0)), (0,))
        return jax.random.key_data(lax.broadcast(moved, (2,)))

    got = run_tape(fn, keys)[0]
    np.testing.assert_array_equal(got, fn(keys))


NAMES = "int8 uint8 int16 uint16 int32 uint32 float16 bfloat16 float32 complex64".split()
NUMBERS = [np.dtype(getattr(jnp, name)) for name in NAMES]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_iota(dtype):
    for shape, axis in (((70_000,), 0), ((300, 7), 0), ((7, 300), 1), ((3, 500, 2), 1), ((2, 0), 0)):
        check_bits(lambda: lax.broadcasted_iota(dtype, shape, axis))  # noqa: B023  called at once


def test_what_keeps_the_order_of_elements_shares_memory():
    def fn(x):
        return lax.transpose(lax.reshape(lax.squeeze(lax.expand_dims(x, (0,)), (0,)), (1, 4, 1, 6)), (1, 0, 3, 2))

    x = np.ones((6, 4), np.float32)
    tape, operands, _ = tape_of(fn, x)
    assert tape.memory < 1024
    np.testing.assert_array_equal(tape(operands)[0], fn(x))
