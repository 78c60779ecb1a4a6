"""Assembling regions: what one block program can hold."""

import numpy as np

import onax.numpy as jnp
from native_passes import check, fused, names

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e30, 3e9, -3e9, 1e19, 2.5]
X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)


def test_small_values_wait_between_loops():
    program = check(lambda s, x: ((x + 1) * jnp.sqrt(s + 1), x * 2), np.float32(3), X)
    assert names(program) == ["fused"]


def test_many_registers():
    """A region that needs more scratch memory than there is stays as it is; many operands are no trouble."""
    many = [np.full((), i, np.float32) for i in range(300)]
    check(lambda x, ys: [x * y + 1 for y in ys], X, many)


def test_a_region_remembers_the_lines():
    _, program = fused(lambda x: jnp.sqrt(x) * 2 + 1, X)
    (eqn,) = program.eqns
    assert eqn.source_info is not None
    assert all(inner.source_info is not None for inner in eqn.params["jaxpr"].eqns)
