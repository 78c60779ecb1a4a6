"""Records, printing and checking of jaxprs."""

import copy

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr


def test_fields_and_evaluation():
    closed = jax.make_jaxpr(lambda x, y: {"out": jnp.sin(x) * y})(jnp.float32(1.0), jnp.arange(3.0))
    assert [v.aval.str_short() for v in closed.jaxpr.invars] == ["float32[]", "float32[3]"]
    assert [e.primitive.name for e in closed.eqns] == ["sin", "mul"]
    assert closed.jaxpr.constvars == [] and closed.consts == []
    (out,) = eval_jaxpr(closed.jaxpr, closed.consts, 1.0, jnp.arange(3.0))
    np.testing.assert_allclose(np.asarray(out), np.sin(1.0) * np.arange(3), rtol=1e-6)


def test_constants_are_shared_and_unused_results_dropped():
    table = jnp.arange(4.0)

    def f(x):
        jnp.sin(x)
        return x * table + table

    closed = jax.make_jaxpr(f)(jnp.ones(4))
    assert len(closed.consts) == 1
    assert isinstance(closed.eqns[0].outvars[0], core.DropVar)
    assert str(closed).startswith("{ lambda a:f32[4]; b:f32[4]. let\n    _:f32[4] = sin b")


def test_copies_of_programs_keep_the_names_of_arguments():
    program = jax.make_jaxpr(lambda first, second: first + second)(1.0, 2.0)
    again = copy.deepcopy(program)
    assert str(again) == str(program) and again.jaxpr.debug_info.arg_names == ("first", "second")


def test_variables_and_literals_show_their_types():
    assert repr(core.Literal(1.5, jax.typeof(1.5))) == "Literal(1.5)"
    assert repr(core.Var(jax.typeof(1.5))).endswith("):float32[]")
