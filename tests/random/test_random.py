"""Keys, bits and distributions: eager and jitted against real JAX's recorded results."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
import oracle
import random_cases
from tolerance import assert_same_bits, assert_within, finfo, is_float

CASES = random_cases.cases(jax)
RECORDED = oracle.load("random_cases")
# Distributions are short chains of functions each right to a few units in the last place of its result.
CHAIN_ULPS = 32
# Bits, uniform numbers between 0 and 1, and everything made of integers are equal.
EXACT = ("uniform,", "uniform in halves", "uniform from raw key")


def agree(got, answer, name):
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        assert leaf.dtype == want.dtype and leaf.shape == want.shape, name
        if want.dtype.kind == "c":
            leaf, want = leaf.view(np.float32), want.view(np.float32)
        if not is_float(want.dtype) or name.startswith(EXACT):
            assert_same_bits(leaf, want, name)
        else:
            size = np.maximum(np.abs(want.astype(np.float64)), 1.0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)


def expected(name):
    assert name in RECORDED, "not recorded: run `make record`"
    assert "ok" in RECORDED[name], RECORDED[name]
    return RECORDED[name]


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    function, args = CASES[name]
    agree(function(*args), expected(name), name)


@pytest.mark.parametrize("name", [n for n in CASES if "key 42" in n and "bits 64" not in n])
def test_jitted_agrees_with_jax(name):
    function, args = CASES[name]
    agree(jax.jit(function)(*args), expected(name), name)
