"""A graph cannot raise: checks are refused, and checkify's results lower."""

import numpy as np
import pytest

import onax
from onax.experimental import checkify
from onax.export import export


def checked(x):
    checkify.check(x > 0, "not positive")
    return x + 1


def test_a_check_is_refused_with_the_advice_to_checkify():
    with pytest.raises(ValueError, match="without functionalizing it through"):
        export(onax.jit(checked))(np.float32(1))


def test_a_debug_check_is_left_out():
    def f(x):
        checkify.debug_check(x > 0, "not positive")
        return x + 1

    exported = export(onax.jit(f))(np.float32(1))
    assert [node.op_type for node in exported.onnx_model.graph.node] == ["Add"]
