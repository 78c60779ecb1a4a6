"""Strided copies: what they are asked for, and what is refused."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._native.avals import ShapedArray
from onax._tape.builder import Builder
from onax._tape.copies import MOST_AXES, copied, is_in_order, type_number
from onax._tape.layout import make_tape
from onax._tape.rules import Unsupported


def _run(x, shape, strides, start, indices=()):
    """The elements of a strided place in x, copied by a tape."""
    b = Builder()
    inputs = b.inputs([ShapedArray(a.shape, a.dtype) for a in (x, *[i for i, *_ in indices])])
    out = ShapedArray(shape, x.dtype)
    movements = [(buffer, *rest) for buffer, (_, *rest) in zip(inputs[1:], indices)]
    b.outputs([copied(b, out, inputs[0], shape, strides, start, movements)], [out])
    return make_tape(b)([x, *[i for i, *_ in indices]])[0]


WIDTHS = [np.dtype(f"V{n}") for n in (1, 2, 3, 4, 6, 8, 12, 16, 24)]
VIEWS = [
    lambda x: x,
    lambda x: x.T,
    lambda x: x.transpose(1, 0, 2),
    lambda x: x.transpose(2, 0, 1),
    lambda x: x[::-1, 1:, ::2],
    lambda x: x[..., ::-1],
    lambda x: x[1, 2],
    lambda x: x[:, 3, -1],
    lambda x: x[:0],
    lambda x: np.broadcast_to(x[:, :1], x.shape),
    lambda x: np.broadcast_to(x, (3, *x.shape)),
    lambda x: np.broadcast_to(x[0, 0, 0, None, None], (5, 6)),
]


@pytest.mark.parametrize("dtype", WIDTHS, ids=str)
def test_every_width(dtype):
    rng = np.random.default_rng(0)
    for shape in ((4, 5, 6), (20, 33, 18), (2, 40, 2)):
        x = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
        for view in VIEWS:
            v = view(x)
            start = (v.ctypes.data - x.ctypes.data) // dtype.itemsize if v.size else 0
            got = _run(x, v.shape, [s // dtype.itemsize for s in v.strides], start)
            assert got.tobytes() == v.tobytes(), (shape, v.shape, v.strides)


def test_a_large_copy_is_carried_out_in_parts():
    x = np.arange(3_000_000, dtype=np.float32).reshape(1500, 2000)
    assert np.array_equal(_run(x, (2000, 1500), (1, 2000), 0), x.T)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(256, 512), (130, 257), (15, 300), (1024, 17)], ids=str)
def test_transposition(width, shape):  # of rows that share lines of the caches, and of others
    x = np.frombuffer(np.random.default_rng(0).bytes(shape[0] * shape[1] * width), f"V{width}").reshape(shape)
    assert _run(x, shape[::-1], (1, shape[1]), 0).tobytes() == x.T.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_indices_of_every_type_are_clamped(dtype):
    x, info = np.arange(40.0).reshape(8, 5), np.iinfo(dtype)
    for at in {0, 1, 5, 6, 7, 100, int(info.min), int(info.max), *([-1, -100] if info.min < 0 else [])}:
        got = _run(x, (2, 5), (5, 1), 0, [(np.array(at, dtype), 6, 5)])
        first = min(max(at, 0), 6)
        assert np.array_equal(got, x[first : first + 2])


def test_more_axes_than_instructions_have_are_refused():
    x = np.zeros((2,) * (MOST_AXES + 1), np.int8)
    with pytest.raises(Unsupported):
        _run(x, x.shape, [1] * x.ndim, 0)


def test_a_place_outside_of_the_source_is_refused():
    x = np.zeros(8, np.float32)
    for shape, strides, start in (((9,), (1,), 0), ((4,), (1,), 5), ((3,), (-1,), 1), ((2,), (8,), 0)):
        with pytest.raises(ValueError, match="copy"):
            _run(x, shape, strides, start)


def test_order():
    assert is_in_order((2, 3), (3, 1)) and is_in_order((2, 1, 3), (3, 77, 1)) and not is_in_order((2, 3), (1, 2))


def test_unknown_types_are_unsupported():
    assert type_number(np.dtype(np.float32)) == 0
    with pytest.raises(Unsupported):
        type_number(np.dtype("V8"))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("shift", [1, 5, 7, 15, 16, 33, 63, 64])
def test_long_rows_a_little_behind_their_source(dtype, shift):
    """Rolls of arrays on pages of their own: such copies are not left to the CPU's instruction for strings."""
    x = (np.arange(40 * 5000) % 251).reshape(40, 5000).astype(dtype)
    assert np.array_equal(jax.jit(lambda v: jnp.roll(v, shift, 1))(x), np.roll(x, shift, 1))
    update = jax.jit(lambda a, v: jax.lax.dynamic_update_slice(a, v, (0, shift)))
    want = np.zeros((40, 5100), dtype)
    want[:, shift : shift + 5000] = x
    assert np.array_equal(update(np.zeros((40, 5100), dtype), x), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_rows_side_by_side_become_columns(count, dtype):
    """Few rows are interleaved; the inverse reads every second to fifth element."""
    for shape in ((count, 1000), (2, count, 37), (count, 8)):
        x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        with jax.enable_x64(True):
            turned = jax.jit(lambda x: jnp.swapaxes(x, -1, -2))(x)
            assert np.array_equal(np.asarray(turned), np.swapaxes(x, -1, -2))
            assert np.array_equal(np.asarray(jax.jit(lambda x: jnp.swapaxes(x, -1, -2) + 0)(np.asarray(turned))), x)
