"""interp against NumPy, with ends, periods and slopes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

XP, FP = np.array([0.0, 1.0, 2.5, 4.0]), np.array([3.0, -1.0, 5.0, 2.0])
X = np.array([[-1.0, 0.0, 0.5], [2.5, 3.9, 7.0]])
CALLS = [
    call("interp", X, XP, FP), call("interp", X, XP, FP, left=9.0, right=-9.0), call("interp", 0.25, XP, FP),
    call("interp", X, XP, FP, period=3.0), call("interp", X, XP, FP * 1j), call("interp", X, XP[:1], FP[:1]),
    call("interp", np.array([1, 2]), XP, FP), call("interp", np.array([np.nan, np.inf]), XP, FP),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_ends_that_go_on():
    got = jnp.interp(np.array([-1.0, 5.0]), XP, FP, left="extrapolate", right="extrapolate")
    np.testing.assert_allclose(got, [7.0, 0.0], rtol=1e-6, atol=1e-6)


def test_slopes():
    slope = jax.jit(jax.vmap(jax.grad(jnp.interp), (0, None, None)))(np.array([0.5, 2.0, 3.0, 9.0]), XP, FP)
    np.testing.assert_allclose(slope, [-4, 4, -2, 0], rtol=1e-6)
    weights = jax.grad(lambda fp: jnp.interp(2.0, XP, fp))(FP)
    np.testing.assert_allclose(weights, [0, 1 / 3, 2 / 3, 0], rtol=1e-6)


REFUSED = [
    (lambda: jnp.interp(X, XP, FP[:2]), ValueError, "equal|same"),
    (lambda: jnp.interp(X, XP[None], FP[None]), ValueError, "one-dimensional"),
    (lambda: jnp.interp(X, XP, FP, left="other"), ValueError, "extrapolate"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
