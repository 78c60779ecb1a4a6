"""The ONNX form of dot_general: every layout of axes, every type."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import graph_of, operators, run_graph, run_kernel, run_lowering
from onax._native.avals import ShapedArray
from onax._prims.dot import dot_general_p
from onax._prims.shaping import transpose_p
from onax.export.graph.value import Graph
from onax.export.lower.registry import lowering
from tolerance import assert_same_bits, assert_sum

DTYPES = [np.dtype(t) for t in ("f4", "f8", "f2", ml_dtypes.bfloat16, "bool", "i1", "i4", "i8", "u2", "u4", "u8")]

# shapes, (contracted axes, batch axes), operators
LAYOUTS = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ())), "MatMul"),
    ((4,), (4,), (((0,), (0,)), ((), ())), "MatMul"),
    ((3, 4), (4,), (((1,), (0,)), ((), ())), "MatMul"),
    ((4, 3), (4, 5), (((0,), (0,)), ((), ())), "Gemm"),
    ((3, 4), (5, 4), (((1,), (1,)), ((), ())), "Gemm"),
    ((4, 3), (5, 4), (((0,), (1,)), ((), ())), "Gemm"),
    ((2, 3, 4), (4, 5), (((2,), (0,)), ((), ())), "MatMul"),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,))), "MatMul"),
    ((2, 3, 4), (2, 3, 5), (((0, 1), (0, 1)), ((), ())), None),
    ((2, 3), (4, 5), (((), ()), ((), ())), None),
    ((), (4,), (((), ()), ((), ())), None),
    ((2, 3, 4), (3, 4, 2), (((2,), (1,)), ((0, 1), (2, 0))), None),
    ((2, 4), (2, 4), (((1,), (1,)), ((0,), (0,))), None),
    ((4, 3), (4,), (((0,), (0,)), ((), ())), None),
    ((4,), (3, 4), (((0,), (1,)), ((), ())), None),
    ((4, 2, 3), (4,), (((0,), (0,)), ((), ())), None),
    ((2, 3, 4, 5), (5, 3, 2, 6), (((1, 3), (1, 0)), ((0,), (2,))), None),
    ((3, 0), (0, 5), (((1,), (0,)), ((), ())), None),
    ((0, 4), (4, 5), (((1,), (0,)), ((), ())), None),
    ((2, 0), (2, 0), (((1,), (1,)), ((0,), (0,))), None),
]


def _params(numbers, dtype):
    return {"dimension_numbers": numbers, "precision": None, "preferred_element_type": np.dtype(dtype),
            "out_sharding": None}  # fmt: skip


def _numbers(shape, dtype, seed):
    low = 0 if dtype.kind in "bu" else -3
    return np.random.default_rng(seed).integers(low, 4, shape).astype(dtype)


@pytest.mark.parametrize("left, right, numbers, form", LAYOUTS)
def test_layouts(left, right, numbers, form):
    for dtype in DTYPES:
        x, y, params = _numbers(left, dtype, 0), _numbers(right, dtype, 1), _params(numbers, dtype)
        (want,) = run_kernel(dot_general_p, [x, y], params)
        assert_sum(run_lowering(dot_general_p, [x, y], params)[0], want, 30, 300.0, f"{dtype}")
    if form:
        x, y = _numbers(left, np.dtype("f4"), 0), _numbers(right, np.dtype("f4"), 1)
        assert operators(dot_general_p, [x, y], _params(numbers, "f4")) == form.split()


# operand type, result type, operands, result: facts of JAX 0.10.2
WIDENED = [
    ("int8", "int32", [100, 100], 20000),
    ("int8", "int8", [100, 100], 32),
    ("float16", "float32", [300, 300], 180000.0),
    ("float32", "int32", [1.5, 2.5], 8),
    ("bool", "bool", [True, True], True),
]


@pytest.mark.parametrize("dtype, preferred, x, want", WIDENED)
def test_result_types(dtype, preferred, x, want):
    x = np.array(x, dtype)
    (got,) = run_lowering(dot_general_p, [x, x], _params((((0,), (0,)), ((), ())), preferred))
    assert_same_bits(got, np.array(want, preferred))


def test_transposed_matrix_and_vector():
    """Such a pair is never written: the runtime (1.31.1) fuses the two to a wrong product."""
    x, v = np.arange(12, dtype=np.float32).reshape(4, 3), np.arange(4, dtype=np.float32)
    g = Graph(21)
    operands = g.input("x", ShapedArray(x.shape, x.dtype)), g.input("v", ShapedArray(v.shape, v.dtype))
    turned = lowering[transpose_p](g, ShapedArray((3, 4), x.dtype), operands[0], permutation=(1, 0))
    out = ShapedArray((3,), x.dtype)
    g.output("y", lowering[dot_general_p](g, out, turned, operands[1], **_params((((1,), (0,)), ((), ())), "float32")))
    assert_same_bits(run_graph(g, [x, v])[0], x.T @ v)


def test_a_graph_is_made_once():
    x = np.ones((3, 3), np.float32)
    g = graph_of(dot_general_p, [x, x], _params((((1,), (0,)), ((), ())), "float32"))
    assert len(g.nodes) == 1 and not g.initializers
