"""Programs that run without a session."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import check, runner_of
from onax._ground import config
from onax._native.tape import Tape

X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: jnp.sqrt(x) * 2 + x,
        lambda x: (x * 2, x[None] + 1),
        lambda x: jnp.max(x),
        lambda x: x * 2 - jnp.max(x, 1, keepdims=True),
        lambda x: jnp.sort(x),
        lambda x: (x * 2 + 1, x.T),
        lambda x: x + X,
        lambda x: x @ x.T + jnp.sum(x),
    ],
)
def test_short_programs_need_no_session(function):
    check(function, X)
    assert type(runner_of(jax.make_jaxpr(function)(X))) is Tape
    with config.direct_tapes(False):
        check(function, X)
        assert runner_of(jax.make_jaxpr(function)(X)) is None


def test_keys_and_complex_numbers_are_handed_over_as_they_are():
    def function(key, z):
        return jax.random.split(key), z * 1j

    key, z = jax.random.key(3), X + 2j
    for direct in (True, False):
        with config.direct_tapes(direct):
            keys, product = jax.jit(function)(key, z)
        assert keys.dtype == key.dtype and (jax.random.key_data(keys) == jax.random.key_data(function(key, z)[0])).all()
        np.testing.assert_array_equal(product, z * 1j)


def test_long_programs_use_the_runtime():
    assert runner_of(jax.make_jaxpr(lambda x: jnp.sin(x) * 2 + 1)(np.ones(1_000_000, np.float32))) is None
