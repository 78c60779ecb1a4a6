"""The pass as a whole: what it leaves of a graph."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax, nn
from onax._transforms.abstract import make_jaxpr
from onax.export.lower.driver import lower_jaxpr
from onax.export.recognize.recognize import FAMILIES
from recognition import model_of

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def test_rules_say_on_which_operators_they_start():
    for family in FAMILIES:
        for op_types, rule in family:
            assert op_types.split() and rule.__doc__


@pytest.mark.parametrize("recognize", [False, True])
def test_formulas_are_built_where_no_rule_takes_them(recognize):
    fun = lambda x: lax.erfc(x) + jnp.log1p(x * x) + x.max(-1, keepdims=True)
    graph = lower_jaxpr(make_jaxpr(fun)(X), opset=21, recognize=recognize)
    assert not any(node.domain for node in graph.nodes)
    assert {"Erf", "Log", "ReduceMax", "IsNaN"} <= {node.op_type for node in graph.nodes}


def test_opsets_are_never_raised():
    for opset in range(18, 27):
        _, exported = model_of(lambda x: nn.gelu(nn.softmax(x)), X, opset=opset)
        (entry,) = [o.version for o in exported.onnx_model.opset_import if o.domain == ""]
        assert entry == opset


def test_models_are_the_same_each_time():
    fun = lambda x: nn.gelu(nn.log_softmax(x)) + nn.softplus(x)
    first, second = (model_of(fun, X)[1].serialize() for _ in range(2))
    assert first == second
