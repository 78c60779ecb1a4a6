"""Records, printing and checking of jaxprs."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core import jaxpr as core
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr
from onax._core.printing import BREAK, Group, Nest, layout
from onax.errors import JaxprTypeError


def test_layout_breaks_only_groups_that_do_not_fit():
    doc = Group(["f(", Nest(2, [BREAK, "aaaa", BREAK, "bbbb"]), ")"])
    assert layout(doc, 40) == "f( aaaa bbbb)"
    assert layout(doc, 8) == "f(\n  aaaa\n  bbbb)"


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


def test_equations_know_their_line():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x))(1.0)
    assert "test_jaxpr.py" in closed.pretty_print(source_info=True)


def test_check_finds_unbound_and_rebound_variables():
    closed = jax.make_jaxpr(lambda x: jnp.sin(jnp.cos(x)))(1.0)
    check_jaxpr(closed)
    first, second = closed.eqns
    with pytest.raises(JaxprTypeError, match="before it is bound"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [second, first]))
    with pytest.raises(JaxprTypeError, match="bound twice"):
        check_jaxpr(core.Jaxpr((), closed.invars, closed.outvars, [first, first, second]))
    wrong = second.replace(outvars=[core.Var(jnp.ones(2).aval)])
    with pytest.raises(JaxprTypeError, match="its equation binds"):
        check_jaxpr(core.Jaxpr((), closed.invars, wrong.outvars, [first, wrong]))


def test_truth_of_a_traced_array_of_several_elements():
    for shape in ((3,), (0,)):
        with pytest.raises(ValueError, match="truth value of an array"):
            jax.make_jaxpr(bool)(np.ones(shape, np.float32))
