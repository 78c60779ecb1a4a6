"""custom_jvp rules that compute results and tangents at once: eager and jitted against real JAX's recorded answers."""

import numpy as np
import pytest

import control_rules
import onax as jax
import onax.numpy as jnp
import oracle
from onax import lax

CASES = control_rules.cases(jax)
RECORDED = oracle.load("control_rules")
# Second derivatives of chains of some ten operations.
TOLERANCE = 1e-5


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    assert name in RECORDED, "not recorded: run `make record`"
    function, args = CASES[name]
    answer = RECORDED[name]
    if "error" in answer:
        for f in (function, jax.jit(function)):
            with pytest.raises(Exception) as caught:
                f(*args)
            assert type(caught.value).__name__ == answer["error"]
            assert str(caught.value).splitlines()[0] == answer["message"].splitlines()[0]
        return
    for f in (function, jax.jit(function)):
        leaves = jax.tree_util.tree_leaves(f(*args))
        assert len(leaves) == len(answer["ok"])
        for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
            want = np.frombuffer(data, np.dtype(dtype)).reshape(shape)
            assert (leaf.dtype, leaf.weak_type) == (want.dtype, weak)
            size = float(np.max(np.abs(want), initial=1.0))
            np.testing.assert_allclose(leaf, want, rtol=0, atol=TOLERANCE * size)


NOT_LINEAR = {
    "product": lambda v, t: t * t,
    "sine": lambda v, t: jnp.sin(t),
    "divisor": lambda v, t: v / t,
    "predicate": lambda v, t: jnp.where(t > 0, t, 0.0),
    "index": lambda v, t: v[t.astype(int)],
    "place": lambda v, t: lax.dynamic_slice(v, (t[0].astype(int),), (3,)),
    "place of an update": lambda v, t: lax.dynamic_update_slice(t, t[:1], (t[0].astype(int),)),
    "branch": lambda v, t: lax.cond(t[0] > 0, lambda a: a, lambda a: 2 * a, t),
    "scan": lambda v, t: lax.scan(lambda c, _: (c * c, None), t, None, 2)[0],
    "matrix product": lambda v, t: jnp.dot(t, t) * v,
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_reverse_mode_refuses_tangents_that_are_not_linear(name):
    """Where JAX stops at an assertion, an error says which operation it is."""
    f = jax.custom_jvp(jnp.sin)
    f.defjvp(lambda p, t: (p[0], NOT_LINEAR[name](*p, *t)))
    grad = lambda g: jax.grad(lambda v: g(v).sum())
    for way in (grad(f), grad(jax.jit(f)), grad(jax.vmap(lambda v: f(v + jnp.ones(3)))), jax.jit(grad(f))):
        with pytest.raises((TypeError, NotImplementedError), match=r"is linear in|Transpose rule .* not implemented"):
            way(jnp.arange(1.0, 4.0))
