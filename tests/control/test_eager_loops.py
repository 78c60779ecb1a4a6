"""Long loops evaluated eagerly are compiled, and give what the interpreter gives."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._control import eager_loops

X = np.linspace(-1, 1, 8, dtype=np.float32)


def weak_carry(n):
    return lax.scan(lambda c, x: (c + 1, c * 2), 0, None, length=n)


LOOPS = {
    "scan": lambda n: lax.scan(lambda c, x: (c * 0.5 + x, c), jnp.asarray(X), jnp.outer(jnp.arange(float(n)), X)),
    "while": lambda n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 0.9 + c[0]), (0, X)),
    "fori": lambda n: lax.fori_loop(0, n, lambda i, c: c.at[i % 8].add(1), jnp.asarray(X)),
    "weak": weak_carry,
    "gradient": lambda n: jax.grad(lambda x: lax.fori_loop(0, n, lambda i, c: jnp.sin(c) + x, x))(0.5),
    "mapped": lambda n: jax.vmap(lambda x: lax.while_loop(lambda c: c < n, lambda c: c + 1 + x * x, x))(jnp.asarray(X)),
}


def counted(monkeypatch):
    calls, run = [], eager_loops.jit_p.impl
    monkeypatch.setattr(eager_loops.jit_p, "impl", lambda *a, **k: (calls.append(k["name"]), run(*a, **k))[1])
    return calls


@pytest.mark.parametrize("name", LOOPS)
def test_long_loops_are_compiled(name, monkeypatch):
    monkeypatch.setattr("onax._control.scan_rules.LONG", 10**9)
    monkeypatch.setattr("onax._control.while_loop.LONG", -1)
    want = LOOPS[name](200)
    monkeypatch.setattr("onax._control.scan_rules.LONG", 64)
    monkeypatch.setattr("onax._control.while_loop.LONG", 64)
    calls = counted(monkeypatch)
    got = LOOPS[name](200)
    assert set(calls) & {"scan", "while"}
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert g.dtype == w.dtype and g.weak_type == w.weak_type
        np.testing.assert_allclose(g, w, rtol=1e-5)


def test_short_loops_are_interpreted(monkeypatch):
    calls = counted(monkeypatch)
    LOOPS["scan"](8), LOOPS["while"](8)
    assert "scan" not in calls and "while" not in calls


def test_checks_see_compiled_loops():
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        lax.fori_loop(0, 100, lambda i, c: jnp.log(c - 1), jnp.ones(3))
    seen = []
    lax.fori_loop(0, 100, lambda i, c: (jax.debug.callback(lambda v: seen.append(int(v)), c), c + 1)[1], 0)
    jax.effects_barrier()
    assert seen == list(range(100))
