"""The ONNX forms of movements of whole axes, of sums and of iota."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import OPSETS, operators, run_kernel, run_lowering
from onax._prims import creation
from onax._prims import shaping as prims
from tolerance import assert_same_bits, assert_sum

DTYPES = [
    np.dtype(t) for t in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8")
]
INTEGERS = [d for d in DTYPES if d.kind in "iu"]

UNSHARDED = {"sharding": None}

# primitive, operand shape, parameters, operators of the form
MOVES = [
    (prims.broadcast_in_dim_p, (3, 4), {"shape": (2, 3, 4), "broadcast_dimensions": (1, 2), **UNSHARDED}, "Expand"),
    (prims.broadcast_in_dim_p, (3, 4), {"shape": (3, 2, 4), "broadcast_dimensions": (0, 2), **UNSHARDED},
     "Reshape Expand"),
    (prims.broadcast_in_dim_p, (3, 4), {"shape": (3, 1, 4), "broadcast_dimensions": (0, 2), **UNSHARDED}, "Reshape"),
    (prims.broadcast_in_dim_p, (), {"shape": (3, 0), "broadcast_dimensions": (), **UNSHARDED}, "Expand"),
    (prims.broadcast_in_dim_p, (1, 3), {"shape": (5, 3), "broadcast_dimensions": (0, 1), **UNSHARDED}, "Expand"),
    (prims.reshape_p, (3, 4), {"new_sizes": (2, 6), "dimensions": None, **UNSHARDED}, "Reshape"),
    (prims.reshape_p, (3, 4), {"new_sizes": (2, 6), "dimensions": (1, 0), **UNSHARDED}, "Transpose Reshape"),
    (prims.reshape_p, (0, 4), {"new_sizes": (2, 0), "dimensions": None, **UNSHARDED}, "Reshape"),
    (prims.transpose_p, (2, 3, 4), {"permutation": (2, 0, 1)}, "Transpose"),
    (prims.squeeze_p, (1, 3, 1), {"dimensions": (0, 2)}, "Squeeze"),
    (prims.rev_p, (3, 4), {"dimensions": (0, 1)}, "Slice"),
    (prims.rev_p, (0, 4), {"dimensions": (0,)}, "Slice"),
    (creation.copy_p, (2,), {}, "Identity"),
]  # fmt: skip


def _numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)) % 7 - 1).astype(dtype).reshape(shape)


@pytest.mark.parametrize("p, shape, params, form", MOVES)
def test_moves(p, shape, params, form):
    for dtype in DTYPES:
        x = _numbers(shape, dtype)
        for opset in OPSETS:
            assert_same_bits(run_lowering(p, [x], params, opset)[0], run_kernel(p, [x], params)[0], f"{dtype}")
    assert operators(p, [_numbers(shape, np.float32)], params) == form.split()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "b"], ids=str)
@pytest.mark.parametrize("shape, dimension", [((5,), 0), ((2, 3), 1), ((2, 3), 0), ((3000,), 0), ((0, 2), 0)])
def test_iota(dtype, shape, dimension):
    params = {"dtype": dtype, "shape": shape, "dimension": dimension, "sharding": None}
    assert_same_bits(run_lowering(creation.iota_p, [], params)[0], run_kernel(creation.iota_p, [], params)[0])


# ---- sums

AXES = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [(3, 4, 2), (0, 4, 2), (3, 0, 2)])
def test_sums(axes, shape):
    params = {"axes": axes, "out_sharding": None}
    for dtype in DTYPES[1:]:
        x = _numbers(shape, dtype)
        if dtype.kind in "iu" and x.size:
            x.flat[:5] = np.iinfo(dtype).max
        (want,) = run_kernel(prims.reduce_sum_p, [x], params)
        (got,) = run_lowering(prims.reduce_sum_p, [x], params)
        assert_sum(got, want, 24, np.abs(x.astype(np.float64)).sum(axes), f"{dtype}")


def test_sums_of_integers_are_exact_and_wrap():
    params = {"axes": (0,), "out_sharding": None}
    for dtype, x, want in [
        ("int32", [2**31 - 1, 1], -(2**31)),
        ("int64", [2**60, 1], 2**60 + 1),
        ("uint8", [200, 100], 44),
    ]:
        assert_same_bits(run_lowering(prims.reduce_sum_p, [np.array(x, dtype)], params)[0], np.array(want, dtype))


@pytest.mark.parametrize("shape", [(1 << 25,), (1 << 25, 1), (2, 1 << 20)])
def test_long_sums_do_not_stall(shape):
    x = np.ones(shape, np.float32)
    axis = int(np.argmax(shape))
    (got,) = run_lowering(prims.reduce_sum_p, [x], {"axes": (axis,), "out_sharding": None})
    assert_same_bits(got, np.full([d for i, d in enumerate(shape) if i != axis], shape[axis], np.float32))
