"""Control flow where jit is disabled: bodies see values."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
WITHOUT_JIT = {
    "scan": (lambda: lax.scan(lambda c, x: (c * 2 if c > 1 else c + float(x), c), 0.0, X), (3.0, [0.0, 0.0, 1.0])),
    "scan backwards": (lambda: lax.scan(lambda c, x: (c + float(x), c), 0.0, X, reverse=True), (3.0, [3.0, 2.0, 0.0])),
    "while": (lambda: lax.while_loop(lambda c: bool(c < 3), lambda c: c + 1 if c > 1 else c + 2, 0), 3),
    "fori": (lambda: lax.fori_loop(0, jnp.int32(3), lambda i, c: c + int(i), 0), 3),
    "map": (lambda: lax.map(lambda x: x * 2 if x > 1 else x, X), [0.0, 1.0, 4.0]),
    "cond": (lambda: lax.cond(X[1] > 0, lambda x: x * 2 if x > 1 else x, lambda x: x, 3.0), 6.0),
    "switch": (lambda: lax.switch(7, [lambda x: x, lambda x: x * 2 if x > 1 else x], 3.0), 6.0),
    "grad of while": (lambda: jax.grad(lambda w: lax.while_loop(lambda c: c < 10, lambda c: c * w, 1.0))(2.0), 32.0),
    "vmap of while": (
        lambda: jax.vmap(lambda w: lax.while_loop(lambda c: c < 10, lambda c: c * (w + 1), 1.0))(X + 1),
        [16.0, 27.0, 16.0],
    ),
}


@pytest.mark.parametrize("name", WITHOUT_JIT)
def test_values_are_known_where_jit_is_disabled(name):
    call, wanted = WITHOUT_JIT[name]
    with jax.disable_jit():
        got = call()
    for a, b in zip(jax.tree_util.tree_leaves(got), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_array_equal(a, b)
