"""The tests that onnx publishes for backends, by its own runner: each model eagerly, and under jit.

Inputs that decide shapes (`model.static_inputs`) are static under jit.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import onnx.backend.test
import onnxruntime
import pytest
from onnx import numpy_helper
from onnx.backend import base
from onnx.backend.test import BackendTest

import onax as jax
from onax.errors import OperatorError

# Why tests of nodes are left out: pattern of their names -> reason.  The first ones are no part of the promise.
SEQUENCES = "onax has no sequences"
BEYOND = {
    r"test_(strnormalizer|regex_full|string_|tfidfvectorizer|equal_string)": "onax has no arrays of strings",
    r"test_(if_seq|if_opt|identity_opt|loop13_seq|loop16_seq|sequence_|split_to_sequence|identity_sequence)": SEQUENCES,
    r"test_optional_get_element_(optional_)?sequence": SEQUENCES,
    r"test_ai_onnx_ml_": "classical machine learning (ai.onnx.ml) is another domain",
    r"test_(adagrad|adam|momentum|nesterov_momentum)": "training operators: `onax.grad` is there instead",
}
RANDOM = "test_(training_dropout_(default|mask|cpu)|bernoulli_)"
LEFT_OUT = {
    r"test_image_decoder": "onax does not decode pictures",
    RANDOM: "the random bits are onax's own",
}
OTHER_MODELS = "test_sequence_model|test_strnorm_model|test_gradient_of"  # left out for the same reasons
DOCUMENTATION = Path(__file__).parents[2] / "docs/loading-onnx.md"
PROMISED = 0.97  # of the tests of nodes that are not beyond what onax is for
# Sums of sines that cancel to zero: the test asks for 1e-7, which no other order of summation gives.
LOOSE = {f"test_dft{name}": {"atol": 1e-5} for name in ("", "_axis", "_opset19", "_axis_opset19")}
OLD = re.compile("test_operator_|test_[A-Z]")  # models of opset 6, which is before onax's first
SLOW = "vgg19 bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 zfnet512".split()


class Prepared(base.BackendRep):
    """A loaded model."""

    def __init__(self, model, jit):
        self.model = model
        self.jit = jit

    def run(self, inputs, **kwargs):
        model, key = self.model, jax.random.key(0)
        given = dict(zip([value.name for value in model.inputs], inputs))
        static = {name: given.pop(name) for name in model.static_inputs}

        def call(traced):
            return model.apply(model.params, (), {**traced, **static}, key=key)

        with jax.enable_x64(True):
            results = (jax.jit(call) if self.jit else call)(given)
        return [np.asarray(y) for y in (results if isinstance(results, tuple) else (results,))]


def backend(jit):
    """The class that onnx's runner asks for models."""

    class Backend(base.Backend):
        @classmethod
        def prepare(cls, model, device="CPU", **kwargs):
            return Prepared(jax.onnx.load(model), jit)

        @classmethod
        def supports_device(cls, device):
            return device == "CPU"

    return Backend


def all_cases(jit):
    """The runner's tests: name -> test class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests' own arithmetic overflows on purpose
        return BackendTest(backend(jit), __name__, LOOSE)


def cases(jit):
    """Name -> test class, without the tests that are left out."""
    tests = all_cases(jit)
    for pattern in (*BEYOND, *LEFT_OUT, OTHER_MODELS):
        tests.exclude(pattern)
    found = tests.test_cases
    for test in found.values():
        for name in [name for name in vars(test) if name.startswith("test")]:
            if name.endswith("_cuda") or OLD.match(name):
                delattr(test, name)
            elif any(model in name for model in SLOW):
                setattr(test, name, pytest.mark.slow(getattr(test, name)))
    return found


def node_tests(jit):
    """{name: test case} of the tests of nodes, none left out."""
    test = all_cases(jit).test_cases["OnnxBackendNodeModelTest"]
    return {name: test(name) for name in vars(test) if name.startswith("test") and name.endswith("_cpu")}


def listed():
    """{reason: names of the tests of nodes that are left out for it}."""
    result = {}
    for name in node_tests(False):
        for pattern, reason in {**BEYOND, **LEFT_OUT}.items():
            if re.match(pattern, name):
                result.setdefault(reason, []).append(name)
    return result


@pytest.mark.parametrize("jit", [False, True])
def test_what_is_left_out_fails_for_its_reason(jit):
    """With the tests that pass below this says that the lists are complete and true, and how many tests pass."""
    tests, reasons = node_tests(jit), listed()
    assert reasons.keys() == {*BEYOND.values(), *LEFT_OUT.values()}
    names = [name for group in reasons.values() for name in group]
    assert len(names) == len(set(names))
    for reason, group in reasons.items():
        kind = AssertionError if reason == LEFT_OUT[RANDOM] else OperatorError
        if jit and reason in BEYOND.values():
            kind = OperatorError, TypeError  # jit refuses arrays of strings itself
        for name in group:
            with pytest.raises(kind):
                tests[name].debug()
    promised = len(tests) - sum(len(reasons[reason]) for reason in set(BEYOND.values()))
    assert len(tests) - len(names) >= PROMISED * promised


def test_the_documentation_lists_what_is_left_out():
    text = DOCUMENTATION.read_text()
    section = text[text.index("<!-- left out") : text.index("<!-- end -->")]
    assert section.splitlines()[1:] == documented()


def documented():
    """The lines of the documentation that list the tests which are left out."""
    lines = []
    for reason, names in listed().items():
        shown = ", ".join(f"`{name.removeprefix('test_').removesuffix('_cpu')}`" for name in sorted(names))
        lines.append(f"- {reason} ({len(names)}): {shown}.")
    return lines


LIGHT = sorted(Path(onnx.backend.test.__file__).parent.glob("data/light/*.onnx"))


def with_drawn_weights(message):
    """The model with random weights, of which its nodes ConstantOfShape make equal numbers."""
    rng, graph = np.random.default_rng(2), message.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    scales = {n.input[i] for n in graph.node if n.op_type == "BatchNormalization" for i in (1, 4)}
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shape = shapes[node.input[0]]
            weights = rng.normal(size=shape) / np.sqrt(max(np.prod(shape[1:]), 10))
            if node.output[0] in scales:
                weights = rng.uniform(0.5, 1.5, shape)
            graph.initializer.append(numpy_helper.from_array(weights.astype(np.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(nodes)
    return message


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [False, True], ids=["of the file", "drawn"])
@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_real_models_give_the_numbers_of_onnx_runtime(path, drawn):
    message = with_drawn_weights(onnx.load(path)) if drawn else onnx.load(path)
    model = jax.onnx.load(message)
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    inputs = {value.name: rng.uniform(-1, 1, value.shape).astype(value.dtype) for value in model.inputs}
    answers = session.run(None, inputs)
    if drawn:
        assert np.ptp(answers[0]) > 1e-4
    for call in (model, jax.jit(model)):
        results = call(model.params, **inputs)
        for got, answer in zip(results if isinstance(results, tuple) else (results,), answers):
            np.testing.assert_allclose(np.asarray(got), answer, rtol=1e-4, atol=1e-6)


def test_real_models_are_those_of_the_package():
    names = [path.stem.removeprefix("light_") for path in LIGHT]
    assert set(SLOW) <= set(names) and {"shufflenet", "squeezenet"} <= set(names)


for _jit in (False, True):
    for _name, _case in cases(_jit).items():
        _name = f"{_name}{'UnderJit' if _jit else 'Eagerly'}"
        globals()[_name] = type(_name, (_case,), {})
del _case
