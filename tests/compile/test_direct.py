"""Programs that run without a session."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import check, runner_of
from onax._native.blocks import Program

X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "function, is_direct",
    [
        (lambda x: x + 1, True),
        (lambda x: jnp.sqrt(x) * 2 + x, True),
        (lambda x: (x * 2, x[None] + 1), True),
        (lambda x: jnp.max(x), True),
        (lambda x: x * 2 - jnp.max(x, 1, keepdims=True), True),
        (lambda x: jnp.sort(x), False),
        (lambda x: (x * 2 + 1, x.T), False),
        (lambda x: x + X, False),
    ],
)
def test_short_programs_need_no_session(function, is_direct):
    check(function, X)
    program = runner_of(jax.make_jaxpr(function)(X))
    assert (type(program) is Program) == is_direct


def test_long_programs_use_the_runtime():
    assert runner_of(jax.make_jaxpr(lambda x: jnp.sin(x) * 2 + 1)(np.ones(1_000_000, np.float32))) is None
