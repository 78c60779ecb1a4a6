"""Functions that exporters get wrong, exported and loaded again: the loaded model gives the function's results."""

import numpy as np
import pytest

import onax as jax
from onax.errors import LoweringError
from portable_cases import CASES, agree, eager


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name):
    function, args, wanted = eager(name)
    try:
        exported = jax.export.export(jax.jit(function))(*args)
    except LoweringError as error:
        pytest.skip(f"it has no form in the default opset: {str(error).splitlines()[0]}")
    model = jax.onnx.load(exported.onnx_model_serialized)

    def call(*args):
        return model(model.params, *args)

    agree([np.asarray(x) for x in jax.tree.leaves(call(*args))], wanted, name)
    agree([np.asarray(x) for x in jax.tree.leaves(jax.jit(call)(*args))], wanted, name)
