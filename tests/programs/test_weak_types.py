"""Weak types of values and derivatives of loops and branches over weakly typed scalars (expected types are JAX's)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

STRONG = np.float32(1)
CASES = {  # function, whether its value, whether its derivative is weakly typed
    "fori_loop over a weak carry": (lambda s: lax.fori_loop(0, 3, lambda i, c: c * s, 1.0), True, True),
    "fori_loop over a strong carry": (lambda s: lax.fori_loop(0, 3, lambda i, c: c * s, STRONG), False, True),
    "scan over a weak carry": (lambda s: lax.scan(lambda c, x: (c * s, c), 1.0, None, 3)[0], True, True),
    "scan over a strong carry": (lambda s: lax.scan(lambda c, x: (c * s * x, c), STRONG, jnp.ones(3))[0], False, True),
    "results of scan": (lambda s: lax.scan(lambda c, x: (c, x * s), 0.0, jnp.ones(3))[1].sum(), False, True),
    "map": (lambda s: lax.map(lambda x: x * s, jnp.ones(3)).sum(), False, True),
    "carry itself": (lambda s: lax.scan(lambda c, x: (c * x, None), s, jnp.ones(3))[0], False, False),
    "loop in a loop": (
        lambda s: lax.scan(lambda c, x: (lax.fori_loop(0, 2, lambda i, d: d * s, c), None), 1.0, None, 3)[0],
        True,
        True,
    ),
    "cond": (lambda s: lax.cond(jnp.bool_(True), lambda: s * 2, lambda: s), True, True),
    "call": (lambda s: jax.jit(lambda a: a * s)(3.0), True, True),
    "a power": (lambda s: s**0.5, True, False),
    "gelu": (jax.nn.gelu, False, True),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("make", [float, jnp.asarray], ids=["Python number", "weakly typed array"])
def test_weak_types(name, make):
    function, value_weak, derivative_weak = CASES[name]
    s = make(2.0)
    for value in (function(s), jax.jit(function)(s)):
        assert jnp.asarray(value).weak_type is value_weak
    pulled = jax.vjp(function, s)[1](function(s))[0]
    staged = jax.eval_shape(jax.grad(function), s)
    for derivative in (jax.grad(function)(s), jax.jit(jax.grad(function))(s), pulled, staged):
        assert derivative.dtype == np.float32 and derivative.weak_type is derivative_weak


@pytest.mark.parametrize("name", CASES)
def test_other_scalars_are_not_weakly_typed(name):
    function, s = CASES[name][0], jnp.float32(2)
    assert not jax.jit(function)(s).weak_type
    assert not jax.grad(function)(s).weak_type
