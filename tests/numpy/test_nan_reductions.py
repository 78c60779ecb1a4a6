"""Reductions that skip NaN, against NumPy; their derivatives."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
N = np.where(RNG.random((2, 3, 4)) < 0.3, np.nan, RNG.normal(size=(2, 3, 4)))
SUMS = "sum prod max min mean var std".split()
CALLS = [
    *[call(f"nan{name}", N, axis=axis) for name in SUMS for axis in (None, (0, 2))],
    *[call(f"nan{name}", N, axis=1, keepdims=True) for name in SUMS], call("nanmean", np.full((2, 3), np.nan), axis=1),
    call("nanvar", N, ddof=1), call("nanstd", N, axis=2, ddof=1),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_slopes():
    assert np.isfinite(jax.grad(jnp.nansum)(jnp.array([1.0, np.nan]))).all()
