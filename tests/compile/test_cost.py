"""Costs of programs, beside XLA's."""

import numpy as np
import pytest

import onax
from onax import lax
from onax import numpy as jnp

X = np.ones((100, 200), np.float32)
Y = np.ones((200, 300), np.float32)

# (function, arguments, costs, bytes of arguments, of results): as JAX 0.10.2 gives them
CASES = {
    "product": (lambda x, y: x @ y, (X, Y), {"flops": 12e6, "bytes accessed": 440e3}, 320_000, 120_000),
    "sum": (lambda x: x.sum(), (X,), {"flops": 19999, "bytes accessed": 80004}, 80_000, 4),
    "sort": (lambda x: jnp.sort(x), (X,), {"flops": 300e3, "bytes accessed": 160e3}, 80_000, 80_000),
    "transpose": (lambda x: x.T, (X,), {"bytes accessed": 160e3}, 80_000, 80_000),
    "elementwise": (
        lambda x: jnp.tanh(x) + x * 2,
        (X,),
        {"flops": 40e3, "transcendentals": 20e3, "bytes accessed": 160e3},
        80_000,
        80_000,
    ),
    "unused": (lambda x, y: x + x, (X, Y), {"flops": 20e3, "bytes accessed": 240e3}, 80_000, 80_000),
}


@pytest.mark.parametrize("name", CASES)
def test_costs_and_sizes_are_those_of_xla(name):
    fun, args, costs, read, written = CASES[name]
    compiled = onax.jit(fun).lower(*args).compile()
    found = compiled.cost_analysis()
    counted = ("flops", "transcendentals", "bytes accessed")
    assert {key: found[key] for key in counted if key in found} == costs
    assert found["bytes accessedout{}"] + found["bytes accessed0{}"] <= found["bytes accessed"]
    stats = compiled.memory_analysis()
    assert (stats.argument_size_in_bytes, stats.output_size_in_bytes) == (read, written)
    assert stats.peak_memory_in_bytes == read + written + stats.temp_size_in_bytes


def test_lowered_costs_count_each_equation():
    lowered = onax.jit(lambda x: jnp.tanh(x) + x * 2).lower(X)
    costs = lowered.cost_analysis()
    assert costs["flops"] == 40e3 and costs["bytes accessed"] == 560_004 and costs["utilization1{}"] == 2
    assert onax.jit(lambda x: x).lower(X).cost_analysis() == {}


def test_bodies_of_loops_count_once_and_the_costliest_branch():
    loop = onax.jit(lambda x: lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) * 2.0, x)).lower(X).cost_analysis()
    assert loop["transcendentals"] == 20e3 and 20e3 <= loop["flops"] <= 20e3 + 4
    branch = onax.jit(lambda p, x: lax.cond(p, lambda x: x @ x.T, lambda x: x[:, :100], x))
    assert 4e6 <= branch.lower(True, X).cost_analysis()["flops"] <= 4e6 + 4
