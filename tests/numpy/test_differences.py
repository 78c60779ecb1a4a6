"""Differences, slopes and areas of sampled functions, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([[1.0, 4, 9, 16, 25], [0, 1, 8, 27, 64]])
T = np.array([0.0, 1, 1.5, 3, 7])
I = np.array([3, 1, 7, 7, 200], np.uint8)
PHASES = np.array([0.0, 3, -3, 6, 0.5, -9])
CALLS = [
    call("diff", X), call("diff", X, 2), call("diff", X, axis=0), call("diff", X, 0), call("diff", X, 9),
    call("diff", X > 3), call("diff", X, prepend=0.0, append=X[:, :2]), call("diff", I.astype(np.int32)),
    call("ediff1d", X), call("ediff1d", X, to_begin=-1.0, to_end=T[:2]), call("ediff1d", T[:1]),
    call("trapezoid", X), call("trapezoid", X, dx=0.5, axis=0), call("trapezoid", X, T),
    call("trapezoid", X, X + T, axis=1),
    call("gradient", T), call("gradient", X), call("gradient", X, 2.0, axis=1), call("gradient", X, 1.0, 0.5),
    call("gradient", X, T, axis=1), call("gradient", X, np.array([0.0, 3]), T), call("gradient", I.astype(np.float64)),
    call("unwrap", PHASES), call("unwrap", np.stack([PHASES, 2 * PHASES]), axis=0), call("unwrap", PHASES, discont=5.0),
    call("unwrap", PHASES, period=4), call("unwrap", I.astype(np.int32), period=10),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_slopes_of_areas():
    assert jax.grad(jnp.trapezoid)(jnp.ones(4)).tolist() == [0.5, 1, 1, 0.5]
    assert jax.jit(jax.jacobian(jnp.diff))(jnp.ones(3)).tolist() == [[-1, 1, 0], [0, -1, 1]]


REFUSED = [
    (lambda: jnp.diff(X, -1), ValueError, "non-negative"),
    (lambda: jnp.diff(jnp.float32(1)), ValueError, "dimension"),
    (lambda: jnp.gradient(T[:1]), ValueError, "too small"),
    (lambda: jnp.gradient(X, 1.0, 2.0, 3.0), TypeError, "number of"),
    (lambda: jnp.gradient(X, edge_order=2), NotImplementedError, "edge_order"),
    (lambda: jnp.trapezoid(X, T[:3]), (TypeError, ValueError), "shape|broadcast"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
