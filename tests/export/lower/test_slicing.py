"""The ONNX forms of slices, updates of slices, joins and padding."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import OPSETS, operators, run_kernel, run_lowering
from onax._prims import padding
from onax._prims import slicing as prims
from tolerance import assert_same_bits

DTYPES = [np.dtype(t) for t in ("float32", ml_dtypes.bfloat16, "bool", "uint16", "int64")]
STARTS = [(-7, 1), (0, 0), (1, 2), (100, 100)]
SIZES = [(2, 2), (1, 4), (3, 1), (3, 4), (1, 1), (0, 2)]


def _numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)) % 5).astype(dtype).reshape(shape)


def _check(p, operands, params, what="", **options):
    for got, want in zip(run_lowering(p, operands, params, **options), run_kernel(p, operands, params), strict=True):
        assert_same_bits(got, want, what)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", SIZES)
def test_dynamic_slices_and_updates(dtype, sizes):
    x, update = _numbers((3, 4), dtype), _numbers(sizes, dtype)
    for starts in STARTS:
        at = [np.asarray(s, np.int32) for s in starts]
        for constants in ((), (1, 2)):
            _check(prims.dynamic_slice_p, [x, *at], {"slice_sizes": sizes}, starts, constants=constants)
        _check(prims.dynamic_update_slice_p, [x, update, *at], {}, starts)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_starts_of_every_type(dtype):
    info = np.iinfo(dtype)
    for start in (info.min, info.max, 1):
        at = [np.asarray(start, dtype), np.asarray(0, dtype)]
        x = _numbers((300, 3), np.int32)
        _check(prims.dynamic_slice_p, [x, *at], {"slice_sizes": (200, 2)}, start)
        _check(prims.dynamic_slice_p, [x, *at], {"slice_sizes": (1, 3)}, start)


@pytest.mark.parametrize("sizes", [(4, 2, 6), (2, 5, 3), (2, 2, 2), (4, 5, 3), (1, 5, 6), (4, 5, 6)])
def test_updates_of_three_axes(sizes):
    at = [np.asarray(s, np.int32) for s in (1, 2, 9)]
    for opset in OPSETS:
        operands = [_numbers((4, 5, 6), np.float32), _numbers(sizes, np.float32) + 100, *at]
        _check(prims.dynamic_update_slice_p, operands, {}, opset=opset)


def test_constant_starts_need_no_guard():
    x, at = _numbers((3, 4), np.float32), [np.int32(99), np.int32(1)]
    assert operators(prims.dynamic_slice_p, [x, *at], {"slice_sizes": (2, 2)}, constants=(1, 2)) == ["Slice"]
    row = operators(prims.dynamic_slice_p, [x, *at], {"slice_sizes": (1, 4)})
    assert row == ["Clip", "Reshape", "Gather"]


PADS = [
    ((1, 2, 0), (0, 0, 0)), ((1, -1, 2), (0, 1, 1)), ((-1, -1, 0), (0, 0, 0)), ((0, 0, 3), (-2, 0, 2)),
    ((-3, 3, 0), (0, 0, 0)), ((-4, 4, 0), (4, -5, 0)), ((-1, 0, 1), (2, -3, 1)), ((0, 0, 0), (0, 0, 0)),
]  # fmt: skip


@pytest.mark.parametrize("config", PADS)
def test_pads(config):
    for dtype in DTYPES:
        _check(padding.pad_p, [_numbers((3, 4), dtype), np.asarray(1, dtype)], {"padding_config": config}, dtype)


def test_pads_of_nothing_and_of_scalars():
    one = np.float32(1)
    _check(padding.pad_p, [np.zeros((0, 4), np.float32), one], {"padding_config": ((1, 2, 1), (0, 0, 0))})
    _check(padding.pad_p, [one, one], {"padding_config": ()})


SLICES = [((0, 1), (3, 4), (2, 2)), ((1, 1), (1, 4), None), ((0, 0), (3, 4), None), ((1, 0), (3, 4), None)]


@pytest.mark.parametrize("start, limit, strides", SLICES)
def test_slices(start, limit, strides):
    params = {"start_indices": start, "limit_indices": limit, "strides": strides}
    for dtype in DTYPES:
        _check(prims.slice_p, [_numbers((3, 4), dtype)], params)


def test_joins_and_splits():
    for dtype in DTYPES:
        x, empty = _numbers((3, 4), dtype), _numbers((0, 4), dtype)
        _check(prims.concatenate_p, [x, empty, x], {"dimension": 0})
        _check(prims.concatenate_p, [empty, empty], {"dimension": 0})
        _check(prims.split_p, [x], {"sizes": (1, 0, 3), "axis": 1})
        _check(prims.split_p, [x], {"sizes": (3,), "axis": 0})
