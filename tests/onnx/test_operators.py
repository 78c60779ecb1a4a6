"""The table of operators: versions, attributes, operators of a user's own."""

import re
from pathlib import Path

import numpy as np
import pytest

import onax as jax
from onax.onnx import operators
from onnx_nodes import floats, model_of


@pytest.fixture
def own_domain():
    yield "com.example.tests"
    for key in [key for key in operators._operators if key[0] == "com.example.tests"]:
        del operators._operators[key]


def test_registered(own_domain):
    @jax.onnx.register(own_domain, "ScaledShift")
    def scaled_shift(call, x, shift, extra=None):
        assert extra is None
        return x * call.get("scale", 1.0) + shift * call["must"]

    x, y = floats(3), floats(3)
    model = jax.onnx.load(model_of("ScaledShift", [x, y], domain=own_domain, scale=2.0, must=3))
    np.testing.assert_allclose(np.asarray(jax.jit(model)({}, x, y)), x * 2 + y * 3, rtol=1e-6)
    gradient = jax.grad(lambda x: model({}, x, y).sum())(x)
    np.testing.assert_array_equal(np.asarray(gradient), np.full(3, 2, np.float32))
    lacking = jax.onnx.load(model_of("ScaledShift", [x, y], domain=own_domain))
    with pytest.raises(jax.errors.OperatorError, match="has no attribute 'must'"):
        lacking({}, x, y)


def test_a_registered_function_that_returns_nothing(own_domain):
    @jax.onnx.register(own_domain, "Forgotten")
    def forgotten(call, x):
        x * 2

    model = jax.onnx.load(model_of("Forgotten", [floats(2)], domain=own_domain))
    with pytest.raises(jax.errors.OperatorError, match=r"Forgotten.*returned None"):
        model({}, floats(2))


def test_static_inputs_are_ndarrays(own_domain):
    @jax.onnx.register(own_domain, "Repeat", static=(1,))
    def repeat(call, x, count):
        assert type(count) is np.ndarray
        return jax.numpy.concatenate([x] * int(count))

    model = jax.onnx.load(model_of("Repeat", [floats(2), np.array(3)], domain=own_domain))
    assert model.static_inputs == ("x1",) and model({}, floats(2), 3).shape == (6,)


def test_the_version_of_the_domain_decides(own_domain):
    for since in (5, 1, 3):
        operators.operator("Which", since=since, domain=own_domain)(lambda call, since=since: since)
    found = [operators.find_operator(own_domain, "Which", version) for version in range(7)]
    assert [None if operator is None else operator.since for operator in found] == [None, 1, 1, 3, 3, 5, 5]


ROOT = Path(__file__).parents[2]
LOWER, READ = ROOT / "export/lower", ROOT / "pkg/onax/onnx"


@pytest.mark.parametrize("path", sorted(READ.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_each_family_names_the_file_of_the_other_direction(path):
    """A family lies in files of one name in both packages, or names the recognition that writes its operators."""
    named = re.findall(r"The other direction: (.*)\.$", path.read_text(), re.M)
    assert bool(named) or not (LOWER / path.name).exists()
    for group in named:
        for other in re.findall("`(.*?)`", group):
            assert f"The other direction: `pkg/onax/onnx/{path.name}`." in (ROOT / other).read_text()
