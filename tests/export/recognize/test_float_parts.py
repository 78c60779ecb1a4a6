"""frexp and ldexp in exported models: few nodes, and the numbers of the functions."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from recognition import model_of

POWERS = (2.0 ** np.arange(-149, 128)).astype(np.float32)
SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 3.4028235e38, -1e-45, 1.1754942e-38, -1.17549435e-38], np.float32)
WORDS = np.random.default_rng(0).integers(0, 2**32, 20000, np.uint64).astype(np.uint32).view(np.float32)
X = np.concatenate([POWERS, np.nextafter(POWERS, np.float32(0)), -np.nextafter(POWERS, np.float32(9)), SPECIAL, WORDS])


def test_frexp_is_exact():
    operators, exported = model_of(jnp.frexp, X)
    assert len(operators) <= 32 and "BitwiseAnd" not in operators
    for got, want in zip(exported.call(X), jnp.frexp(X)):
        np.testing.assert_array_equal(got, want)
    got, want = np.asarray(exported.call(X)[0]), np.asarray(jnp.frexp(X)[0])
    np.testing.assert_array_equal(np.signbit(got[X == 0]), np.signbit(want[X == 0]))


@pytest.mark.parametrize("part", [0, 1])
def test_one_part_of_frexp(part):
    fun = lambda x: jnp.frexp(x)[part]
    operators, exported = model_of(fun, X)
    assert len(operators) <= 32
    np.testing.assert_array_equal(exported.call(X), fun(X))


def test_ldexp():
    n = np.random.default_rng(1).integers(-300, 300, X.size).astype(np.int32)
    n[:4] = [2**31 - 1, -(2**31), 0, 1]
    operators, exported = model_of(jnp.ldexp, X, n)
    assert len(operators) <= 12
    got, want = np.asarray(exported.call(X, n)), np.asarray(jnp.ldexp(X, n))
    small = np.abs(want) < np.finfo(np.float32).tiny  # these may be rounded twice
    np.testing.assert_array_equal(got[~small], want[~small])
    np.testing.assert_allclose(got[small], want[small], atol=2.0**-149, rtol=0)


def test_ldexp_broadcasts():
    x, n = X[-100:], np.arange(-5, 6, dtype=np.int32)[:, None]
    operators, exported = model_of(jnp.ldexp, x, n)
    assert len(operators) <= 14
    np.testing.assert_allclose(exported.call(x, n), jnp.ldexp(x, n), atol=2.0**-149, rtol=0)


def words(x):
    return lax.bitcast_convert_type(x, jnp.int32)


@pytest.mark.parametrize("fun", [
    lambda x: jnp.where(jnp.isinf(x), x, jnp.frexp(x)[0]),
    lambda x: jnp.frexp(x)[0] * jnp.exp2(jnp.frexp(x)[1].astype(jnp.float32) - 1),
    lambda x: jnp.ldexp(jnp.frexp(x)[0], jnp.frexp(x)[1]),
    lambda x: lax.bitcast_convert_type(words(x) & np.int32(~0x7F800000) | np.int32(0x3F000000), x.dtype),
])  # fmt: skip
def test_other_formulas_of_parts(fun):
    x = X[np.isfinite(X) & (np.abs(X) > 1e-37) & (np.abs(X) < 1e37)]
    _, exported = model_of(fun, x)
    np.testing.assert_array_equal(exported.call(x), fun(x))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats(dtype):
    with onax.enable_x64(True):
        x = X[-1000:].astype(dtype)
        _, exported = model_of(jnp.frexp, x)
        for got, want in zip(exported.call(x), jnp.frexp(x)):
            np.testing.assert_array_equal(got, want)


def test_the_gradient_of_ldexp():
    x, n = np.array([1.5, -3.0, 0.0, 1e30], np.float32), np.array([3, -2, 5, 1], np.int32)
    fun = lambda x: onax.grad(lambda x: jnp.ldexp(x, n).sum())(x)
    _, exported = model_of(fun, x)
    np.testing.assert_allclose(exported.call(x), fun(x), rtol=1e-6)
