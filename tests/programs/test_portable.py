"""Functions that exporters get wrong: right in ONNX Runtime and in onnx's reference evaluator, at several opsets."""

import numpy as np
import onnx
import pytest

import onax as jax
from onax._ground.errors import LoweringError
from onax.export import checks, export
from portable_cases import CASES, agree, eager


def exported_case(name):
    """(Exported, arguments, flat eager results) in the default opset."""
    function, arrays, wanted = eager(name)
    return export(function)(*arrays), arrays, wanted


# What onnx's own evaluator (1.23) does not do.
FORWARD_ONLY = "it scans forward only"
NO_CROPPING = "its Pad takes no negative numbers"
REFERENCE_FAULTS = {
    **dict.fromkeys(("grad_scan", "grad_of_grad_scan", "hessian", "reverse_scan"), FORWARD_ONLY),
    **dict.fromkeys(("grad_cumulative", "associative_scan"), NO_CROPPING),
}


def reference_cases():
    """Names of all cases; those that the evaluator cannot do must fail as they are known to."""
    found = []
    for name in CASES:
        fault = REFERENCE_FAULTS.get(name)
        marks = [pytest.mark.xfail(strict=True, reason=fault, raises=(RuntimeError, ValueError))] if fault else []
        found.append(pytest.param(name, marks=marks))
    return found


@pytest.mark.parametrize("name", CASES)
def test_in_onnx_runtime(name):
    exported, arrays, wanted = exported_case(name)
    onnx.checker.check_model(exported.onnx_model, full_check=True)
    assert {o.domain for o in exported.onnx_model.opset_import} == {""}
    agree([np.asarray(x) for x in jax.tree.leaves(exported.call(*arrays))], wanted, name)


@pytest.mark.parametrize("name", reference_cases())
def test_in_the_reference_evaluator(name):
    exported, arrays, wanted = exported_case(name)
    agree(checks.run_way("reference", exported, arrays, {}), wanted, name)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opset", [18, 26])
def test_at_the_ends_of_the_range_of_opsets(name, opset):
    function, arrays, wanted = eager(name)
    try:
        exported = export(function, opset=opset)(*arrays)
    except LoweringError as error:
        assert "opset" in str(error)  # says which opset has a form
        return
    agree([np.asarray(x) for x in jax.tree.leaves(exported.call(*arrays))], wanted, name)
