"""Cotangents of `vjp` are added to references, dropped or returned, as JAX's `with_refs` does."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax.ad import DidntWant, DontWant, GradRef, GradValue


def product(x, y):
    return jnp.sum(x * y)


def test_a_cotangent_is_added_to_a_reference():
    x, y = jnp.arange(3.0), jnp.full(3, 2.0)
    _, pull_back = jax.vjp(product, x, y)
    total = jax.new_ref(jnp.ones(3))
    assert pull_back.with_refs(total, DontWant())(1.0) == (GradRef(), DidntWant())
    assert pull_back.with_refs(total, DontWant())(1.0) == (GradRef(), DidntWant())
    assert total[...].tolist() == [5.0, 5.0, 5.0]


def test_the_others_are_returned():
    _, pull_back = jax.vjp(product, jnp.arange(3.0), jnp.full(3, 2.0))
    first, second = pull_back.with_refs(DontWant(), GradValue())(1.0)
    assert first == DidntWant() and second.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1), ()])
def test_nothing_is_computed_for_cotangents_that_nobody_wants(wanted):
    _, pull_back = jax.vjp(lambda x, y: jnp.sin(x) * y, jnp.arange(3.0), jnp.full(3, 2.0))
    run = pull_back.with_refs(*[GradValue() if i in wanted else DontWant() for i in range(2)])
    jaxpr = jax.make_jaxpr(run)(jnp.ones(3))
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    assert names.count("mul") == {(0,): 2, (1,): 1, (0, 1): 3, (): 0}[wanted]
    for i, ct in enumerate(run(jnp.ones(3))):
        assert ct == DidntWant() if i not in wanted else ct.tolist() == pull_back(jnp.ones(3))[i].tolist()


def test_references_under_jit():
    @jax.jit
    def accumulate(total, x):
        _, pull_back = jax.vjp(lambda x: jnp.sum(x**2), x)
        pull_back.with_refs(total)(1.0)

    total = jax.new_ref(jnp.zeros(2))
    for _ in range(3):
        accumulate(total, jnp.arange(2.0))
    assert total[...].tolist() == [0.0, 6.0]


def test_the_structure_is_that_of_the_arguments():
    _, pull_back = jax.vjp(lambda t: t["a"] * 2.0, {"a": 1.0})
    assert pull_back.with_refs({"a": DontWant()})(1.0) == ({"a": DidntWant()},)
    with pytest.raises(ValueError, match="structure"):
        pull_back.with_refs(DontWant())
    assert jax.tree.leaves([GradRef(), DidntWant()]) == []
