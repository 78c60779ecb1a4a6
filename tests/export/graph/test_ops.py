"""Builders of operators against NumPy: shapes, detours for types without a kernel."""

import ml_dtypes
import numpy as np
import pytest

from graph_runner import run
from onax._ground.dims import SymbolicScope, parse_dims
from onax.export.graph import ops
from onax.export.graph.value import Graph

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
BUILDERS = {
    "reshape": (lambda g, x: ops.reshape(g, x, (4, 6)), X.reshape(4, 6)),
    "reshape to itself": (lambda g, x: ops.reshape(g, x, (2, 3, 4)), X),
    "transpose": (lambda g, x: ops.transpose(g, x, (2, 0, 1)), X.transpose(2, 0, 1)),
    "no transpose": (lambda g, x: ops.transpose(g, x, (0, 1, 2)), X),
    "expand": (lambda g, x: ops.expand(g, x, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4))),
    "unsqueeze": (lambda g, x: ops.unsqueeze(g, x, (0, -1)), X[None, ..., None]),
    "squeeze": (lambda g, x: ops.squeeze(g, ops.unsqueeze(g, x, (1, 3)), (-2, 1)), X),
    "slice": (lambda g, x: ops.slice_(g, x, (0, 1, 0), (2, 3, 4), (1, 1, 2)), X[:, 1:3, ::2]),
    "slice of a slice": (
        lambda g, x: ops.slice_(g, ops.slice_(g, x, (0, 1, 0), (2, 3, 4)), (1, 0, 1), (2, 2, 4), (1, 1, 2)),
        X[1:, 1:3, 1::2],
    ),
    "slice of a slice with steps": (
        lambda g, x: ops.slice_(g, ops.slice_(g, x, (0, 0, 0), (2, 3, 4), (1, 1, 2)), (0, 0, 1), (2, 3, 2)),
        X[:, :, 2:3],
    ),
    "transpose of a transpose": (
        lambda g, x: ops.transpose(g, ops.transpose(g, x, (2, 0, 1)), (0, 2, 1)), X.transpose(2, 1, 0)
    ),
    "transpose back": (lambda g, x: ops.transpose(g, ops.transpose(g, x, (2, 0, 1)), (1, 2, 0)), X),
    "slice of all": (lambda g, x: ops.slice_(g, x, (0, 0, 0), (2, 3, 4)), X),
    "slice of all axes": (lambda g, x: ops.slice_(g, x, (1, 1, 1), (2, 2, 2)), X[1:2, 1:2, 1:2]),
    "concat": (lambda g, x: ops.concat(g, [x, x], 1), np.concatenate([X, X], 1)),
    "concat of one": (lambda g, x: ops.concat(g, [x], 1), X),
    "full": (lambda g, x: ops.add(g, x, ops.full(g, (3, 1), 2, F32)), X + 2),
    "where": (lambda g, x: ops.where(g, ops.greater(g, x, g.const(3, F32)), x, g.const(0, F32)), np.where(X > 3, X, 0)),
    "arithmetic": (lambda g, x: ops.div(g, ops.sub(g, ops.mul(g, x, x), x), g.const(2, F32)), (X * X - X) / 2),
    "extrema": (lambda g, x: ops.minimum(g, ops.maximum(g, x, g.const(3, F32)), g.const(7, F32)), X.clip(3, 7)),
    "logic": (
        lambda g, x: ops.logical_not(g, ops.logical_or(
            g, ops.logical_and(g, ops.less(g, x, g.const(9, F32)), ops.greater_equal(g, x, g.const(2, F32))),
            ops.logical_or(g, ops.less_equal(g, x, g.const(0, F32)), ops.equal(g, x, g.const(20, F32))))),
        ~(((X < 9) & (X >= 2)) | (X <= 0) | (X == 20)),
    ),
    "reduce": (lambda g, x: ops.reduce(g, "ReduceSum", x, (0, -1)), X.sum((0, 2))),
    "reduce, kept": (lambda g, x: ops.reduce(g, "ReduceMax", x, (1,), keepdims=True), X.max(1, keepdims=True)),
    "reduce over nothing": (lambda g, x: ops.reduce(g, "ReduceSum", x, ()), X),
    "gather": (lambda g, x: ops.gather(g, x, g.const([[0, 2], [1, 1]], I64), 1), X[:, [[0, 2], [1, 1]]]),
    "is_nan": (lambda g, x: ops.is_nan(g, ops.div(g, x, x)), np.isnan(X / np.where(X, X, np.nan))),
    "cast": (lambda g, x: ops.cast(g, x, np.int32), X.astype(np.int32)),
    "scalar": (lambda g, x: ops.add(g, x, ops.scalar(g, 2, x)), X + 2),
}  # fmt: skip


@pytest.mark.parametrize("opset", [18, 21, 26])
@pytest.mark.parametrize("name", BUILDERS)
def test_builders(name, opset):
    build, want = BUILDERS[name]
    np.testing.assert_array_equal(run(build, X, opset=opset), want)


@pytest.mark.parametrize(
    "shape, new", [((0, 3), (3, 0)), ((0, 3), (0,)), ((0,), (2, 0)), ((1,), ()), ((), (1, 1))], ids=str
)
def test_reshape_of_empty_and_scalar(shape, new):
    assert run(lambda g, x: ops.reshape(g, x, new), np.ones(shape, np.float32)).shape == new


def test_bitcast():
    got = run(lambda g, x: ops.bitcast(g, x, np.int32), X, opset=26)
    np.testing.assert_array_equal(got, X.view(np.int32))


LIMITS = {d: np.array([np.iinfo(d).min, np.iinfo(d).max, 1, 3], d) for d in "bhilBHIL"}


@pytest.mark.parametrize("code", LIMITS)
@pytest.mark.parametrize("op_type, ufunc", [
    ("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Min", np.minimum), ("Max", np.maximum),
], ids=str)  # fmt: skip
def test_integer_arithmetic_wraps_in_every_type(code, op_type, ufunc):
    x = LIMITS[code]
    builder = {"Min": ops.minimum, "Max": ops.maximum}.get(op_type, lambda g, a, b: ops.binary(g, op_type, a, b))
    got = run(builder, x, x[::-1].copy())
    np.testing.assert_array_equal(got, ufunc(x, x[::-1]))


@pytest.mark.parametrize("code", LIMITS)
def test_integer_matmul_wraps_in_every_type(code):
    x = np.stack([LIMITS[code]] * 2)
    got = run(lambda g, a, b: g.node("MatMul", a, b, out=((2, 2), a.dtype)), x, x.T.copy())
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x @ x.T)


@pytest.mark.parametrize("dtype", [*"?bhilBHILefd", ml_dtypes.bfloat16], ids=str)
def test_where_moves_every_type(dtype):
    x = np.array([0, 1, 1, 0]).astype(dtype)
    if x.dtype.kind in "iu":
        x = LIMITS[dtype]
    c = np.array([True, False, True, False])
    got = run(lambda g, c, a, b: ops.where(g, c, a, b), c, x, x[::-1].copy())
    np.testing.assert_array_equal(got, np.where(c, x, x[::-1]))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_halves(dtype):
    x = np.array([0.5, 1, 2, 100], dtype)
    got = run(lambda g, a: g.node("Exp", ops.mul(g, a, g.const(0.01, dtype))), x)
    want = np.exp((x.astype(np.float32) * np.asarray(0.01, dtype).astype(np.float32)).astype(dtype).astype(np.float32))
    np.testing.assert_allclose(got.astype(np.float32), want.astype(dtype).astype(np.float32), rtol=2**-7)


def _symbolic(text):
    return parse_dims(text, SymbolicScope())


def test_one_symbolic_dimension_of_a_reshape_needs_no_computation():
    b, _, _ = shape = _symbolic("b, 2, 3")
    g = Graph()
    y = ops.reshape(g, g.input("x", (shape, F32)), (b, 6))
    assert [n.op_type for n in g.nodes] == ["Reshape"] and y.shape == (b, 6)
