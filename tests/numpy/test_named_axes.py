"""Reductions over named axes are collectives: under `vmap` with a name, and in `shard_map` over devices."""

import numpy as np
import pytest

import onax
from onax import numpy as jnp

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


NAMES = ["sum", "max", "min", "mean", "var", "std", "nansum", "nanmean"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("axis", "wanted_axis"), [("i", 0), (("i",), 0), ((0, "i"), None), (("i", 0), None)])
def test_reduces_over_the_mapped_axis_as_well(name, axis, wanted_axis):
    function = getattr(jnp, name)
    mapped = onax.vmap(lambda x: function(x, axis=axis), axis_name="i")(jnp.array(X))
    wanted = getattr(np, name)(X, axis=wanted_axis)
    np.testing.assert_allclose(np.asarray(mapped), np.broadcast_to(wanted, mapped.shape), rtol=1e-6)


def test_derivatives_pass_through():
    gradient = onax.grad(lambda x: onax.vmap(lambda row: jnp.sum(row**2, axis=(0, "i")), axis_name="i")(x).sum())
    np.testing.assert_allclose(np.asarray(gradient(jnp.array(X))), 4 * X)  # both results hold every square


@pytest.mark.parametrize("function", [jnp.prod, jnp.all, jnp.any])
def test_others_take_no_names(function):
    with pytest.raises(NotImplementedError, match=f"Named reductions not implemented for jnp.{function.__name__}"):
        onax.vmap(lambda x: function(x, axis="i"), axis_name="i")(jnp.array(X))


@pytest.mark.parametrize("function", [jnp.sum, jnp.max, jnp.mean])
def test_unknown_names(function):
    with pytest.raises(NameError, match="unbound axis name: nowhere"):
        function(jnp.array(X), axis=("nowhere",))
