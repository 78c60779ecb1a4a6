"""The tests that onnx publishes for backends, by its own runner: each model eagerly, and under jit.

Inputs that decide shapes (`model.static_inputs`) are static under jit.
"""

import re
import warnings

import numpy as np
import pytest
from onnx.backend import base
from onnx.backend.test import BackendTest

import onax as jax

# Why tests are left out: pattern of their names -> reason.
EVERYWHERE = {
    r"test_.*(string|strnorm|regex|tfidf|label_encoder)": "onax has no arrays of strings",
    r"test_(cast|castlike|equal)_.*STRING": "onax has no arrays of strings",
    r"test_.*(sequence(?!_lens)|split_to_sequence|identity_sequence|seq)(?!.*(rnn|gru|lstm))": "onax has no sequences",
    r"test_(optional|identity_opt|if_opt|loop16|loop13|range_float_type_positive_delta_seq)": "no optional values",
    r"test_ai_onnx_ml": "classical machine learning is another domain",
    r"test_(adagrad|adam|momentum|nesterov|gradient_of)": "training operators: onax.grad is there instead",
    r"test_image_decoder": "onax does not decode pictures",
    r"test_.*E8M0": "onax does not round to float8_e8m0fnu",
    r"test_(training_dropout(?!.*zero)|bernoulli(?!.*_expanded_x))": "the random bits are onax's own",
}
UNDER_JIT = {
    r"test_range_.*expanded": "their definition stacks a number of rows that is known only at run time",
    r"test_loop11": "its condition, which is known only at run time, decides how many rows are stacked",
}
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


def cases(jit):
    """Name -> test class, without the tests that are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests' own arithmetic overflows on purpose
        tests = BackendTest(backend(jit), __name__, LOOSE)
    for pattern in {**EVERYWHERE, **(UNDER_JIT if jit else {})}:
        tests.exclude(pattern)
    found = tests.test_cases
    for test in found.values():
        for name in [name for name in vars(test) if name.startswith("test")]:
            if name.endswith("_cuda") or OLD.match(name):
                delattr(test, name)
            elif any(model in name for model in SLOW):
                setattr(test, name, pytest.mark.slow(getattr(test, name)))
    return found


for _jit in (False, True):
    for _name, _case in cases(_jit).items():
        _name = f"{_name}{'UnderJit' if _jit else 'Eagerly'}"
        globals()[_name] = type(_name, (_case,), {})
del _case
