"""Graphs are evaluated node by node: functions of the model, known values, errors that name the node."""

import numpy as np
import pytest
from onnx import parser

import onax as jax
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
