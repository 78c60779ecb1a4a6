"""Masks that are computed from constants."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax
from recognition import assert_close, model_of

MASKS = (
    lambda n: jnp.tril(jnp.ones((n, n), bool)),
    lambda n: jnp.arange(n)[:, None] >= jnp.arange(n),
    lambda n: ~jnp.triu(jnp.ones((n, n), bool), 1),
    lambda n: (jnp.arange(n)[:, None] - jnp.arange(n) < 5) & (jnp.arange(n)[:, None] != 3),
)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("n, folded", [(4, True), (60, True), (240, True), (300, False)])
def test_masks(mask, n, folded):
    x = np.ones((2, n, n), np.float32)
    fun = lambda x: jnp.where(mask(n), x, -1)
    found, exported = model_of(fun, x)
    assert (found == ["Where"]) == folded
    assert_close(exported, fun, (x,))


def test_what_is_not_known_stays():
    fun = lambda i: jnp.where(jnp.arange(40)[:, None] >= i, 1.0, 0.0)
    i = np.arange(40, dtype=np.int32)
    found, exported = model_of(fun, i)
    assert {"GreaterOrEqual", "LessOrEqual"} & set(found)
    assert_close(exported, fun, (i,))


def test_kernels_are_stored_as_the_convolution_reads_them():
    kernel = np.random.default_rng(0).normal(size=(3, 3, 4, 8)).astype(np.float32)
    image = np.random.default_rng(1).normal(size=(2, 6, 6, 4)).astype(np.float32)
    layout = ("NHWC", "HWIO", "NHWC")
    fun = lambda x: lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout) + np.ones(8, "f4")
    operators, exported = model_of(fun, image)
    assert sorted(operators) == ["Conv", "Transpose", "Transpose"]
    np.testing.assert_allclose(exported.call(image), fun(image), rtol=1e-5, atol=1e-5)


def test_a_constant_that_is_read_twice_is_stored_once():
    weights = np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32)
    _, exported = model_of(lambda x: (x * weights) @ (x * weights.T), weights)
    assert exported.onnx_model.ByteSize() < 2.5 * weights.nbytes
