"""Programs over blocks as instructions."""

import numpy as np

import onax.numpy as jnp
from tape.harness import check, tape_of

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


def test_a_region_is_one_instruction():
    tape, _, jaxpr = tape_of(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X)
    assert not tape.kernels and len(jaxpr.eqns) > 3
    check(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X, rtol=1e-6)


def test_a_single_equation():
    check(lambda x: -x, X)
    check(lambda x: x * x, X)
