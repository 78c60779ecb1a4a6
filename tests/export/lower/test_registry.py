"""Attaching lowerings: one node, decompositions, refusals, components; what a primitive has."""

import numpy as np
import pytest

import onax as jax
from onax._ground.errors import LoweringError
from onax._native.dispatch import Primitive
from onax.export.lower import registry
from onax.export.lower.driver import lower_jaxpr

X = np.ones(3, np.float32)


@pytest.fixture
def primitive():
    """A primitive of one operand; its lowerings go when the test ends."""
    p = Primitive("test_registry", abstract_eval=lambda x, **_: x, kernel=lambda x: x)
    yield p
    for slot in (registry.lowering, registry.component_lowering):
        if p in slot:
            slot.remove(p)


def operators(p, x=X):
    return [n.op_type for n in lower_jaxpr(jax.make_jaxpr(p.bind)(x), opset=21).nodes]


def test_one_node(primitive):
    assert not registry.is_lowered(primitive) and registry.refusal(primitive) is None
    registry.one_node(primitive, "Neg")
    assert registry.is_lowered(primitive) and operators(primitive) == ["Neg"]


def test_a_decomposition(primitive):
    registry.decompose(primitive, lambda x: jax.numpy.sin(x) + x, components=True)
    assert operators(primitive) == ["Sin", "Add"] and primitive in registry.component_lowering


def test_a_refusal(primitive):
    registry.unsupported("it has no form", primitive)
    assert not registry.is_lowered(primitive) and registry.refusal(primitive) == "it has no form"
    with pytest.raises(LoweringError, match="it has no form"):
        operators(primitive)


def test_a_rule(primitive):
    @registry.lowers(primitive, components=True)
    def rule(g, out, x):
        return g.node("Abs", x[0] if type(x) is tuple else x)

    assert operators(primitive) == ["Abs"] and registry.component_lowering[primitive] is rule


def test_each_component(primitive):
    registry.one_node(primitive, "Neg")
    registry.componentwise(primitive)
    assert operators(primitive, X + 1j).count("Neg") == 2


def test_a_second_rule_is_refused_unless_it_replaces(primitive):
    registry.one_node(primitive, "Neg")
    with pytest.raises(ValueError):
        registry.one_node(primitive, "Abs")
    registry.redefine(primitive, lambda x: jax.numpy.cos(x))
    assert operators(primitive) == ["Cos"]
