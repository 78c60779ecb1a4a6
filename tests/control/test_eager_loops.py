"""Eager loops: long ones are compiled and give what the interpreter gives; results follow the device of operands."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._control import eager_loops
from onax._ground.devices import Device
from virtual_devices import eight_devices

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


ON_A_DEVICE = {
    "scan": lambda x: lax.scan(lambda c, a: (c + a, c), 0.0, x),
    "map": lambda x: lax.map(jnp.sin, x),
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c + 1, x),
    "while_loop": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: c + 1, x),
    "cond": lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "associative_scan": lambda x: lax.associative_scan(jnp.add, x),
    "normal": lambda x: jax.random.normal(jax.device_put(jax.random.key(0), x.device), (2,)),
}


@pytest.mark.parametrize("name", ON_A_DEVICE)
def test_results_follow_the_device_of_operands(name):
    device = Device("cpu", 3)
    for leaf in jax.tree.leaves(ON_A_DEVICE[name](jax.device_put(jnp.arange(3.0), device))):
        assert leaf.devices() == {device} and leaf.committed


OVER_DEVICES = {
    "cond": lambda a, b: lax.cond(True, lambda: a, lambda: b),
    "cond of an operand": lambda a, b: lax.cond(True, lambda x: x + a, lambda x: x + b, 1.0),
    "cond of switch": lambda a, b: lax.switch(1, [lambda: a, lambda: b, lambda: a]),
    "while": lambda a, b: lax.while_loop(lambda c: c[0] < 3, lambda c: c + b, a),
    "scan": lambda a, b: lax.scan(lambda c, x: (c + b, x), a, a),
}


@pytest.mark.parametrize("name", OVER_DEVICES)
def test_operands_on_different_devices_are_refused(name):
    first, second = Device("cpu", 1), Device("cpu", 2)
    a, b = jax.device_put(jnp.ones(3), first), jax.device_put(jnp.ones(3), second)
    words = rf"Received incompatible devices for jitted computation. Got argument args\[\d\] of {name.split()[0]} with"
    with pytest.raises(ValueError, match=words):
        OVER_DEVICES[name](a, b)


def test_stacked_results_of_values_on_several_devices():
    with eight_devices():
        grid = jax.make_mesh((4, 2), ("x", "y"))
        for axes in (jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit):
            sharding = jax.NamedSharding(grid.update(axis_types=(axes, axes)), jax.P(None, "x"))
            rows = jax.device_put(np.arange(32, dtype=np.float32).reshape(4, 8), sharding)
            total, doubled = jax.lax.scan(lambda c, row: (c + row, row * 2), rows[0] * 0, rows)
            assert total.sharding.spec == jax.P("x") and doubled.sharding.spec == jax.P(None, "x")
            np.testing.assert_array_equal(doubled, np.asarray(rows) * 2)
            np.testing.assert_array_equal(total, np.asarray(rows).sum(0))
