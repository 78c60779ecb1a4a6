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


COUNTED = """
<ir_version: 8, opset_import: ["" : 18]>
counted (float[3] x) => (float[3] y, float[5, 3] ys) <int64 n = {5}, bool go = {1}, float[3] w = {1.0, 2.0, 3.0}> {
  y, ys = Loop (n, go, x) <body = step (int64 i, bool c, float[3] v) => (bool d, float[3] u, float[3] z) {
    d = Identity (c)
    f = Cast <to = 1> (i)
    a = Mul (w, v)
    b = Sin (a)
    u = Add (b, f)
    z = Mul (v, x)
  }>
}
"""


def counted(x, w):
    """What COUNTED computes."""

    def step(v, i):
        return jnp.sin(w * v) + i, v * x

    return jax.lax.scan(step, x, jnp.arange(5, dtype=jnp.float32))


def test_loops_of_known_length_are_scans_with_gradients():
    model = jax.onnx.load(parser.parse_model(COUNTED))
    w = model.params["w"]
    for call in (model, jax.jit(model)):
        for got, want in zip(call(model.params, X), counted(X, w)):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)
    assert "scan" in [eqn.primitive.name for eqn in jax.make_jaxpr(model)(model.params, X).eqns]

    def loss(x, w, call=model):
        return sum(jnp.sum(y * y) for y in call({"w": w}, x))

    want = jax.grad(lambda x, w: sum(jnp.sum(y * y) for y in counted(x, w)), (0, 1))(X, w)
    for gradient in (jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1)))):
        for got, expected in zip(gradient(X, w), want):
            np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-5)


GROWING = """
<ir_version: 8, opset_import: ["" : 18]>
growing (float[3] x) => (float[n] y) <int64 n = {3}, bool go = {1}, int64[1] one = {1}> {
  y = Loop (n, go, x) <body = step (int64 i, bool c, float[m] v) => (bool d, float[k] w) {
    d = Identity (c)
    j = Add (i, one)
    t = Tile (v, j)
    w = Concat <axis = 0> (t, x)
  }>
}
"""


def test_loops_of_changing_shapes_run_step_by_step():
    model = jax.onnx.load(parser.parse_model(GROWING))
    want = X
    for i in range(3):
        want = np.concatenate([np.tile(want, i + 1), X])
    for call in (model, jax.jit(model)):
        np.testing.assert_array_equal(np.asarray(call({}, X)), want)
    gradient = jax.grad(lambda x: jnp.sum(model({}, x)))(X)
    np.testing.assert_array_equal(np.asarray(gradient), np.full(3, want.size / 3))


BATCHES = """
<ir_version: 4, opset_import: ["" : 8]>
scan (int64[2] lengths, float[2, 3] x, float[2, 4, 3] xs) => (float[2, 3] y, float[2, 4, 3] ys) {
  y, ys = Scan <num_scan_inputs = 1, directions = [D],
                body = step (float[3] s, float[3] e) => (float[3] t, float[3] o) {
    t = Add (s, e)
    o = Mul (s, e)
  }> (lengths, x, xs)
}
"""


def test_scans_of_opset_8():
    x, xs = np.stack([X, -X]), np.stack([XS, XS + 1])
    model = jax.onnx.load(parser.parse_model(BATCHES.replace("[D]", "[0]")))
    for lengths in ([4, 4], [2, 3]):
        y, ys = jax.jit(model)({}, np.array(lengths), x, xs)
        for b, n in enumerate(lengths):
            np.testing.assert_allclose(np.asarray(y)[b], x[b] + xs[b, :n].sum(0), rtol=1e-6)
            sums = x[b] + np.concatenate([np.zeros((1, 3), np.float32), np.cumsum(xs[b, : n - 1], 0)])
            np.testing.assert_allclose(np.asarray(ys)[b, :n], sums * xs[b, :n], rtol=1e-5)
    whole = parser.parse_model(
        BATCHES.replace("[D]", "[1]").replace("int64[2] lengths, ", "").replace("(lengths", '(""')
    )
    y, _ = jax.onnx.load(whole)({}, x, xs)
    np.testing.assert_allclose(np.asarray(y), x + xs.sum(1), rtol=1e-6)


DRAWS = """
<ir_version: 8, opset_import: ["" : 18]>
draws (bool c, float[3] x) => (float[3] y, float[2, 3] ys, float[3] z) <int64 n = {2}, bool go = {1}> {
  y = If (c) <then_branch = one () => (float[3] a) { a = RandomNormalLike (x) },
              else_branch = two () => (float[3] b) { b = RandomUniformLike (x) }>
  e, ys = Loop (n, go, x) <body = step (int64 i, bool c, float[3] v) => (bool d, float[3] w, float[3] u) {
    d = Identity (c)
    w = Identity (v)
    u = RandomNormalLike (x)
  }>
  z = RandomNormalLike (x)
}
"""


def test_draws_in_branches_and_loops_are_those_of_eager_evaluation():
    model, key = jax.onnx.load(parser.parse_model(DRAWS)), jax.random.key(3)
    for c in (np.array(True), np.array(False)):
        eager = model({}, c, X, key=key)
        traced = jax.jit(lambda c, x: model({}, c, x, key=key))(c, X)
        rows = [np.asarray(v).reshape(-1, 3) for v in eager]
        for got, want in zip(traced, eager):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)
        assert len({tuple(row) for row in np.concatenate(rows).tolist()}) == 4


def test_rows_of_a_number_that_is_not_known_are_refused():
    model = jax.onnx.load(parser.parse_model(STACKS))
    assert model.static_inputs == ("n",)
    with pytest.raises(jax.errors.OperatorError, match=r"Loop.*'n'.*decides a shape.*static_argnames.*without jit"):
        jax.jit(model)({}, np.array(4), X)
    assert jax.jit(lambda x: model({}, np.array(4), x))(X)[1].shape == (4, 3)
    text = STACKS.replace("d = Identity (c)", "s = ReduceSum <keepdims = 0> (v) z0 = Constant <value_float = 9.0> () "
                          "d = Less (s, z0)")  # fmt: skip
    ends = jax.onnx.load(parser.parse_model(text))
    assert ends({}, np.array(9), X)[1].shape == (4, 3)
    with pytest.raises(jax.errors.OperatorError, match=r"Loop.*rows.*condition that is not known.*without jit"):
        jax.jit(lambda x: ends({}, np.array(9), x))(X)


OPTIONAL = """
<ir_version: 10, opset_import: ["" : 18]>
chosen (optional(float[3]) x, float[3] z) => (float[3] y) {
  has = OptionalHasElement (x)
  y = If (has) <then_branch = one () => (float[3] a) { b = OptionalGetElement (x) a = Sin (b) },
                else_branch = two () => (float[3] c) { c = Neg (z) }>
}
"""
DYNAMIC = """
<ir_version: 10, opset_import: ["" : 18]>
chosen (bool c, float[3] x) => (float[3] y) {
  e = If (c) <then_branch = one () => (optional(float[3]) a) { a = Optional (x) },
              else_branch = two () => (optional(float[3]) b) { b = Optional () }>
  y = OptionalGetElement (e)
}
"""


def test_optional_values():
    model = jax.onnx.load(parser.parse_model(OPTIONAL))
    z = X + 1
    for call in (model, jax.jit(model)):
        np.testing.assert_allclose(np.asarray(call({}, X, z)), np.sin(X), rtol=1e-6)
        np.testing.assert_array_equal(np.asarray(call({}, None, z)), -z)
        np.testing.assert_array_equal(np.asarray(call({}, z=z)), -z)


def test_optional_values_that_stay_dynamic_are_refused():
    message = parser.parse_model(DYNAMIC)
    for node in message.graph.node:
        node.name = f"the {node.op_type}"
    for branch in message.graph.node[0].attribute:
        if branch.g.name == "two":
            branch.g.node[0].attribute.add(
                name="type", type=onnx.AttributeProto.TYPE_PROTO
            ).tp.tensor_type.elem_type = 1
    model = jax.onnx.load(message)
    np.testing.assert_array_equal(np.asarray(model({}, np.array(True), X)), X)
    with pytest.raises(jax.errors.OperatorError, match=r"OptionalGetElement \(node .*the optional value is not there"):
        model({}, np.array(False), X)
    with pytest.raises(jax.errors.OperatorError, match=r"If \(node 'the If'\).*optional.*without jit"):
        jax.jit(model)({}, np.array(True), X)
