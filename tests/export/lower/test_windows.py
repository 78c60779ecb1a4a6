"""Windows in ONNX: NaN and -inf, which pooling operators lose; every type; symbolic sizes."""

import numpy as np
import pytest

import onax as jax
from lowering_runner import OPSETS, run_graph, run_kernel
from onax import lax
from onax._prims.windows import reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p
from onax.export import export, symbolic_shape
from onax.export.lower.driver import lower_jaxpr

X = np.random.default_rng(0).integers(-5, 6, (2, 9, 7)).astype(np.float32)
SETTINGS = {
    "plain": {},
    "strides": {"window_strides": (1, 2, 3)},
    "padding": {"padding": ((0, 0), (2, 1), (0, 3))},
    "dilated": {"window_dilation": (1, 2, 1), "base_dilation": (1, 1, 2)},
    "wide": {"window_dimensions": (1, 8, 7)},
}
PLAIN = {
    "window_dimensions": (1, 3, 2), "window_strides": (1, 1, 1), "padding": ((0, 0),) * 3, "base_dilation": (1, 1, 1),
    "window_dilation": (1, 1, 1),
}  # fmt: skip
REDUCERS = [reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p]


def graph_of(p, x, params, opset=21):
    return lower_jaxpr(jax.make_jaxpr(lambda v: p.bind(v, **params))(x), opset=opset)


def agree(p, x, params, opset=21):
    with jax.enable_x64(True):
        (got,), (want,) = run_graph(graph_of(p, x, params, opset), [x]), run_kernel(p, [x], params)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("p", REDUCERS, ids=lambda p: p.name)
def test_values(p, name, opset):
    params = {**PLAIN, **SETTINGS[name]}
    agree(p, X, params, opset)
    assert not {"MaxPool", "AveragePool"} & {n.op_type for n in graph_of(p, X, params, opset).nodes}


@pytest.mark.parametrize("p", REDUCERS, ids=lambda p: p.name)
def test_nan_and_infinities(p):
    x = X.copy()
    x[0, 2, 3], x[0, 5, 1], x[1] = np.nan, np.inf, -np.inf
    agree(p, x, PLAIN)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float64"])
@pytest.mark.parametrize("p", REDUCERS, ids=lambda p: p.name)
def test_types(p, dtype):
    x = np.abs(X).astype(dtype)
    agree(p, x, PLAIN)


def test_wide_windows_take_few_steps():
    wide, x = {**PLAIN, "window_dimensions": (1, 64, 1)}, np.ones((1, 70, 1), np.float32)
    assert [n.op_type for n in graph_of(reduce_window_sum_p, x, wide).nodes].count("Add") < 12
    agree(reduce_window_sum_p, x, wide)


def test_symbolic_sizes():
    (n,) = symbolic_shape("n")
    pool = lambda window: lambda x: lax.reduce_window(x, -np.inf, lax.max, window, (1, 1), "VALID")
    exported = export(jax.jit(pool((1, 3))))(jax.ShapeDtypeStruct((n, 7), np.float32))
    np.testing.assert_array_equal(exported.call(X[0]), pool((1, 3))(X[0]))
