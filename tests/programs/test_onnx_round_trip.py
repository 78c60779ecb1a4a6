"""Functions that exporters get wrong, exported and loaded again: the loaded model gives the function's results."""

import numpy as np
import pytest

import onax as jax
from onax.errors import LoweringError
from portable_cases import CASES, agree, eager

# Cases whose slices begin where the arguments say: their sizes are not known while a program is traced.
ONLY_EAGERLY = {"dynamic_slices", "qr_batched", "general_eigenvalues", "grad_general_eigenvalues"}


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
    if name in ONLY_EAGERLY:
        with pytest.raises(jax.errors.OperatorError, match="because it decides a shape"):
            jax.jit(call)(*args)
    else:
        agree([np.asarray(x) for x in jax.tree.leaves(jax.jit(call)(*args))], wanted, name)
