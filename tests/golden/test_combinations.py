"""Every transformation of every construct against real JAX's recorded results; a sample also jitted and exported."""

import numpy as np
import pytest

import control_combinations
import onax as jax
import onax.numpy as jnp
import oracle
from onax.export import export

CASES = control_combinations.cases(jax)
RECORDED = oracle.load("control_combinations")
SAMPLE = list(CASES)[::7]
# Second derivatives of chains of up to forty operations, sums of terms that cancel.
TOLERANCE = 2e-4


def agree(got, name):
    assert name in RECORDED, "not recorded: run `make record`"
    assert "ok" in RECORDED[name], RECORDED[name]
    leaves, wanted = jax.tree_util.tree_leaves(got), RECORDED[name]["ok"]
    assert len(leaves) == len(wanted)
    for leaf, (dtype, shape, data, weak) in zip(leaves, wanted):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert (leaf.dtype, leaf.weak_type) == (want.dtype, weak)
        size = float(np.max(np.abs(want), initial=1.0))
        np.testing.assert_allclose(leaf, want, rtol=0, atol=TOLERANCE * size)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    function, args = CASES[name]
    agree(function(*args), name)


@pytest.mark.parametrize("name", SAMPLE)
def test_jitted(name):
    function, args = CASES[name]
    agree(jax.jit(function)(*args), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in SAMPLE])
def test_jitted_all(name):
    function, args = CASES[name]
    agree(jax.jit(function)(*args), name)


@pytest.mark.parametrize("name", SAMPLE[::2])
def test_exported(name):
    function, args = CASES[name]
    agree(export(jax.jit(function))(*args).call(*args), name)
