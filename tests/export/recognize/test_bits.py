"""Sign bits in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from recognition import model_of

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-40, -1e-40, np.nan, 1e30, -1e-30]
X = np.array(SPECIAL, np.float32)
SIGN = "Reciprocal Less Less Or"


def assert_same_bits(exported, fun, args):
    got, want = np.asarray(exported.call(*args)), np.asarray(fun(*args))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("fun, operators", [
    (jnp.signbit, SIGN),
    (lambda x: lax.bitcast_convert_type(x, np.int32) < 0, SIGN),
    (lambda x: lax.shift_right_arithmetic(lax.bitcast_convert_type(x, np.int32), 31), SIGN + " Where"),
    (lambda x: jnp.copysign(jnp.float32(2), x), None),
])  # fmt: skip
def test_sign_bits(fun, operators):
    found, exported = model_of(fun, X)
    assert len(found) < 10 and (operators is None or sorted(found) == sorted(operators.split()))
    assert_same_bits(exported, fun, (X,))


def test_copysign_keeps_signs_of_zeros():
    sizes, signs = (v.ravel() for v in np.meshgrid(X, X[:-3]))
    found, exported = model_of(jnp.copysign, sizes, signs)
    assert sorted(found) == sorted((SIGN + " Abs Where Mul").split())
    assert_same_bits(
        exported, lambda x, y: jnp.abs(x) * jnp.where(jnp.signbit(y), -1, 1).astype(x.dtype), (sizes, signs)
    )


@pytest.mark.parametrize("fun", [lambda c, x: jnp.where(c, -x, x), lambda c, x: jnp.where(c, x, -x)])
def test_negated_or_not(fun):
    condition = np.arange(len(X) - 1) % 2 == 1
    found, exported = model_of(fun, condition, X[:8].repeat(2)[: len(condition)])
    assert sorted(found) == ["Mul", "Where"]
    assert_same_bits(exported, fun, (condition, X[:8].repeat(2)[: len(condition)]))


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.float64])
def test_other_floats(dtype):
    with onax.enable_x64(dtype == np.float64):
        x = X.astype(dtype)
        _, exported = model_of(jnp.signbit, x)
        assert_same_bits(exported, jnp.signbit, (x,))


def test_bits_that_are_used_otherwise_are_computed():
    fun = lambda x: lax.bitcast_convert_type(x, np.int32)
    assert_same_bits(model_of(fun, X)[1], fun, (X,))
    fun = lambda x: lax.bitcast_convert_type(x, np.uint32) >> 31
    assert_same_bits(model_of(fun, X)[1], fun, (X,))
    fun = lambda x: lax.bitcast_convert_type(x, np.int32) < 5
    assert_same_bits(model_of(fun, X)[1], fun, (X,))


def test_conditions_of_other_selections_stay():
    fun = lambda x: jnp.where(x > 0, 3, 1).astype(bool) & (jnp.where(x > 0, 2, 0) != 0)
    assert_same_bits(model_of(fun, X)[1], fun, (X,))


def test_bools_that_are_numbers_in_between():
    x = np.float32(3)
    fun = lambda x: lax.cond(x > 2, jnp.sin, jnp.cos, x)
    assert sorted(model_of(fun, x)[0]) == ["Cos", "Greater", "If", "Sin"] or "Equal" not in model_of(fun, x)[0]
    fun = lambda x: ((x > 0).astype(np.int32) == 0, (x > 0).astype(np.float32) == 1, (x > 0).astype(np.int32) == 2)
    found, exported = model_of(fun, X)
    assert found.count("Not") == 1
    for got, want in zip(exported.call(X), fun(X), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_order_of_sorted_arrays(side):
    ordered = np.array([-np.inf, -1, 0, 2, 2, 5, np.inf, np.nan, np.nan], np.float32)
    queries = np.array([np.nan, np.inf, -np.inf, 2, 3, -0.0], np.float32)
    fun = lambda a, v: jnp.searchsorted(a, v, side=side)
    found, exported = model_of(fun, ordered, queries)
    assert len(found) <= 9
    np.testing.assert_array_equal(exported.call(ordered, queries), fun(ordered, queries))
