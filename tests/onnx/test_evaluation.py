"""Graphs are evaluated node by node: functions of the model, known values, errors that name the node."""

import weakref

import numpy as np
import pytest
from onnx import helper, parser

import onax as jax
from onax.errors import OperatorError
from onax.onnx.evaluation import last_uses
from onnx_nodes import floats, model_of

FUNCTION = """
<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
main (float[3] x) => (float[3] y) { y = own.scaled <factor = 2.5> (x) }
<opset_import: ["" : 18], domain: "own">
scaled <factor> (x) => (y) {
  c = Constant <value_float : float = @factor> ()
  y = Mul (x, c)
}
"""
SHAPES = """
<ir_version: 8, opset_import: ["" : 18]>
shapes (float[n, 6] x) => (float[a, b] y) {
  s = Shape (x)
  zero = Constant <value = int64 {0}> ()
  n = Gather (s, zero)
  two = Constant <value = int64 {2}> ()
  half = Div (n, two)
  axes = Constant <value = int64[1] {0}> ()
  first = Unsqueeze (half, axes)
  rest = Constant <value = int64[1] {-1}> ()
  shape = Concat <axis = 0> (first, rest)
  y = Reshape (x, shape)
}
"""


def test_functions_of_the_model():
    model = jax.onnx.load(parser.parse_model(FUNCTION))
    x = floats(3)
    np.testing.assert_allclose(np.asarray(model({}, x)), x * np.float32(2.5))


def test_sizes_computed_from_shapes_are_known_under_jit():
    model = jax.onnx.load(parser.parse_model(SHAPES))
    assert model.static_inputs == ()
    assert jax.jit(model)({}, floats(4, 6)).shape == (2, 12)
    assert "div" not in str(jax.make_jaxpr(lambda x: model({}, x))(floats(4, 6)))


def test_errors_name_the_node():
    model = jax.onnx.load(model_of("MatMul", [floats(2, 3), floats(2, 3)]))
    with pytest.raises(TypeError) as caught:
        model({}, floats(2, 3), floats(2, 3))
    assert "This happened in MatMul of an ONNX model." in caught.value.__notes__
    with pytest.raises(jax.errors.OperatorError, match=r"Unheard.* onax\.onnx\.register"):
        jax.onnx.load(model_of("Unheard", [floats(2)]))({}, floats(2))


CHAIN = """
<ir_version: 8, opset_import: ["" : 18]>
chain (float[3] x, bool more) => (float[3] y, float[3] b) {
  a = Exp (x)
  b = Neg (a)
  c = Sin (b)
  d = If (more) <then_branch = one () => (float[3] t) { t = Add (a, c) },
                 else_branch = other () => (float[3] e) { e = Identity (c) }>
  y = Cos (d)
}
"""


DAMAGED = {
    "GridSample": 'g = Constant <value = float[1,1,1,2] {0.0, 0.0}> () y = GridSample <mode = "-inear"> (x, g)',
    "Constant": "c = Constant <value : ints = [1]> () y = Add (x, c)",
    "Split": "y = Split <axis = 1, num_outputs = 0> (x)",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_attributes_that_no_operator_has_are_refused_with_the_node(name):
    text = f'<ir_version: 8, opset_import: ["" : 18]> g (float[1,1,2,2] x) => (float[a,b,c,d] y) {{ {DAMAGED[name]} }}'
    model = jax.onnx.load(parser.parse_model(text))
    for call in (model, jax.jit(model)):
        with pytest.raises(OperatorError, match=f"{name}.* cannot be evaluated: its attributes or inputs"):
            call(model.params, floats(1, 1, 2, 2))


def test_errors_of_a_function_of_ones_own_stay():
    @jax.onnx.register("tests.errors", "Find")
    def find(call, x):
        return {"a": x}["b"]

    head = '<ir_version: 8, opset_import: ["" : 18, "tests.errors" : 1]> '
    text = head + "g (float[2] x) => (float[2] y) { y = tests.errors.Find (x) }"
    with pytest.raises(KeyError) as caught:
        jax.onnx.load(parser.parse_model(text))({}, floats(2))
    assert "This happened in tests.errors.Find of an ONNX model." in caught.value.__notes__


def test_values_are_dropped_after_their_last_use():
    model = jax.onnx.load(parser.parse_model(CHAIN))
    assert [set(names) for names in last_uses(model._file.graph.nodes)] == [set(), set(), {"b"}, {"a", "c"}, {"d", "y"}]
    for more in (True, False):
        x = floats(3)
        y, b = model({}, x, np.bool_(more))
        np.testing.assert_array_equal(np.asarray(b), -np.asarray(jax.numpy.exp(x)))
        c = np.sin(np.asarray(b))
        np.testing.assert_allclose(np.asarray(y), np.cos(np.exp(x) + c if more else c), rtol=1e-5)


def test_eager_runs_do_not_keep_intermediate_values_alive():
    made, most = [], []

    @jax.onnx.register("tests.lifetimes", "Watched")
    def watched(call, x):
        most.append(sum(ref() is not None for ref in made))
        result = x + 1
        made.append(weakref.ref(result))
        return result

    nodes = [helper.make_node("Watched", [f"v{i}"], [f"v{i + 1}"], domain="tests.lifetimes") for i in range(10)]
    ports = [helper.make_tensor_value_info(name, 1, [3]) for name in ("v0", "v10")]
    graph = helper.make_graph(nodes, "chain", ports[:1], ports[1:])
    model = jax.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("tests.lifetimes", 1)]))
    np.testing.assert_array_equal(np.asarray(model({}, np.zeros(3, np.float32))), np.full(3, 10))
    assert max(most) <= 1
