"""Control flow becomes cond, while_loop and scan."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

import onax as jax
import onax.numpy as jnp
from onnx_nodes import as_tuple

BRANCHES = """
<ir_version: 8, opset_import: ["" : 18]>
branches (bool c, float[3] x) => (float[3] y) {
  y = If (c) <then_branch = one () => (float[3] a) { a = Sin (x) },
              else_branch = two () => (float[3] b) { b = Neg (x) }>
}
"""
LOOP = """
<ir_version: 8, opset_import: ["" : 18]>
loop (int64 n, bool go, float[3] x) => (float[3] y) {
  y = Loop (n, go, x) <body = step (int64 i, bool c, float[3] v) => (bool d, float[3] w) {
    f = Cast <to = 1> (i)
    u = Mul (v, v)
    w = Add (u, f)
    s = ReduceSum <keepdims = 0> (w)
    limit = Constant <value_float = 50.0> ()
    d = Less (s, limit)
  }>
}
"""
STACKS = """
<ir_version: 8, opset_import: ["" : 18]>
stacks (int64 n, float[3] x) => (float[3] y, float[k, 3] ys) {
  go = Constant <value = bool {1}> ()
  y, ys = Loop (n, go, x) <body = step (int64 i, bool c, float[3] v) => (bool d, float[3] w, float[3] z) {
    d = Identity (c)
    w = Add (v, v)
    z = Identity (w)
  }>
}
"""
SCAN = """
<ir_version: 8, opset_import: ["" : 18]>
scan (float[3] x, float[4, 3] xs) => (float[3] y, float[4, 3] ys) {
  y, ys = Scan <num_scan_inputs = 1, scan_input_directions = [1],
                body = step (float[3] s, float[3] e) => (float[3] t, float[3] o) {
    t = Add (s, e)
    o = Mul (s, e)
  }> (x, xs)
}
"""
X = np.array([0.5, -1.0, 2.0], np.float32)
XS = np.arange(12, dtype=np.float32).reshape(4, 3)
CASES = [
    (BRANCHES, (np.array(True), X)),
    (BRANCHES, (np.array(False), X)),
    (LOOP, (np.array(3), np.array(True), X)),
    (LOOP, (np.array(9), np.array(True), X)),
    (LOOP, (np.array(9), np.array(False), X)),
    (STACKS, (np.array(4), X)),
    (STACKS, (np.array(0), X)),
    (SCAN, (X, XS)),
]


@pytest.mark.parametrize("text, inputs", CASES)
def test_agrees_with_onnx_runtime(text, inputs):
    message = parser.parse_model(text)
    onnx.checker.check_model(message)
    names = [port.name for port in message.graph.input]
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    answers = session.run(None, dict(zip(names, inputs)))
    model = jax.onnx.load(message)
    calls = [model]
    if text is not STACKS:
        calls.append(lambda params, *values: jax.jit(lambda *v: model(params, *v))(*values))
    for call in calls:
        for got, answer in zip(as_tuple(call(model.params, *inputs)), answers):
            np.testing.assert_allclose(np.asarray(got), answer, rtol=1e-6)


def test_gradients_go_through_branches_and_scans():
    for text, inputs in ((BRANCHES, (np.array(True), X)), (SCAN, (X, XS))):
        model = jax.onnx.load(parser.parse_model(text))
        rest = [x for x in inputs if x is not X]

        def loss(x, model=model, inputs=inputs):
            values = [x if value is X else value for value in inputs]
            return sum(jnp.sum(y) for y in as_tuple(model({}, *values)))

        jax.test_util.check_grads(jax.jit(loss), (X,), order=1, modes=["rev"], atol=2e-2, rtol=2e-2, eps=1e-2)
        assert len(rest) == 1


def test_a_traced_number_of_stacked_steps_is_refused():
    model = jax.onnx.load(parser.parse_model(STACKS))
    with pytest.raises(jax.errors.OperatorError, match="must be known while the program is traced"):
        jax.jit(model)({}, np.array(4), X)
