"""Partial evaluation under the names of jax.interpreters.partial_eval."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.core import ShapedArray
from onax.extend.core import primitives
from onax.extend.linear_util import wrap_init
from onax.interpreters import partial_eval as pe

X = ShapedArray((3,), np.dtype("float32"))


def test_known_and_unknown_values():
    known, unknown = pe.PartialVal.known(jnp.ones(3)), pe.PartialVal.unknown(X)
    assert known.is_known() and not unknown.is_known()
    assert known.get_known() is known[1] and unknown.get_known() is None
    assert known.get_aval() == unknown.get_aval() == X
    with pytest.raises(TypeError, match="abstract value"):
        pe.PartialVal.unknown(jnp.ones(3))


def test_what_is_known_is_computed():
    function = lambda x, y: (jnp.sin(y) * x, y + 1)
    values = [pe.PartialVal.unknown(X), pe.PartialVal.known(jnp.zeros(3))]
    jaxpr, (first, second), consts = pe.trace_to_jaxpr_nounits(wrap_init(function), values)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["mul"]
    assert first.get_aval() == X and not first.is_known()
    assert second.get_known().tolist() == [1, 1, 1]
    found = jax.core.eval_jaxpr(jaxpr, consts, jnp.ones(3))
    assert found[0].tolist() == [0, 0, 0]
    _, results, _ = pe.trace_to_jaxpr_nounits(wrap_init(function), values, instantiate=[False, True])
    assert not results[1].is_known()


def test_staging():
    jaxpr, out_avals, consts = pe.trace_to_jaxpr_dynamic(wrap_init(lambda x: (x * 2, x.sum())), [X])
    assert [a.shape for a in out_avals] == [(3,), ()] and consts == []
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["mul", "reduce_sum"]


def test_dead_code():
    closed = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1.0, 2.0)
    jaxpr, used = pe.dce_jaxpr(closed.jaxpr, [True, False])
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["sin"] and used == [True, False]
    assert len(pe.dce_jaxpr(closed.jaxpr, [True, False], instantiate=True)[0].invars) == 2
    assert primitives.scan_p in pe.dce_rules and primitives.sin_p not in pe.dce_rules
