"""Instance and group normalization in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from recognition import assert_close, assert_recognized, model_of

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(0)
LAST = RNG.standard_normal((3, 4, 5, 6)).astype(np.float32)
FIRST = np.moveaxis(LAST, -1, 1).copy()
SCALE, BIAS = (RNG.standard_normal(6).astype(np.float32) for _ in range(2))
SPECIAL = LAST.copy()
SPECIAL[0, 0, 0, 0], SPECIAL[1, 1, 2, 2], SPECIAL[2, 2, 3, 4] = NAN, INF, -INF
SPECIAL[0, ..., 2:4] = 0.25  # a group of equal numbers
SECOND = lambda v: v[:, None, None]


def statistics(x, axes, *, is_fast):
    """Mean and variance, the variance in one pass and at least 0, or in two passes."""
    mean = jnp.mean(x, axes)
    if is_fast:
        return mean, jnp.maximum(0.0, jnp.mean(jnp.square(x), axes) - jnp.square(mean))
    return mean, jnp.mean(jnp.square(x - jnp.expand_dims(mean, axes)), axes)


def groups_last(x, groups=3, *, is_fast=True, scale=SCALE):
    """As flax does: statistics of groups, repeated for their channels, which are the last axis."""
    parted = x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)
    mean, var = statistics(parted, (*range(1, x.ndim - 1), x.ndim), is_fast=is_fast)
    spread = lambda v: jnp.repeat(v, x.shape[-1] // groups, -1).reshape(-1, *(1,) * (x.ndim - 2), x.shape[-1])
    factor = lax.rsqrt(spread(var) + 1e-6)
    return (x - spread(mean)) * (factor if scale is None else factor * scale)


def groups_first(x, groups=3):
    """As equinox does: the axis of the channels is split, and put together again."""
    parted = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    axes = tuple(range(2, parted.ndim))
    mean = jnp.mean(parted, axes, keepdims=True)
    var = jnp.maximum(0.0, jnp.var(parted, axes, keepdims=True))
    return ((parted - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape)


def instances(x, axes):
    mean, var = jnp.mean(x, axes, keepdims=True), jnp.var(x, axes, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5)


GROUPED = "Transpose Reshape InstanceNormalization Reshape Transpose"
LAST_CASES = (
    (lambda x: groups_last(x, scale=None), GROUPED),
    (lambda x: groups_last(x, is_fast=False) + BIAS, GROUPED + " Mul Add"),
    (groups_last, GROUPED + " Mul"),
    (lambda x: groups_last(x[:, 0]), GROUPED + " Mul"),
    (lambda x: groups_last(x[:, 0, 0]), "Reshape InstanceNormalization Reshape Mul"),
    (lambda x: groups_last(x, 6, scale=None) * SCALE + BIAS, "Transpose InstanceNormalization Transpose"),
    (lambda x: instances(x, (1, 2)), "Transpose InstanceNormalization Transpose"),
    (lambda x: BIAS + SCALE * instances(x, (1, 2)), "Transpose InstanceNormalization Transpose"),
)


@pytest.mark.parametrize("fun, operators", LAST_CASES)
def test_channels_in_the_last_axis(fun, operators):
    found, exported = model_of(fun, LAST)
    assert sorted(n for n in found if n not in ("Gather", "Slice", "Squeeze")) == sorted(operators.split())
    for x in (LAST, SPECIAL):
        with np.errstate(invalid="ignore"):
            assert_close(exported, fun, (x,), ulps=64)


@pytest.mark.parametrize("fun, operators", [
    (groups_first, "Reshape InstanceNormalization Reshape"),
    (lambda x: groups_first(x) * SECOND(SCALE) + SECOND(BIAS), "Reshape InstanceNormalization Reshape Mul Add"),
    (lambda x: instances(x, (2, 3)) * SECOND(SCALE) + SECOND(BIAS), "InstanceNormalization"),
    (lambda x: SECOND(SCALE) * instances(x, (2, 3)), "InstanceNormalization"),
    (lambda x: instances(x, (2, 3)), "LayerNormalization"),
])  # fmt: skip
def test_channels_in_the_second_axis(fun, operators):
    for x in (FIRST, np.moveaxis(SPECIAL, -1, 1).copy()):
        with np.errstate(invalid="ignore"):
            assert_recognized(fun, (x,), operators, ulps=64)


def test_one_example_without_a_batch():
    fun = lambda x: groups_first(x[None])[0]
    found, exported = model_of(fun, FIRST[0])
    assert "InstanceNormalization" in found
    assert_close(exported, fun, (FIRST[0],), ulps=64)


def test_scales_and_biases_as_arguments():
    fun = lambda x, scale, bias: instances(x, (1, 2)) * scale + bias
    assert_recognized(fun, (LAST, SCALE, BIAS), "Transpose InstanceNormalization Transpose", ulps=64)


def test_a_large_mean():
    x = LAST + 1000
    parted = x.astype(np.float64).reshape(3, 4, 5, 3, 2)
    mean, var = (f(parted, axis=(1, 2, 4), keepdims=True) for f in (np.mean, np.var))
    want = ((parted - mean) / np.sqrt(var + 1e-6)).reshape(x.shape)
    found, exported = model_of(lambda x: groups_last(x, scale=None), x)
    assert "InstanceNormalization" in found
    np.testing.assert_allclose(exported.call(x), want, atol=1e-3)


def test_what_only_looks_alike():
    for fun in (
        lambda x: (x - jnp.mean(x, (1, 2), keepdims=True)) * lax.rsqrt(jnp.var(x, (1,), keepdims=True) + 1e-5),
        lambda x: (x - jnp.mean(x, (0, 2), keepdims=True)) * lax.rsqrt(jnp.var(x, (0, 2), keepdims=True) + 1e-5),
        lambda x: instances(x, (2,)),
    ):
        found, exported = model_of(fun, LAST)
        assert "InstanceNormalization" not in found
        assert_close(exported, fun, (LAST,), ulps=64)


def test_a_scale_of_other_axes_stays_outside():
    fun = lambda x: instances(x, (1, 2)) * np.arange(5, dtype=np.float32)[:, None]
    found, exported = model_of(fun, LAST)
    assert found.count("Mul") == 1 and "InstanceNormalization" in found
    assert_close(exported, fun, (LAST,), ulps=64, scale=8)


def test_gradients_and_exact_formulas():
    for fun in (groups_last, lambda x: instances(x, (1, 2))):
        gradient = onax.grad(lambda x, f=fun: (f(x) ** 3).sum())
        assert_close(model_of(gradient, LAST)[1], gradient, (LAST,), ulps=256, scale=10)
        assert "InstanceNormalization" not in model_of(fun, LAST, exact=True)[0]


def test_a_symbolic_batch():
    (n,) = onax.export.symbolic_shape("n")
    fun = lambda x: instances(x, (1, 2)) * SCALE
    found, exported = model_of(fun, onax.ShapeDtypeStruct((n, 4, 5, 6), np.float32))
    assert found == ["Transpose", "InstanceNormalization", "Transpose"]
    assert_close(exported, fun, (LAST,), ulps=64)
    found, exported = model_of(groups_first, onax.ShapeDtypeStruct((n, 6, 4, 5), np.float32))
    assert "InstanceNormalization" in found
    assert_close(exported, groups_first, (FIRST,), ulps=64)
