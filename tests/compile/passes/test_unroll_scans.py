"""Scans of no more steps than `unroll` become their steps; results agree, backward, stacked and empty ones too."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import names
from onax import lax
from onax._compile.passes.unroll_scans import LARGEST, unroll_scans
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def step(c, x):
    return jnp.sin(c) + x, (c * x, x.sum())


SCANS = {
    "forward": lambda x: lax.scan(step, jnp.ones(4), x, unroll=3),
    "backward": lambda x: lax.scan(step, jnp.ones(4), x, reverse=True, unroll=True),
    "carry alone": lambda x: lax.scan(lambda c, _: (c * x, None), x, length=4, unroll=8),
    "no steps": lambda x: lax.scan(step, jnp.ones(4), x[:0], unroll=2),
    "weak carry": lambda x: lax.scan(lambda c, e: (c * 2, e), 1.0, x, unroll=16),
    "in a branch": lambda x: lax.cond(x[0, 0] > 0, lambda y: y, lambda y: lax.scan(step, y[0], y, unroll=3)[1][0], x),
    "in a scan": lambda x: lax.scan(lambda c, e: (lax.scan(step, c, x, unroll=3)[0], e), x[0], x),
    "polyval": lambda x: jnp.polyval(jnp.arange(5.0), x),
}


@pytest.mark.parametrize("name", SCANS)
def test_results(name):
    program = jax.make_jaxpr(SCANS[name])(X)
    unrolled = unroll_scans(jax.jit(SCANS[name]).trace(X).jaxpr)
    unrolled = unroll_scans(program) if "scan" in names(program) else unrolled
    check_jaxpr(unrolled.jaxpr)
    if name in ("forward", "backward", "carry alone", "weak carry"):
        assert "scan" not in names(unrolled)
    wanted = eval_jaxpr(program, program.consts, jnp.asarray(X))
    for new, old in zip(eval_jaxpr(unrolled, unrolled.consts, jnp.asarray(X)), wanted):
        assert (new.dtype, new.weak_type, new.shape) == (old.dtype, old.weak_type, old.shape)
        np.testing.assert_array_equal(np.asarray(new), np.asarray(old))
    for new, old in zip(jax.tree.leaves(jax.jit(SCANS[name])(X)), wanted):
        np.testing.assert_allclose(np.asarray(new), np.asarray(old), rtol=1e-5)


def test_what_stays():
    rolled = jax.make_jaxpr(lambda x: lax.scan(step, jnp.ones(4), x, unroll=2))(X)
    assert unroll_scans(rolled) is rolled
    long = jax.make_jaxpr(lambda x: lax.fori_loop(0, LARGEST, lambda i, c: c * 2, x, unroll=True))(X)
    assert unroll_scans(long) is long


def test_gradient():
    gradient = jax.grad(lambda x: SCANS["forward"](x)[0].sum())
    np.testing.assert_allclose(np.asarray(jax.jit(gradient)(X)), np.asarray(gradient(X)), rtol=1e-5)
