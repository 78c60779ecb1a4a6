"""A derived primitive is the function that it is made of."""

import onax as jax
import onax.numpy as jnp
from onax._core.derived import DerivedPrimitive


def test_programs_hold_the_function():
    double_p = DerivedPrimitive("double", lambda x, *, times: x * times)
    assert double_p.bind(3.0, times=2) == 6 and double_p.name == "double"
    eqns = jax.make_jaxpr(lambda x: double_p.bind(x, times=2.0))(jnp.ones(2)).eqns
    assert [e.primitive for e in eqns] == [jax.lax.mul_p]
    assert jax.grad(lambda x: double_p.bind(x, times=3.0))(1.0) == 3
