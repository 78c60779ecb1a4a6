"""Policies of checkpoint, one by one, and names of values."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import checkpoint_policies as policies
from onax.ad_checkpoint import checkpoint_name

X = jnp.arange(1.0, 4.0)
W = jnp.arange(9.0).reshape(3, 3) / 9


def f(w, x):
    y = checkpoint_name(jnp.sin(w @ x), "y")
    z = checkpoint_name(jnp.cos(jax.jit(jnp.dot)(w, y)), "z")
    return jnp.sum(z * jnp.where(x > 0, y, 1.0))


offloading = policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z"], offload_src="device", offload_dst="pinned_host"
)


def test_policies_see_the_arguments_of_operations():
    seen = []

    def policy(primitive, *avals, **params):
        seen.append((primitive.name, [a.shape for a in avals], sorted(params)))
        return False

    jax.grad(jax.checkpoint(lambda x: jnp.sum(checkpoint_name(jnp.sin(x), "s") ** 2), policy=policy))(X)
    assert ("name", [(3,)], ["name"]) in seen


def test_both_policies_must_answer_with_a_bool():
    policy = policies.save_from_both_policies(policies.dots_saveable, offloading)
    with pytest.raises(ValueError, match="return value of the policies should be a boolean"):
        jax.grad(jax.checkpoint(f, policy=policy))(W, X)
    with pytest.raises(ValueError, match="names should be exclusive"):
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["y"], names_which_can_be_offloaded=["y"], offload_src="a", offload_dst="b"
        )


NAMED = {
    "value": lambda: checkpoint_name(X, "a"),
    "tree": lambda: checkpoint_name({"p": X, "q": 2}, "a")["p"],
    "jit": lambda: jax.jit(lambda x: checkpoint_name(x, "a"))(X),
    "vmap": lambda: jax.vmap(lambda x: checkpoint_name(x, "a"))(X),
    "grad": lambda: jax.grad(lambda x: jnp.sum(checkpoint_name(x * X, "a")))(X),
    "jvp": lambda: jax.jvp(lambda x: checkpoint_name(x, "a"), (X,), (X,))[1],
    "complex in jit": lambda: jnp.real(jax.jit(lambda x: checkpoint_name(x * 1j, "a") / 1j)(X)),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_the_value_itself(name):
    np.testing.assert_array_equal(NAMED[name](), X)
