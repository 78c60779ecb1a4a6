"""Which inputs decide shapes is found when a model is loaded."""

import pytest
from onnx import parser

import onax as jax

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
ROWS = [
    ("g (float[n] x, int64[2] s) => (float[a, b] y) { y = Reshape (x, s) }", ("s",)),
    ("g (float[n] x, int64 n, int64[1] m) => (float[a, b] y) { z = Constant <value = int64[1] {0}> () "
     "u = Unsqueeze (n, z) s = Concat <axis = 0> (u, m) y = Reshape (x, s) }", ("n", "m")),
    ("g (float[n] x, float[k] v) => (float[k] y) { s = Shape (v) y = Expand (x, s) }", ()),
    ("g (bool c, int64[1] a, int64[1] b, float[1] x) => (float[k] y) { s = If (c) <then_branch = t () => (int64[1] p) "
     "{ p = Identity (a) }, else_branch = e () => (int64[1] q) { q = Identity (b) }> y = Expand (x, s) }",
     ("c", "a", "b")),
]  # fmt: skip


@pytest.mark.parametrize("text, names", ROWS)
def test_static_inputs(text, names):
    assert set(jax.onnx.load(parser.parse_model(HEAD + text)).static_inputs) == set(names)


def test_through_functions_of_the_model():
    text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[n] x, int64[1] s) => (float[k] y) { y = own.wide (s, x) }
    <opset_import: ["" : 18], domain: "own"> wide (s, x) => (y) { y = Expand (x, s) }"""
    assert jax.onnx.load(parser.parse_model(text)).static_inputs == ("s",)
