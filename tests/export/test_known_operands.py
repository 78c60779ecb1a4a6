"""Equations whose operands are known are computed while lowering: the graphs hold only what depends on arguments."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import make_jaxpr
from onax.export import lower  # noqa: F401
from onax.export.lower.driver import lower_jaxpr

X = np.arange(12, dtype=np.float32).reshape(4, 3)
I = np.arange(-5, 7, dtype=np.int32)
KNOWN = {
    "constant index": (lambda x: x[np.array([0, -1])], X, ["Gather"]),
    "constant column index": (lambda x: x[:, np.array([0, -1])], X, ["Gather"]),
    "sign of the divisor": (lambda i: i // 3, I, "Div Clip Equal Not Mod Equal Not And Sub Where".split()),
    "remainder": (lambda i: i % 2, I, "Mod Equal Not Less Xor And Add Where".split()),
    "a triangle": (lambda x: x * jnp.tril(jnp.ones((4, 3), np.float32)), X, ["Mul"]),
    "linspace": (lambda x: x + jnp.linspace(0.0, 1.0, 3), X, ["Add"]),
    "a repeated scalar": (lambda x: x * -(jnp.full((4, 3), 2.0) + 1.0), X, ["Mul"]),
    "complex": (lambda x: jnp.real(jnp.array([1j, 2, 3]) ** 2).astype(np.float32) + x, X, ["Add"]),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_known_operands_write_no_nodes(name):
    fun, x, want = KNOWN[name]
    g = lower_jaxpr(make_jaxpr(fun)(x), opset=26)
    assert [n.op_type for n in g.nodes] == want
    np.testing.assert_allclose(np.asarray(onax.jit(fun)(x)), np.asarray(fun(jnp.asarray(x))), rtol=1e-6)


def test_a_variance_divides_by_a_known_count():
    g = lower_jaxpr(make_jaxpr(jnp.var)(X), opset=26)
    written = [n.op_type for n in g.nodes]
    assert "Greater" not in written and written.count("Sub") == 1


def test_large_results_are_computed_when_the_graph_runs():
    g = lower_jaxpr(make_jaxpr(lambda x: x + jnp.exp(jnp.arange(5000.0)))(np.float32(1)), opset=26)
    assert "Exp" in [n.op_type for n in g.nodes]
    assert sum(v.const.nbytes for v in g.initializers.values()) < 1024
