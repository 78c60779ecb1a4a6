"""Weights in Constant nodes and in branches and bodies of loops are parameters."""

import numpy as np
import pytest
from onnx import parser

import onax as jax
from onax import numpy as jnp
from onnx_nodes import floats

HEAD = '<ir_version: 8, opset_import: ["" : 18]> g '
ROWS = "(float[n,3] x, bool c) => (float[n,3] y) "
BRANCHES = (
    ROWS + "<float[3] a = {1.0, 2.0, 3.0}> { y = If (c) <"
    "then_branch = one () => (float[n,3] p) { k = Constant <value = float[3] {2.0, 2.0, 2.0}> () p = Mul (x, k) }, "
    "else_branch = two () => (float[n,3] q) <float[3] b = {4.0, 5.0, 6.0}> { r = Mul (x, b) q = Add (r, a) }> }"
)
LOOP = (
    "(float[3] x) => (float[3] y) { n = Constant <value_int = 4> () t = Constant <value = bool {1}> () "
    "y = Loop (n, t, x) <body = one (int64 i, bool d, float[3] v) => (bool e, float[3] w) "
    "<float[3] b = {0.5, 0.25, 2.0}> { e = Identity (d) w = Mul (v, b) }> }"
)


def load(text):
    return jax.onnx.load(parser.parse_model(HEAD + text))


@pytest.mark.parametrize("attribute", ["value = float[3] {1.0, 2.0, 3.0}", "value_floats = [1.0, 2.0, 3.0]"])
def test_constant_nodes_are_parameters(attribute):
    model, x = (
        load(f"(float[n,3] x) => (float[n,3] y) {{ k = Constant <{attribute}> () y = Mul (x, k) }}"),
        floats(2, 3),
    )
    assert list(model.params) == ["k"]
    gradient = jax.jit(jax.grad(lambda params: jnp.sum(model(params, x))))(model.params)
    np.testing.assert_allclose(np.asarray(gradient["k"]), x.sum(0), rtol=1e-6)


def test_weights_of_branches():
    model, x = load(BRANCHES), floats(2, 3)
    assert list(model.params) == ["a", "k", "b"]
    for c in (True, False):

        def loss(params, c=c):
            return jnp.sum(model(params, x, np.array(c)))

        for gradient in (jax.grad(loss), jax.jit(jax.grad(loss))):
            got = gradient(model.params)
            np.testing.assert_allclose(np.asarray(got["k"]), c * x.sum(0), rtol=1e-6)
            np.testing.assert_allclose(np.asarray(got["b"]), (not c) * x.sum(0), rtol=1e-6)
            assert np.asarray(got["a"]).tolist() == [2 * (not c)] * 3
    traced = jax.jit(lambda params, c: model(params, x, c))
    doubled = {**model.params, "k": 2 * model.params["k"]}
    np.testing.assert_allclose(np.asarray(traced(doubled, True)), 4 * x, rtol=1e-6)


def test_weights_of_the_body_of_a_loop():
    model, x = load(LOOP), np.array([1.0, 2.0, 3.0], np.float32)
    b = np.array([0.5, 0.25, 2.0], np.float32)
    assert list(model.params) == ["b"]
    for gradient in (jax.grad, lambda f: jax.jit(jax.grad(f))):
        got = gradient(lambda params: jnp.sum(model(params, x)))(model.params)
        np.testing.assert_allclose(np.asarray(got["b"]), 4 * b**3 * x, rtol=1e-6)


def test_what_stays_where_it_is():
    """Scalars and integers are no weights, names of several values stay, and what decides a shape is a constant."""
    scalars = "e = Constant <value_float = 0.5> () i = Constant <value = int64[1] {0}> () u = Mul (x, e) "
    model = load(f"(float[n,3] x) => (float[n,m] y) {{ {scalars} y = Gather <axis = 1> (u, i) }}")
    assert not model.params and not model.constants
    two = "Constant <value = float[3] {%d.0, 2.0, 2.0}> ()"
    model, x = (
        load(BRANCHES.replace("<float[3] b = {4.0, 5.0, 6.0}> {", f"{{ k = {two % 4} ").replace("(x, b)", "(x, k)")),
        floats(2, 3),
    )
    assert list(model.params) == ["a"]
    np.testing.assert_allclose(np.asarray(model(model.params, x, np.array(True))), x * 2, rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(model(model.params, x, np.array(False))), x * [4, 2, 2] + [1, 2, 3], rtol=1e-6
    )
    scales = "s = Constant <value = float[2] {1.0, 2.0}> () y = Resize (x, , s)"
    model = load(f"(float[2,3] x) => (float[n,m] y) {{ {scales} }}")
    assert not model.params and list(model.constants) == ["s"]
    assert jax.jit(model)(model.params, floats(2, 3)).shape == (2, 6)
