"""The fixed point over a loop's carry, and what a body computes in every step alike."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax._control.loops import fixed_point, hoist_invariants
from onax._core.evaluate import eval_jaxpr

VECTOR = np.linspace(0.5, 2, 3, dtype=np.float32)


def test_flags_spread_until_a_step_adds_none():
    seen = []

    def step(flags):
        seen.append(list(flags))
        return len(seen), [False, flags[0], flags[1]]  # the carry moves on by one place in each step

    assert fixed_point(step, [True, False, False]) == (3, [True, True, True])
    assert seen == [[True, False, False], [True, True, False], [True, True, True]]


def test_what_needs_constants_alone_is_hoisted():
    def body(const, carry, x):
        scale = jnp.exp(const)  # the same in every step
        new = carry * scale + x
        return new, scale, new  # the result, and two residuals; the third one is x

    jaxpr = jax.make_jaxpr(body)(VECTOR, VECTOR, VECTOR)
    invariant, variant, sources = hoist_invariants(jaxpr, (None, None, 2), 1, 1)
    names = lambda j: [eqn.primitive.name for eqn in j.eqns]
    assert names(invariant) == ["exp"]
    assert "exp" not in names(variant)
    assert sources == [("invariant", 0), ("stacked", 0), ("xs", 0)]
    consts = eval_jaxpr(invariant, invariant.consts, VECTOR)
    found = eval_jaxpr(variant, variant.consts, *consts[:1], VECTOR, VECTOR)
    np.testing.assert_array_equal(found[0], body(VECTOR, VECTOR, VECTOR)[0])
