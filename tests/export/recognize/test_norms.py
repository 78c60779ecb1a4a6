"""Means and normalizations in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from recognition import assert_close, assert_recognized, model_of

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 8)).astype(np.float32)
SPECIAL = X.copy()
SPECIAL[0, 0, 0], SPECIAL[0, 1, 2], SPECIAL[0, 2, 3], SPECIAL[1, 0] = NAN, INF, -INF, 5.0
SPECIAL[1, 1, :2] = INF, -INF
SCALE, BIAS = (RNG.standard_normal(8).astype(np.float32) for _ in range(2))


def two_pass(x, axis=-1):
    centred = x - jnp.mean(x, axis, keepdims=True)
    return centred * lax.rsqrt(jnp.mean(centred**2, axis, keepdims=True) + 1e-5)


def by_var(x, axis=-1):
    return (x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True) + 1e-5)


def one_pass(x, axis=-1):
    mean = jnp.mean(x, axis, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.mean(x * x, axis, keepdims=True) - mean * mean + 1e-5)


def root_mean_square(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def scale_first(x):
    mean = x.mean(-1, keepdims=True)
    factor = lax.rsqrt(jnp.maximum(0, jnp.mean(x * x, -1, keepdims=True) - mean * mean) + 1e-5) * SCALE
    return (x - mean) * factor + BIAS


NORMS = (
    two_pass, by_var, one_pass, scale_first, nn.standardize,
    lambda x: two_pass(x) * SCALE, lambda x: BIAS + SCALE * by_var(x), lambda x: two_pass(x, (1, 2)),
    lambda x: two_pass(x) * jnp.tile(SCALE, (3, 1))[0],
)  # fmt: skip


@pytest.mark.parametrize("fun", NORMS)
def test_layer_norm(fun):
    assert_recognized(fun, (X,), "LayerNormalization", ulps=16)


@pytest.mark.parametrize("fun", [two_pass, by_var, lambda x: BIAS + SCALE * by_var(x)])
def test_layer_norm_of_special_values(fun):
    with np.errstate(invalid="ignore"):
        assert_recognized(fun, (SPECIAL,), "LayerNormalization", ulps=16)


def test_layer_norm_with_scales_as_arguments():
    fun = lambda x, scale, bias: two_pass(x) * scale + bias
    assert_recognized(fun, (X, SCALE, BIAS), "LayerNormalization", ulps=16)


def test_a_large_mean():
    x = X + 1000
    found, exported = model_of(two_pass, x)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    want = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    assert found == ["LayerNormalization"]
    np.testing.assert_allclose(exported.call(x), want, atol=1e-3)


@pytest.mark.parametrize("fun", [root_mean_square, lambda x: root_mean_square(x) * SCALE,
                                 lambda x: x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6)])  # fmt: skip
def test_root_mean_square(fun):
    with np.errstate(invalid="ignore"):
        for x in (X, SPECIAL):
            assert_recognized(fun, (x,), "RMSNormalization", opset=23, ulps=16)
            found, exported = model_of(fun, x, opset=22)
            assert "RMSNormalization" not in found and "ReduceMean" in found
            assert_close(exported, fun, (x,), ulps=16)


@pytest.mark.parametrize("fun", [
    lambda x: two_pass(x, 0),  # LayerNormalization takes the last axes
    lambda x: (x - x.mean(0)) * lax.rsqrt(jnp.mean((x - x.mean(0)) ** 2, -1, keepdims=True) + 1e-5),
    lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5),
    lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(jnp.sum(jnp.square(x - x.mean()), -1)[..., None] + 1),
    lambda x: two_pass(x) * SCALE[:1],
])  # fmt: skip
def test_what_only_looks_alike(fun):
    found, exported = model_of(fun, X)
    if found != ["LayerNormalization", "Mul"]:
        assert "LayerNormalization" not in found
    assert_close(exported, fun, (X,), ulps=16)


def test_a_normalization_whose_parts_are_read_is_computed_once():
    def fun(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5), centred

    found, exported = model_of(fun, X)
    assert "LayerNormalization" not in found
    assert_close(exported, fun, (X,), ulps=16)


@pytest.mark.parametrize("fun, operators", [
    (lambda x: x.mean(1), "ReduceMean"),
    (lambda x: jnp.mean(x, (0, 2), keepdims=True), "ReduceMean"),
    (lambda x: x.sum(1) * np.float32(1 / 3), "ReduceMean"),
    (lambda x: x.sum(1) / 2, "ReduceSum Div"),
    (lambda x: jnp.mean(x, 1, where=x > 0), None),
])  # fmt: skip
def test_means(fun, operators):
    found, exported = model_of(fun, SPECIAL)
    assert operators is None or sorted(found) == sorted(operators.split())
    with np.errstate(invalid="ignore"):
        assert_close(exported, fun, (SPECIAL,))


def test_gradients():
    for fun in NORMS[:7]:
        gradient = onax.grad(lambda x, f=fun: (f(x) ** 3).sum())
        assert_close(model_of(gradient, X)[1], gradient, (X,), ulps=64, scale=10)


def test_float64_means_stay_float64():
    with onax.enable_x64(True):
        x = X.astype(np.float64)
        found, exported = model_of(two_pass, x)
        assert "ReduceMean" in found and "LayerNormalization" not in found
        np.testing.assert_allclose(exported.call(x), two_pass(x), rtol=1e-12, atol=1e-14)


def test_symbolic_sizes():
    (n,) = onax.export.symbolic_shape("n")
    found, exported = model_of(two_pass, onax.ShapeDtypeStruct((n, 3, 8), np.float32))
    assert found == ["LayerNormalization"]
    assert_close(exported, two_pass, (X,), ulps=16)
    found, exported = model_of(two_pass, onax.ShapeDtypeStruct((3, n), np.float32))
    assert "LayerNormalization" not in found
    assert_close(exported, two_pass, (X[0],), ulps=16)


def unit_axes_later(x, axes=(-1,)):
    """The statistics get their axes of length one after the variance: as flax does."""
    mean, square = jnp.mean(x, axes), jnp.mean(jnp.square(x), axes)
    variance = jnp.maximum(0.0, square - jnp.square(mean))
    return (x - jnp.expand_dims(mean, axes)) * lax.rsqrt(jnp.expand_dims(variance, axes) + 1e-5)


def bounded_variance(x, axes=(-1,)):
    """The variance of two passes is bounded by 0, too: as equinox does."""
    variance = jnp.maximum(0.0, jnp.var(x, axes, keepdims=True))
    return (x - jnp.mean(x, axes, keepdims=True)) * lax.rsqrt(variance + 1e-5)


@pytest.mark.parametrize("fun", [
    unit_axes_later, bounded_variance, lambda x: unit_axes_later(x, (1, 2)), lambda x: bounded_variance(x, (1, 2)),
    lambda x: unit_axes_later(x) * SCALE + BIAS, lambda x: bounded_variance(x) * SCALE + BIAS,
])  # fmt: skip
def test_layer_norm_of_libraries(fun):
    for x in (X, SPECIAL):
        with np.errstate(invalid="ignore"):
            assert_recognized(fun, (x,), "LayerNormalization", ulps=32)


def test_the_variance_of_other_axes_is_not_the_variance():
    fun = lambda x: (x - jnp.mean(x, -1, keepdims=True)) * lax.rsqrt(jnp.var(x, 0)[0][..., None] + 1e-5)
    x = RNG.standard_normal((8, 8, 8)).astype(np.float32)
    found, exported = model_of(fun, x)
    assert "LayerNormalization" not in found
    assert_close(exported, fun, (x,), ulps=64, scale=8)
