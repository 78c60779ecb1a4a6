"""Windows against NumPy, with the default dtype of floats."""

import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

NAMES = ("bartlett", "blackman", "hamming", "hanning")
CALLS = [
    *[call(name, n, rtol=1e-9, atol=1e-12) for name in NAMES for n in (0, 1, 3, 7, 12)],
    *[call("kaiser", n, beta, rtol=1e-7) for n in (0, 1, 6) for beta in (0.0, 3.5, 14.0)],
]


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


REFUSED = [
    (lambda: jnp.hanning(2j), TypeError, "int\\(\\) argument"),
    (lambda: jax.jit(jnp.bartlett)(3), jax.errors.ConcretizationTypeError, "M argument of bartlett"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
