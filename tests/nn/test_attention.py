"""dot_product_attention against its definition."""

import numpy as np
import pytest

import onax as jax
from onax import nn

RNG = np.random.default_rng(0)
Q, K, V = (RNG.normal(size=(2, n, heads, 5)).astype(np.float32) for n, heads in ((3, 4), (6, 2), (6, 2)))


def by_definition(q, k, v, mask, bias=0.0):
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    logits = np.einsum("btnh,bsnh->bnts", q, k) / np.sqrt(q.shape[-1]) + bias
    weights = np.exp(logits) * mask
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bnts,bsnh->btnh", weights, v)


@pytest.mark.parametrize(
    "options, mask",
    [
        ({}, np.ones((3, 6))),
        ({"is_causal": True}, np.tri(3, 6)),
        ({"local_window_size": (1, 2)}, np.tri(3, 6, 2) * (1 - np.tri(3, 6, -2))),
        ({"key_value_seq_lengths": np.array([4, 4])}, np.arange(6)[None] < np.full((3, 1), 4)),
        ({"mask": np.tri(3, 6, 1).astype(bool)}, np.tri(3, 6, 1)),
    ],
)
def test_attention(options, mask):
    want = by_definition(Q, K, V, mask)
    np.testing.assert_allclose(nn.dot_product_attention(Q, K, V, **options), want, 1e-5, 1e-6)
    jitted = jax.jit(lambda q, k, v: nn.dot_product_attention(q, k, v, **options))(Q, K, V)
    np.testing.assert_allclose(jitted, want, 1e-5, 1e-6)


def test_attention_with_bias_and_lengths():
    bias = RNG.normal(size=(1, 4, 3, 6)).astype(np.float32)
    out = nn.dot_product_attention(Q, K, V, bias=bias, query_seq_lengths=np.array([2, 3], np.int32))
    want = by_definition(Q, K, V, np.ones((3, 6)), bias)
    want[0, 2] = 0
    np.testing.assert_allclose(out, want, 1e-5, 1e-6)


def test_attention_refuses_heads_that_do_not_divide():
    with pytest.raises(ValueError, match="multiple"):
        nn.dot_product_attention(Q[:, :, :3], K, V)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"mask": np.ones((3, 6))}, ValueError, "mask dtype should be bool, but got"),
        ({"mask": np.ones((1, 1, 1, 3, 6), bool)}, ValueError, "mask ndim should be 4, but got 5"),
        ({"query": Q.astype(np.float16)}, ValueError, "query dtype should be float32, but got float16"),
        ({"value": V[:1]}, ValueError, r"value shape should be \[2, 6, .*\]: but got \(1, 6, "),
        ({"value": V[..., :1]}, ValueError, r"value shape should be \[2, 6, "),
        ({"query_seq_lengths": np.int32([2])}, ValueError, r"query_seq_lengths shape should be \[2\]: but got \(1,\)"),
        ({"query_seq_lengths": np.float32([2, 3])}, ValueError, "query_seq_lengths dtype should be int32"),
        ({"key_value_seq_lengths": np.int32([[2]])}, ValueError, "key_value_seq_lengths ndim should be 1, but got 2"),
        ({"implementation": "other"}, ValueError, "Unsupported implementation option: other"),
        ({"implementation": "cudnn"}, RuntimeError, "cuDNN is not detected"),
    ],
)
def test_what_jax_refuses(changed, error, message):
    with pytest.raises(error, match=message):
        nn.dot_product_attention(**({"query": Q, "key": K, "value": V} | changed))


def test_attention_without_positions():
    """An array of two axes counts as one position."""
    whole = nn.dot_product_attention(Q[0, :1], K[0, :1], V[0, :1])
    np.testing.assert_array_equal(nn.dot_product_attention(Q[0, 0], K[0, 0], V[0, 0]), whole[0])
