"""Quantized operators give ONNX Runtime's integers."""

import numpy as np
import pytest
from onnx import numpy_helper, parser

import onax
from onnx_nodes import check, floats, integers

SCALE = np.float32(0.05)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16])
def test_linear(dtype):
    check("QuantizeLinear", floats(3, 4, high=9), SCALE, np.array(3, dtype), grad=False)
    check("DequantizeLinear", integers(3, 4, low=0, high=100, dtype=dtype), SCALE, np.array(3, dtype), grad=False)


def test_along_an_axis_and_by_blocks():
    x, scales, zeros = floats(3, 4), floats(4, low=0.02, high=0.1), integers(4, low=0, dtype=np.uint8)
    check("QuantizeLinear", x, scales, zeros, grad=False, axis=1)
    q = integers(3, 4, low=0, high=200, dtype=np.uint8)
    check("DequantizeLinear", q, scales, zeros, grad=False, axis=1)
    blocks, zero_blocks = floats(3, 2, low=0.02, high=0.1), integers(3, 2, low=0, dtype=np.uint8)
    check("DequantizeLinear", q, blocks, zero_blocks, grad=False, axis=1, block_size=2)


def test_dynamic():
    check("DynamicQuantizeLinear", floats(5, 4), outputs=3, grad=False)


def test_matmul():
    x, y = integers(3, 4, low=0, high=200, dtype=np.uint8), integers(4, 2, low=0, high=200, dtype=np.uint8)
    zero = np.uint8(100)
    check("QLinearMatMul", x, SCALE, zero, y, np.float32(0.02), zero, np.float32(0.3), zero, grad=False)


def test_conv():
    x, w = integers(1, 2, 5, 5, low=0, high=200, dtype=np.uint8), integers(3, 2, 3, 3, low=0, high=200, dtype=np.uint8)
    zero, bias = np.uint8(100), integers(3, low=-500, high=500, dtype=np.int32)
    check("QLinearConv", x, SCALE, zero, w, np.float32(0.01), zero, np.float32(0.9), zero, bias, grad=False)
    scales = floats(3, low=0.01, high=0.03)
    check("QLinearConv", x, SCALE, zero, w, scales, np.full(3, 100, np.uint8), np.float32(0.9), zero, grad=False)


QUANTIZED = """
<ir_version: 10, opset_import: ["" : 21]>
quantized (float[n, 8] x) => (float[n, 3] y)
<float w = {0}, float step = {0.05}, int8 zero = {0}, float x_step = {0.02}, uint8 x_zero = {128}>
{
  q = QuantizeLinear (w, step, zero)
  v = DequantizeLinear (q, step, zero)
  xq = QuantizeLinear (x, x_step, x_zero)
  xv = DequantizeLinear (xq, x_step, x_zero)
  y = MatMul (xv, v)
}
"""


def _quantized_network(weights, step=0.05):
    proto = parser.parse_model(QUANTIZED)
    values = {"w": weights, "step": np.float32(step)}
    for tensor in proto.graph.initializer:
        if tensor.name in values:
            tensor.CopyFrom(numpy_helper.from_array(values[tensor.name], tensor.name))
    return proto


def _loss(model, x, wanted):
    return lambda params: onax.numpy.mean((model(params, x) - wanted) ** 2)


def test_fine_tuning_through_quantization():
    x, truth = floats(64, 8), floats(8, 3)
    proto = _quantized_network(np.zeros((8, 3), np.float32))
    model = onax.onnx.load(proto, straight_through=True)
    loss = _loss(model, x, x @ truth)
    step = onax.jit(onax.value_and_grad(loss))
    params, first = model.params, None
    for _ in range(60):
        value, gradient = step(params)
        first = value if first is None else first
        params = {name: params[name] - 0.4 * gradient[name] for name in params}
    # Weights at multiples of the step leave an error of a twelfth of its square for each of the inputs.
    rounding = float(np.mean(np.sum(x**2, 1)) * 0.05**2 / 12)
    assert float(value) < 4 * rounding < 0.1 * float(first)
    plain = onax.onnx.load(proto)
    assert all(not np.asarray(g).any() for g in onax.grad(_loss(plain, x, x @ truth))(plain.params).values())
    np.testing.assert_array_equal(np.asarray(model(params, x)), np.asarray(plain(params, x)))


def test_straight_through_gradients_end_at_the_range_and_scales_learn():
    """The gradient of a step is round(w / step) - w / step inside, the end of the range outside."""
    w = np.array([[0.12, -0.03, 9.0]] * 8, np.float32)
    chosen = lambda name, a: name in ("w", "step")
    model = onax.onnx.load(_quantized_network(w), straight_through=True, params=chosen)
    x = np.full((1, 8), 0.5, np.float32)
    total = lambda params: onax.numpy.sum(model(params, x)[:, :])
    gradient = onax.grad(total)(model.params)
    np.testing.assert_allclose(np.asarray(gradient["w"])[0], [0.5, 0.5, 0], atol=1e-6)
    y = w[0] / np.float32(0.05)
    slope = np.where(y > 127, 127, np.round(y) - y)
    np.testing.assert_allclose(np.asarray(gradient["step"]), 8 * 0.5 * slope.sum(), rtol=1e-4)
