"""The functions that rewrite jaxprs, against what the programs compute."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import called_program
from onax._core.rewrite import close, eliminate_dead_code, inline, map_equations, prune, rename_variables

VECTOR = np.linspace(0.5, 2, 3, dtype=np.float32)


def same_results(one, other, *args):
    found, want = (eval_jaxpr(j, j.consts, *args) for j in (one, other))
    return len(found) == len(want) and all(np.array_equal(a, b) for a, b in zip(found, want))


def names(jaxpr):
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def test_inlining_opens_calls_at_any_depth():
    table = jnp.arange(3.0)
    inner = jax.jit(lambda x: jnp.sin(x) * table)
    outer = jax.jit(lambda x: inner(x) + inner(2 * x))
    jaxpr = jax.make_jaxpr(lambda x: outer(x) - 1)(VECTOR)
    whole = inline(jaxpr)
    check_jaxpr(whole)
    assert "jit" not in names(whole)
    assert names(whole).count("sin") == 2
    assert same_results(jaxpr, whole, VECTOR)


def test_inlining_leaves_the_calls_it_is_told_to():
    named = jax.jit(lambda x: jnp.sin(x))
    jaxpr = jax.make_jaxpr(lambda x: named(jax.checkpoint(jnp.cos)(x)))(VECTOR)
    whole = inline(jaxpr, lambda eqn: None if eqn.primitive.name == "jit" else called_program(eqn))
    assert names(whole) == ["cos", "jit"]


def test_dead_code_goes_and_arguments_stay():
    jaxpr = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y))[0])(VECTOR, VECTOR)
    live = eliminate_dead_code(jaxpr)
    assert names(live) == ["sin"]
    assert len(live.invars) == 2
    assert eliminate_dead_code(live) is live


def test_dead_code_inside_bodies():
    def loop(x):
        return lax.fori_loop(0, 3, lambda i, c: (c[0] + 1, jnp.sin(c[1])), (x, x))[0]

    jaxpr = jax.make_jaxpr(loop)(VECTOR)
    inside = lambda j: names(j.eqns[0].params["jaxpr"])
    assert "sin" in inside(eliminate_dead_code(jaxpr, bodies=False))
    assert "sin" not in inside(eliminate_dead_code(jaxpr))


def test_effects_are_never_dead():
    def loud(x):
        jax.debug.print("{}", x)
        return x

    jaxpr = jax.make_jaxpr(lambda x: (jax.jit(loud)(x), jnp.sin(x))[1])(VECTOR)
    assert names(eliminate_dead_code(jaxpr)) == ["jit", "sin"]


def test_pruning_says_which_arguments_are_needed():
    jaxpr = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(VECTOR, VECTOR)
    small, used = prune(jaxpr, [False, True])
    assert used == [False, True]
    assert names(small) == ["cos"]
    assert prune(jaxpr, [True, True])[0] is jaxpr


def test_mapping_equations():
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(jnp.sin(x)))(VECTOR)
    cos_p = jax.make_jaxpr(jnp.cos)(VECTOR).eqns[0].primitive
    changed = map_equations(jaxpr, lambda eqn: [eqn.replace(primitive=cos_p)])
    assert names(changed) == ["cos", "cos"]
    assert names(jaxpr) == ["sin", "sin"]


def test_closing_and_renaming():
    table = jnp.arange(3.0)
    jaxpr = jax.make_jaxpr(lambda x, y: (x * table, y + 1))(VECTOR, VECTOR)
    swapped = close(jaxpr, jaxpr.invars[::-1], jaxpr.outvars[::-1])
    assert [str(a) for a in eval_jaxpr(swapped, swapped.consts, 1 + VECTOR, VECTOR)] == [
        str(a) for a in (2 + VECTOR, VECTOR * np.arange(3.0, dtype="f"))
    ]
    renamed = rename_variables(jaxpr)
    assert not set(renamed.invars) & set(jaxpr.invars)
    assert str(renamed) == str(jaxpr)
    assert same_results(jaxpr, renamed, VECTOR, VECTOR)
