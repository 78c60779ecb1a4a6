"""Jacobians of trees, and their types; test_autodiff.py compares their numbers with differences."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh


def test_jacobian_of_trees():
    def f(p):
        return {"a": p["x"] * 2, "b": p["x"][0] * p["y"]}

    p = {"x": jnp.arange(3.0), "y": jnp.float32(4)}
    for jac in (jax.jacfwd(f)(p), jax.jacrev(f)(p), jax.jit(jax.jacrev(f))(p)):
        np.testing.assert_array_equal(np.asarray(jac["a"]["x"]), 2 * np.eye(3))
        np.testing.assert_array_equal(np.asarray(jac["a"]["y"]), np.zeros(3))
        np.testing.assert_array_equal(np.asarray(jac["b"]["x"]), [4, 0, 0])
        assert float(jac["b"]["y"]) == 0.0


def test_jacobians_in_shard_map():
    w, x = jnp.arange(6.0).reshape(3, 2), jnp.arange(12.0).reshape(4, 3)
    f = lambda w, x: jnp.sin(x @ w).sum(-1)
    with eight_devices():
        for transform in (jax.jacrev, jax.jacfwd):
            rows = jax.shard_map(transform(f, argnums=1), mesh=mesh(x=2), in_specs=(P(), P("x")), out_specs=P("x"))
            parts = [transform(f, argnums=1)(w, part) for part in (x[:2], x[2:])]
            np.testing.assert_allclose(jax.jit(rows)(w, x), np.concatenate(parts), rtol=1e-6)


def test_jacobians_keep_weak_types():
    square = lambda x: x * x
    for transform in (jax.jacfwd, jax.jacrev, jax.hessian):
        assert transform(square)(3.0).weak_type
        assert not transform(square)(jnp.float32(3)).weak_type
    by_part = jax.jacfwd(lambda d: d["a"] * 2)({"a": 2.0, "b": jnp.float32(3)})
    assert (by_part["a"].weak_type, by_part["b"].weak_type) == (True, True)


POWERS = {"square": lambda x: x**2, "power": lambda x: x**2.0, "exponential": lambda x: 2.0**x}


@pytest.mark.parametrize("function", POWERS.values(), ids=POWERS)
@pytest.mark.parametrize("transform", [jax.jacfwd, jax.jacrev, jax.hessian])
def test_jacobians_of_powers_are_weak_as_in_jax(function, transform):
    assert transform(function)(2.0).weak_type
    assert not transform(function)(jnp.float32(2)).weak_type


def test_jacobians_have_the_dtype_of_the_output_forward_and_of_the_argument_backward():
    x, y = jnp.ones(2, jnp.float16), jnp.ones(2)
    widen = lambda t: {"a": t[0].astype(jnp.float32), "b": t[1] * 2}
    types = lambda jac: {k: [str(x.dtype) for x in v] for k, v in jac.items()}
    assert types(jax.jacfwd(widen)((x, y))) == {"a": ["float32", "float32"], "b": ["float32", "float32"]}
    assert types(jax.jacrev(widen)((x, y))) == {"a": ["float16", "float32"], "b": ["float16", "float32"]}
