"""Gamma draws in files: the eager bits, for small and large shapes, logarithms and narrow types."""

import numpy as np
import pytest

import onax as jax
from lowering_runner import OPSETS
from onax import random
from onax.export import export

ALPHA = np.float32([0.01, 0.3, 1.0, 2.5, 40.0, 3000.0])
KEY = random.PRNGKey(3)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("draw", [random.gamma, random.loggamma])
def test_as_eager(draw, opset):
    function = lambda key, alpha: draw(key, alpha)
    got = export(jax.jit(function), opset=opset)(KEY, ALPHA).call(KEY, ALPHA)
    np.testing.assert_allclose(got, function(KEY, ALPHA), rtol=2e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_types(dtype):
    alpha = jax.numpy.asarray(ALPHA[:5], dtype)
    function = lambda key, alpha: random.gamma(key, alpha, dtype=alpha.dtype)
    got = export(jax.jit(function))(KEY, alpha).call(KEY, alpha)
    want = function(KEY, alpha)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got).astype(float), np.asarray(want).astype(float), rtol=0.02)


def test_no_numbers():
    empty = ALPHA[:0]
    assert export(jax.jit(random.gamma))(KEY, empty).call(KEY, empty).shape == (0,)
