"""Slices and ranges run under jit where the difference of their bounds is known, though the bounds are not."""

import numpy as np
import pytest
from onnx import parser

import onax
import onax.numpy as jnp
from onax.errors import OperatorError

X = np.arange(24.0, dtype=np.float32).reshape(4, 6)
HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
CONSTANTS = "<int64 one = {1}, int64 two = {2}, int64[1] axis = {1}, int64[1] zero = {0}>"
# name: (nodes that compute starts s, ends e, axes a and steps t from i; the same in NumPy)
WINDOWS = {
    "sum": ("j = Add (i, two) s = Unsqueeze (i, zero) e = Unsqueeze (j, zero)", lambda x, i: x[:, i : i + 2]),
    "before": ("j = Sub (i, one) s = Unsqueeze (j, zero) e = Unsqueeze (i, zero)", lambda x, i: x[:, i - 1 : i]),
    "multiple": (
        "j = Mul (i, two) k = Add (j, two) l = Neg (k) m = Neg (l) s = Unsqueeze (j, zero) e = Unsqueeze (m, zero)",
        lambda x, i: x[:, 2 * i : 2 * i + 2],
    ),
    "computed size": (
        "h = Shape (x) q = Gather (h, zero) p = Div (q, two) s = Unsqueeze (i, zero) e = Add (p, s)",
        lambda x, i: x[:, i : i + 2],
    ),
    "other dtype": (
        "k = Cast <to = 6> (i) c = Cast <to = 6> (two) j = Add (k, c) u = Unsqueeze (k, zero) v = Unsqueeze (j, zero) "
        "s = Cast <to = 7> (u) e = Cast <to = 7> (v)",
        lambda x, i: x[:, i : i + 2],
    ),
}


def window(nodes):
    return parser.parse_model(
        f"{HEAD} cut (float[4,6] x, int64 i) => (float[n,m] y) {CONSTANTS} {{ {nodes} y = Slice (x, s, e, axis) }}"
    )


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    nodes, function = WINDOWS[name]
    model = onax.onnx.load(window(nodes))
    assert model.static_inputs == ()
    for i in (1, 2):
        want = function(X, i)
        for call in (model, onax.jit(model), onax.jit(onax.checkpoint(model))):
            np.testing.assert_array_equal(np.asarray(call({}, X, np.int64(i))), want)
    batched = onax.vmap(model, in_axes=(None, None, 0))({}, X, np.array([1, 2]))
    np.testing.assert_array_equal(np.asarray(batched), [function(X, 1), function(X, 2)])
    gradient = onax.jit(onax.grad(lambda x, i: jnp.sum(model({}, x, i) ** 2)))(X, np.int64(1))
    marked = np.zeros_like(X)
    function(marked, 1)[...] = 1
    np.testing.assert_array_equal(np.asarray(gradient), 2 * X * marked)


TWO_AXES = f"""{HEAD} cut (float[4,6] x, int64 i) => (float[n,m] y)
<int64 one = {{1}}, int64 k = {{3}}, int64[1] zero = {{0}}, int64[2] axes = {{0, 1}}, int64[2] steps = {{1, -2}}> {{
  j = Add (i, one) b = Add (i, k) i1 = Unsqueeze (i, zero) j1 = Unsqueeze (j, zero) b1 = Unsqueeze (b, zero)
  s = Concat <axis = 0> (i1, b1) e = Concat <axis = 0> (j1, i1)
  y = Slice (x, s, e, axes, steps) }}"""


def test_steps_and_several_axes():
    model = onax.onnx.load(parser.parse_model(TWO_AXES))
    assert model.static_inputs == ()
    for i in (0, 2):
        want = X[i : i + 1, i + 3 : i : -2]
        for call in (model, onax.jit(model)):
            np.testing.assert_array_equal(np.asarray(call({}, X, np.int64(i))), want)


def test_a_window_beyond_the_array_is_moved_into_it_under_jit():
    model = onax.onnx.load(window(WINDOWS["sum"][0]))
    np.testing.assert_array_equal(np.asarray(model({}, X, np.int64(5))), X[:, 5:])
    np.testing.assert_array_equal(np.asarray(onax.jit(model)({}, X, np.int64(5))), X[:, 4:])


RANGE = f"""{HEAD} places (int64 i, float[4] x) => (int64[n] y) <int64 four = {{4}}, int64 two = {{2}}> {{
  j = Add (i, four) y = Range (i, j, two) }}"""


def test_ranges():
    model = onax.onnx.load(parser.parse_model(RANGE))
    assert model.static_inputs == ()
    for call in (model, onax.jit(model)):
        assert np.asarray(call({}, np.int64(7), X[0, :4])).tolist() == [7, 9]


UNKNOWN = {
    "n_cut = Slice (x, s, e, axis)": "Slice",
    "h = Unsqueeze (i, zero) n_cut = Slice (x, zero, h, axis)": "Slice",
    "w = Range (zero0, i, one) n_cut = Cast <to = 1> (w)": "Range",
}


@pytest.mark.parametrize("nodes", UNKNOWN)
def test_unknown_sizes_are_refused_with_node_reason_and_way_out(nodes):
    text = f"""{HEAD} cut (float[4,6] x, int64 i, int64[1] s, int64[1] e) => (float[n,m] n_cut)
    <int64 one = {{1}}, int64 zero0 = {{0}}, int64[1] zero = {{0}}, int64[1] axis = {{1}}> {{ {nodes} }}"""
    message = parser.parse_model(text)
    for node in message.graph.node:
        node.name = f"the {node.op_type}"
    model = onax.onnx.load(message)
    assert model.static_inputs
    arguments = X, np.int64(3), np.array([1]), np.array([3])
    eager = np.asarray(model({}, *arguments))
    words = rf"{UNKNOWN[nodes]} \(node 'the {UNKNOWN[nodes]}'\).*size.*known size.*static_argnames.*without jit"
    with pytest.raises(OperatorError, match=words):
        onax.jit(model)({}, *arguments)
    static = {name: value for name, value in zip("xise", arguments) if name in model.static_inputs}
    traced = {name: value for name, value in zip("xise", arguments) if name not in static}
    got = onax.jit(lambda traced: model({}, **traced, **static))(traced)
    np.testing.assert_array_equal(np.asarray(got), eager)
