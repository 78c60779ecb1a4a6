"""The ONNX forms of sort and top_k: NaN, zeros of both signs, type limits, several keys, how many TopK they take."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import NEWEST, OPSETS, graph_of, run_kernel, run_lowering
from onax._prims.sorting import sort_p, top_k_p

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("float32", "float64", "float16", BF16)]
INTEGERS = [np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)]
ALL = [*FLOATS, *INTEGERS, np.dtype(bool)]


def _numbers(dtype, shape=(3, 40)):
    rng = np.random.default_rng(3)
    if dtype in FLOATS:
        return rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1, -1, 0.5], shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1], dtype), shape)


def _assert_same(got, want):
    """The same numbers, zeros of the same sign."""
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype
        wide = np.float64 if g.dtype == BF16 else g.dtype
        np.testing.assert_array_equal(g.astype(wide), np.asarray(w).astype(wide))
        if g.dtype in FLOATS:
            zero = np.asarray(w, np.float64) == 0
            np.testing.assert_array_equal(np.signbit(g) & zero, np.signbit(w) & zero)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_sort(dtype, opset):
    x, places = _numbers(dtype), np.arange(120, dtype=np.int32).reshape(3, 40)
    for operands, num_keys in (((x,), 1), ((x, places), 1), ((x, np.flip(x).copy(), places), 2)):
        for dimension in (0, 1):
            params = {"dimension": dimension, "is_stable": True, "num_keys": num_keys}
            _assert_same(run_lowering(sort_p, operands, params, opset), run_kernel(sort_p, operands, params))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_top_k(dtype, opset):
    for axis, k in ((1, 7), (1, 40), (0, 2), (0, 0)):
        params = {"axis": axis, "k": k}
        x = _numbers(dtype)
        _assert_same(run_lowering(top_k_p, [x], params, opset), run_kernel(top_k_p, [x], params))


#     dtype, opset, how many TopK a sort takes
NODES = (("int32", 21, 1), ("uint32", 21, 1), ("float32", 21, 2), ("float32", NEWEST, 1), ("float64", NEWEST, 1))


@pytest.mark.parametrize("dtype, opset, count", NODES)
def test_how_many_sorts(dtype, opset, count):
    params = {"dimension": 0, "is_stable": True, "num_keys": 1}
    graph = graph_of(sort_p, [np.zeros(8, dtype)], params, opset)
    assert [n.op_type for n in graph.nodes].count("TopK") == count
