"""scaled_matmul: against NumPy, compiled, differentiated, and errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import nn

RNG = np.random.default_rng(0)
A, B, SA, SB = (RNG.normal(size=s).astype(np.float32) for s in ((2, 3, 8), (2, 4, 8), (2, 3, 2), (2, 4, 2)))
WANT = np.einsum("bmk,bnk->bmn", A * np.repeat(SA, 4, 2), B * np.repeat(SB, 4, 2))


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_values_and_derivatives(way):
    np.testing.assert_allclose(way(nn.scaled_matmul)(A, B, SA, SB), WANT, rtol=1e-4, atol=1e-5)
    gradient = way(jax.grad(lambda s: nn.scaled_matmul(A, B, s, SB).sum()))(jnp.asarray(SA))
    want = np.einsum("bmk,bnk->bmk", A, B * np.repeat(SB, 4, 2)).reshape(2, 3, 2, 4).sum(-1)
    np.testing.assert_allclose(gradient, want, rtol=1e-4, atol=1e-4)
    assert nn.scaled_matmul(A, B, SA, SB, preferred_element_type="bfloat16").dtype == jnp.bfloat16


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((A[0], B, SA, SB), "3-dimensional"),
        ((A, B[..., :4], SA, SB), "inputs a and b to have matching batch"),
        ((A, B, SA, SB[..., :1]), "scales to have matching batch"),
        ((A, B, SA[:, :2], SB), "match non-contract dimensions"),
        ((A, B, SA[..., [0, 1, 1]], SB[..., [0, 1, 1]]), "last dimension 3 to divide"),
    ],
)
def test_shapes_that_do_not_fit(args, words):
    with pytest.raises(ValueError, match=words):
        nn.scaled_matmul(*args)
