"""jaxpr -> graph: boundary, components, calls, decompositions, refusals, symbolic shapes."""

import gc
import weakref

import numpy as np
import onnx
import pytest

import onax
import onax.numpy as jnp
from onax import make_jaxpr
from onax._control.jit_call import call_params, jit_p
from onax._ground import onnx_runtime
from onax._ground.dims import SymbolicScope, parse_dims
from onax._ground.dtypes import ExtendedDType
from onax._ground.errors import LoweringError
from onax._native import ort
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import elementwise, shaping, slicing
from onax._transforms.staging import trace_to_jaxpr
from onax.export import lower  # noqa: F401
from onax.export.graph import proto
from onax.export.lower import registry
from onax.export.lower.driver import lower_jaxpr, trailing_axes

F32, C64 = np.dtype(np.float32), np.dtype(np.complex64)
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    ort.attach(onnx_runtime.find_runtime().library)


@pytest.fixture
def primitive():
    """A primitive of one operand that is nowhere lowered; its lowering goes when the test ends."""
    p = Primitive("odd", abstract_eval=lambda x, **_: x)
    yield p
    for slot in (registry.lowering, registry.component_lowering):
        slot.remove(p)


def stage(fun, *avals):
    """The ClosedJaxpr of a flat function; avals are arrays, avals or (shape, dtype)."""
    return trace_to_jaxpr(fun, [a if isinstance(a, ShapedArray) else ShapedArray(a.shape, a.dtype) for a in avals])


def run(graph, *arrays):
    onnx.checker.check_model(onnx.load_from_string(proto.to_model(graph)), full_check=True)
    data, ins, outs, shared = proto.to_session(graph)
    return ort.Session(data, ins, outs, initializers=shared).run(list(arrays))


def lowered(fun, *arrays, opset=21):
    return run(lower_jaxpr(stage(fun, *arrays), opset=opset), *arrays)


@pytest.mark.parametrize("opset", range(18, 27))
def test_a_function_in_every_opset(opset):
    fun = lambda x, y: [elementwise.add(elementwise.mul(x, x), y), elementwise.exp(x)]
    for got, want in zip(lowered(fun, X, X, opset=opset), (X * X + X, np.exp(X))):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_boundary_names():
    closed = stage(lambda x, y: [x, elementwise.neg(y), y], X, X)
    g = lower_jaxpr(closed, opset=21, input_names=["params.w", "neg_1"], output_names=["out.0", "neg_2", "neg_3"])
    assert [v.name for v in g.inputs] == ["params.w", "neg_1"]
    assert [v.name for v in g.outputs] == ["out.0", "neg_2", "neg_3"]
    for got, want in zip(run(g, X, X + 1), (X, -X - 1, X + 1)):
        np.testing.assert_array_equal(got, want)
    default = lower_jaxpr(closed, opset=21)
    assert [v.name for v in (*default.inputs, *default.outputs)] == ["in.0", "in.1", "out.0", "out.1", "out.2"]


def test_results_that_nothing_computes():
    """Arguments, literals, constants, and one value twice."""

    def fun(x):
        y = elementwise.neg(x)
        return [x, y, y, np.float32(2.0), np.arange(3.0, dtype=np.float32)]

    got = lowered(fun, X)
    for y, want in zip(got, (X, -X, -X, np.float32(2), np.arange(3.0))):
        np.testing.assert_array_equal(y, want)


def test_large_constants_become_shared_initializers():
    w = np.arange(3000, dtype=np.float32)
    g = lower_jaxpr(stage(lambda x: [elementwise.mul(x, w)], w), opset=21)
    data, _, _, shared = proto.to_session(g)
    assert len(data) < 500 and [a.nbytes for a in shared.values()] == [w.nbytes]
    np.testing.assert_array_equal(run(g, w)[0], w * w)


def test_graphs_and_their_constants_are_freed_without_the_collector():
    w = np.arange(3000, dtype=np.float32)
    closed = stage(lambda x: [elementwise.mul(x, w)], w)
    gc.collect()
    gc.disable()
    try:
        g = lower_jaxpr(closed, opset=21)
        data, ins, outs, shared = proto.to_session(g)
        memory = weakref.ref(next(iter(shared.values())))
        s = ort.Session(data, ins, outs, initializers=shared)
        del closed, shared, g
        assert memory() is not None
        np.testing.assert_array_equal(s.run([w])[0], w * w)
        del s
        assert memory() is None
    finally:
        gc.enable()


def test_nodes_carry_name_and_line():
    def fun(x):
        return [elementwise.sin(x)]

    node = lower_jaxpr(stage(fun, X), opset=21).nodes[0]
    model = onnx.load_from_string(proto.to_model(lower_jaxpr(stage(fun, X), opset=21)))
    assert node.name.startswith("sin_") and "test_driver.py" in model.graph.node[0].doc_string


def test_calls_are_inlined_and_dead_results_dropped():
    inner = stage(lambda x: [elementwise.sin(x), elementwise.cos(x)], X)

    def fun(x):
        s, _ = jit_p.bind(x, **call_params(inner, "inner"))
        return [elementwise.add(s, s)]

    g = lower_jaxpr(stage(fun, X), opset=21)
    assert [n.op_type for n in g.nodes] == ["Sin", "Add"]
    np.testing.assert_allclose(run(g, X)[0], 2 * np.sin(X), rtol=1e-5, atol=1e-6)


# ---- the forms of a rule


def test_decompose(primitive):
    registry.decompose(primitive, lambda x, *, n: elementwise.mul(elementwise.add(x, x), elementwise.integer_pow(x, n)))
    g = lower_jaxpr(stage(lambda x: [primitive.bind(x, n=2)], X), opset=21)
    assert all(n.name.startswith("odd_") for n in g.nodes)
    np.testing.assert_allclose(run(g, X)[0], 2 * X**3, rtol=1e-6)


def test_one_node(primitive):
    registry.one_node(primitive, "LeakyRelu", alpha=0.5)
    got = lowered(lambda x: [primitive.bind(x)], -X)
    np.testing.assert_array_equal(got[0], -X / 2)
    with pytest.raises(ValueError, match="odd has a rule for lowering already"):
        registry.one_node(primitive, "Neg")


def test_several_results(primitive):
    several = Primitive("several", multiple_results=True, abstract_eval=lambda x: [x, x])

    @registry.lowers(several)
    def _(g, out, x):
        assert [a.shape for a in out] == [(2, 3), (2, 3)]
        return x, g.node("Neg", x)

    try:
        for got, want in zip(lowered(lambda x: several.bind(x)[::-1], X), (-X, X)):
            np.testing.assert_array_equal(got, want)
    finally:
        registry.lowering.remove(several)


# ---- components


def test_complex_values_cross_the_boundary_with_a_trailing_axis():
    """Data movement works by components, though no rule knows of complex numbers."""
    z = (X + 1j * (X + 10)).astype(C64)
    literal = np.complex64(3 - 4j)

    def fun(z):
        turned = shaping.transpose(z, (1, 0))
        return [slicing.slice(turned, (1, 0), (3, 2)), shaping.broadcast_in_dim(literal, (2,), ()), z]

    g = lower_jaxpr(stage(fun, z), opset=21)
    assert [v.shape for v in g.inputs] == [(2, 3, 2)] and g.inputs[0].dtype == F32
    physical = z.view(np.float32).reshape(2, 3, 2)
    for got, want in zip(run(g, physical), (z.T[1:3], np.full(2, literal), z)):
        np.testing.assert_array_equal(got.view(C64)[..., 0], want)


def test_a_rule_for_components(primitive):
    @registry.lowers(primitive)
    def _real(g, out, x):
        return x

    @registry.lowers_components(primitive)
    def _conjugate(g, out, z):
        return z[0], g.node("Neg", z[1])

    z = (X + 1j).astype(C64)
    g = lower_jaxpr(stage(lambda z: [primitive.bind(z)], z), opset=21)
    np.testing.assert_array_equal(run(g, z.view(np.float32).reshape(2, 3, 2))[0].view(C64)[..., 0], z.conj())


def test_extended_dtypes_are_components_too():
    pair = ExtendedDType("pair", (2, 2), np.uint32)
    assert trailing_axes(pair) == ((2, 2), np.uint32)
    g = lower_jaxpr(stage(lambda k: [shaping.reshape(k, (3, 2))], ShapedArray((2, 3), pair)), opset=21)
    words = np.arange(24, dtype=np.uint32).reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(run(g, words)[0], words.reshape(3, 2, 2, 2))


def test_calls_pass_components():
    z = (X + 1j).astype(C64)
    inner = stage(lambda z: [shaping.transpose(z, (1, 0))], z)
    g = lower_jaxpr(stage(lambda z: jit_p.bind(z, **call_params(inner, "inner")), z), opset=21)
    np.testing.assert_array_equal(run(g, z.view(np.float32).reshape(2, 3, 2))[0].view(C64)[..., 0], z.T)


# ---- refusals


def test_a_primitive_without_a_form_names_operation_and_line(primitive):
    closed = stage(lambda x: [primitive.bind(x)], X)
    with pytest.raises(
        LoweringError,
        match=r"(?s)^ONNX lowering rule for primitive 'odd' not found.*In operation odd from .*test_driver\.py:\d+",
    ):
        lower_jaxpr(closed, opset=21)
    registry.unsupported("ONNX cannot be odd; be even.", primitive)
    with pytest.raises(LoweringError, match=r"^ONNX cannot be odd; be even\.\nIn operation odd"):
        lower_jaxpr(closed, opset=21)


def test_components_without_a_rule(primitive):
    registry.one_node(primitive, "Neg")
    with pytest.raises(LoweringError, match="odd has no ONNX form for complex64"):
        lower_jaxpr(stage(lambda z: [primitive.bind(z)], X.astype(C64)), opset=21)


def test_all_refusals_are_collected(primitive):
    other = Primitive("other", abstract_eval=lambda x, **_: x)
    registry.unsupported("ONNX cannot be odd", primitive)

    def inner(x):
        return [other.bind(x)]

    def fun(x):
        y = elementwise.sin(primitive.bind(x))
        z = jit_p.bind(y, **call_params(stage(inner, X), "inner"))[0]
        return [elementwise.add(z, primitive.bind(y))]

    with pytest.raises(LoweringError) as caught:
        lower_jaxpr(stage(fun, X), opset=21, collect_errors=True)
    lines = str(caught.value).splitlines()
    assert lines[0] == "3 operations have no ONNX form in opset 21:"
    assert [line.split()[0] for line in lines[1:4]] == ["odd", "other", "odd"]
    assert all("test_driver.py:" in line for line in lines[1:4])
    assert lines[1].endswith("(test_all_refusals_are_collected.<locals>.fun): ONNX cannot be odd")


# ---- symbolic shapes


def test_symbolic_shapes_are_computed_at_run_time():
    b, three = parse_dims("b, 3", SymbolicScope())
    x = ShapedArray((b, three), F32)

    def fun(x, y):
        wide = shaping.broadcast_in_dim(shaping.reshape(x, (b * 3,)), (2, b * 3), (1,))
        return [wide, elementwise.add(x, y), shaping.broadcast_in_dim(np.float32(1), (b, b), ())]

    g = lower_jaxpr(stage(fun, x, x), opset=21, input_names=["x", "y"])
    for n in (1, 4):
        v = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        for got, want in zip(run(g, v, v), (np.stack([v.ravel()] * 2), v + v, np.ones((n, n)))):
            np.testing.assert_array_equal(got, want)


GRID = np.arange(12, dtype=np.float32).reshape(4, 3)
INDICES = np.arange(-5, 7, dtype=np.int32)
KNOWN = {
    "constant index": (lambda x: x[np.array([0, -1])], GRID, ["Gather"]),
    "constant column index": (lambda x: x[:, np.array([0, -1])], GRID, ["Gather"]),
    "sign of the divisor": (lambda i: i // 3, INDICES, "Div Clip Equal Not Mod Equal Not And Sub Where".split()),
    "remainder": (lambda i: i % 2, INDICES, "Mod Equal Not Less Xor And Add Where".split()),
    "a triangle": (lambda x: x * jnp.tril(jnp.ones((4, 3), np.float32)), GRID, ["Mul"]),
    "linspace": (lambda x: x + jnp.linspace(0.0, 1.0, 3), GRID, ["Add"]),
    "a repeated scalar": (lambda x: x * -(jnp.full((4, 3), 2.0) + 1.0), GRID, ["Mul"]),
    "complex": (lambda x: jnp.real(jnp.array([1j, 2, 3]) ** 2).astype(np.float32) + x, GRID, ["Add"]),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_known_operands_write_no_nodes(name):
    fun, x, want = KNOWN[name]
    g = lower_jaxpr(make_jaxpr(fun)(x), opset=26)
    assert [n.op_type for n in g.nodes] == want
    np.testing.assert_allclose(np.asarray(onax.jit(fun)(x)), np.asarray(fun(jnp.asarray(x))), rtol=1e-6)


def test_a_variance_divides_by_a_known_count():
    g = lower_jaxpr(make_jaxpr(jnp.var)(GRID), opset=26)
    written = [n.op_type for n in g.nodes]
    assert "Greater" not in written and written.count("Sub") == 1


def test_large_results_are_computed_when_the_graph_runs():
    g = lower_jaxpr(make_jaxpr(lambda x: x + jnp.exp(jnp.arange(5000.0)))(np.float32(1)), opset=26)
    assert "Exp" in [n.op_type for n in g.nodes]
    assert sum(v.const.nbytes for v in g.initializers.values()) < 1024
