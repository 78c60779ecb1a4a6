"""custom_jvp rules that compute results and tangents at once: eager and jitted against real JAX's recorded answers."""

import numpy as np
import pytest

import control_rules
import onax as jax
import oracle

CASES = control_rules.cases(jax)
RECORDED = oracle.load("control_rules")
# Second derivatives of chains of some ten operations.
TOLERANCE = 1e-5


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    assert name in RECORDED, "not recorded: run `make record`"
    function, args = CASES[name]
    answer = RECORDED[name]
    if "error" in answer:
        for f in (function, jax.jit(function)):
            with pytest.raises(Exception) as caught:
                f(*args)
            assert type(caught.value).__name__ == answer["error"]
            assert str(caught.value).splitlines()[0] == answer["message"].splitlines()[0]
        return
    for f in (function, jax.jit(function)):
        leaves = jax.tree_util.tree_leaves(f(*args))
        assert len(leaves) == len(answer["ok"])
        for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
            want = np.frombuffer(data, np.dtype(dtype)).reshape(shape)
            assert (leaf.dtype, leaf.weak_type) == (want.dtype, weak)
            size = float(np.max(np.abs(want), initial=1.0))
            np.testing.assert_allclose(leaf, want, rtol=0, atol=TOLERANCE * size)
