"""cond, switch, while_loop, fori_loop, scan, map: eager and jitted against real JAX's recorded results."""

import numpy as np
import pytest

import control_cases
import onax as jax
import onax.numpy as jnp
import oracle
from tolerance import assert_same_bits, assert_within, finfo, is_float

RECORDED = oracle.load("control_cases")


# A case is a chain of at most sixteen operations, each within four units in the last place of its largest value.
CHAIN_ULPS = 64


def agree(got, answer, name):
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype):
            size = np.max(np.abs(want.astype(np.float64)), initial=0.0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", control_cases.cases(jax))
def test_agrees_with_jax(name, way):
    function, args = control_cases.cases(jax)[name]
    assert name in RECORDED, "not recorded: run `make record`"
    assert "ok" in RECORDED[name], RECORDED[name]
    agree((jax.jit(function) if way == "jit" else function)(*args), RECORDED[name], name)
