"""scaled_dot_general: quantized operands against NumPy with ml_dtypes, derivatives, errors."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import nn

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(3, 64)).astype(np.float32), RNG.normal(size=(5, 64)).astype(np.float32)
LAST = ((1,), (1,)), ((), ())


def quantized(x, mode):
    """The rows of x as the format holds them."""
    size, dtype = {"mxfp8": (32, ml_dtypes.float8_e4m3fn), "nvfp4": (16, ml_dtypes.float4_e2m1fn)}[mode]
    blocks = x.reshape(*x.shape[:-1], -1, size)
    scale = np.abs(blocks).max(-1, keepdims=True) / np.float32(ml_dtypes.finfo(dtype).max)
    if mode == "mxfp8":
        scale = 2.0 ** np.ceil(np.log2(scale))
    else:
        scale = scale.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    limit = float(ml_dtypes.finfo(dtype).max)
    return (np.clip(blocks / scale, -limit, limit).astype(dtype).astype(np.float32) * scale).reshape(x.shape)


def configs(mode):
    return [nn.get_scaled_dot_general_config(mode)] * 3


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_values(mode, way):
    out = way(lambda a, b: nn.scaled_dot_general(a, b, LAST, configs=configs(mode)))(A, B)
    np.testing.assert_allclose(out, quantized(A, mode) @ quantized(B, mode).T, rtol=1e-5, atol=1e-5)
    assert np.abs(out - A @ B.T).max() > 1e-3


def test_batch_and_several_contracted_axes():
    a, b = A.reshape(3, 2, 32).transpose(1, 0, 2), np.concatenate([B, B]).reshape(10, 2, 32).transpose(2, 1, 0)
    numbers = ((2,), (0,)), ((0,), (1,))
    out = nn.scaled_dot_general(a, b, numbers, "bfloat16", configs("mxfp8"))
    want = np.einsum(
        "bmk,bnk->bmn", quantized(a, "mxfp8"), quantized(np.ascontiguousarray(b.transpose(1, 2, 0)), "mxfp8")
    )
    assert out.shape == (2, 3, 10) and out.dtype == jnp.bfloat16
    np.testing.assert_allclose(out.astype("f4"), want, rtol=1e-2, atol=1e-2)


def test_without_configs_it_is_dot_general():
    np.testing.assert_allclose(nn.scaled_dot_general(A, B, LAST), A @ B.T, rtol=1e-5, atol=1e-5)


def test_derivative_multiplies_quantized_operands():
    a, b, ct = (RNG.normal(size=s).astype(np.float32) for s in ((32, 64), (32, 64), (32, 32)))
    f = lambda a, b: (nn.scaled_dot_general(a, b, LAST, configs=configs("mxfp8")) * ct).sum()
    of_a, of_b = jax.grad(f, (0, 1))(jnp.asarray(a), jnp.asarray(b))
    across = lambda x: quantized(np.ascontiguousarray(x.T), "mxfp8")
    np.testing.assert_allclose(of_a, quantized(ct, "mxfp8") @ across(b).T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(of_b, across(ct) @ across(a).T, rtol=1e-4, atol=1e-4)


def test_derivative_with_nvfp4_is_that_of_the_product():
    f = lambda a, b: (nn.scaled_dot_general(a, b, LAST, configs=configs("nvfp4")) ** 2).sum() / 2
    out = nn.scaled_dot_general(A, B, LAST, configs=configs("nvfp4"))
    of_a, of_b = jax.jit(jax.grad(f, (0, 1)))(jnp.asarray(A), jnp.asarray(B))
    np.testing.assert_allclose(of_a, out @ B, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(of_b, out.T @ A, rtol=1e-4, atol=1e-4)
    large = jnp.asarray(A).at[0, 0].set(1e6)
    assert jax.grad(f)(large, jnp.asarray(B))[0, 0] == 0


def test_configs_and_refusals():
    config = nn.get_scaled_dot_general_config("mxfp8")
    assert (config.mode, config.block_size, config.global_scale) == ("mxfp8", 32, None)
    assert nn.get_scaled_dot_general_config("nvfp4", jnp.float32([2])).global_scale.tolist() == [2]
    with pytest.raises(ValueError, match="Unsupported mode: x"):
        nn.get_scaled_dot_general_config("x")
    with pytest.raises(ValueError, match="Unsupported preferred_element_type"):
        nn.scaled_dot_general(A, B, LAST, "int32")
    with pytest.raises(ValueError, match="not a multiple of the block size"):
        nn.scaled_dot_general(A[:, :40], B[:, :40], LAST, configs=configs("mxfp8"))
