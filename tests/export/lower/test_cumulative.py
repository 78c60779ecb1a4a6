"""The ONNX forms of running reductions: one node where there is one, long axes, axes of unknown size."""

import numpy as np
import pytest

import onax as jax
from lowering_runner import NEWEST, run_graph, run_kernel
from onax._ground.config import enable_x64
from onax._prims import cumulative as prims
from onax.export import export, symbolic_shape
from onax.export.lower.driver import lower_jaxpr

FORWARD = {"axis": 0, "reverse": False}


def _lowered(primitive, x, params, opset):
    with enable_x64(True):
        return lower_jaxpr(jax.make_jaxpr(lambda v: primitive.bind(v, **params))(x), opset=opset)


def _op_types(primitive, x, opset):
    return [n.op_type for n in _lowered(primitive, x, FORWARD, opset).nodes]


#     primitive, operand, opset, its operators
NODES = (
    (prims.cumsum_p, np.zeros(8, np.float32), 21, ["CumSum"]),
    (prims.cumsum_p, np.zeros(8, np.int64), 21, ["CumSum"]),
    (prims.cumsum_p, np.zeros(8, np.uint8), 21, ["Cast", "CumSum", "Cast"]),
    (prims.cumsum_p, np.zeros(4096, np.float32), 21, ["Cast", "CumSum", "Cast"]),
    (prims.cumprod_p, np.zeros(8, np.float32), NEWEST, ["CumProd"]),
)


@pytest.mark.parametrize("primitive, x, opset, want", NODES)
def test_one_node(primitive, x, opset, want):
    assert _op_types(primitive, x, opset) == want


@pytest.mark.parametrize("name", ["cummax", "cummin", "cumlogsumexp"])
def test_doubling_takes_few_steps(name):
    types = _op_types(getattr(prims, f"{name}_p"), np.zeros(1000, np.float32), 21)
    assert 10 <= types.count("Max" if name != "cummin" else "Min") <= 11


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "uint32", "uint64", "int64"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
def test_integers_wrap(name, dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, (3, 50), dtype, endpoint=True)
    for opset in (21, NEWEST):
        for reverse in (False, True):
            params = {"axis": 1, "reverse": reverse}
            p = getattr(prims, f"{name}_p")
            (got,) = run_graph(_lowered(p, x, params, opset), [x])
            np.testing.assert_array_equal(got, run_kernel(p, [x], params)[0])


def test_a_long_sum_is_exact():
    x = np.ones(1 << 20, np.float32) * np.float32(0.1)
    (got,) = run_graph(_lowered(prims.cumsum_p, x, FORWARD, 21), [x])
    assert abs(float(got[-1]) - float(x[0]) * x.size) < 0.02


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
def test_an_axis_of_unknown_size(name, dtype, reverse):
    if name == "cumlogsumexp" and dtype == "int32":
        pytest.skip("it starts from -inf")
    function = lambda x: getattr(jax.lax, name)(x, 0, reverse=reverse)
    exported = export(jax.jit(function))(jax.ShapeDtypeStruct((*symbolic_shape("n"), 2), dtype))
    for n in (1, 2, 3, 8, 33):
        x = jax.numpy.asarray(np.random.default_rng(n).integers(-2, 3, (n, 2)), dtype)
        tolerance = 0.02 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(exported.call(x), function(x), rtol=tolerance)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, axis", [((3, 5), 1), ((3, 5), 0), ((7,), 0), ((2, 3, 4), 1), ((1, 4), 0)])
@pytest.mark.parametrize("primitive, most", [(prims.cummax_p, 5), (prims.cummin_p, 5), (prims.cumlogsumexp_p, 6)])
def test_few_elements_are_reduced_at_once(primitive, most, shape, axis, reverse):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) * 5).astype(np.float32)
    x = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf], shape), x).astype(np.float32)
    params = {"axis": axis, "reverse": reverse}
    graph = _lowered(primitive, x, params, 21)
    fun = lambda v: primitive.bind(v, **params)
    exported = export(fun)(x)
    assert len(exported.onnx_model.graph.node) <= most
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(exported.call(x), fun(x), rtol=1e-5, atol=1e-5)
    assert len(graph.nodes) < 20


def test_integers_of_few_elements():
    x = np.array([[3, -1, 4], [1, -5, 9]], np.int32)
    for primitive in (prims.cummax_p, prims.cummin_p):
        fun = lambda v, p=primitive: p.bind(v, axis=1, reverse=False)
        np.testing.assert_array_equal(export(fun)(x).call(x), fun(x))
