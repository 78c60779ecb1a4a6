"""Reductions of float16 and bfloat16 as one instruction."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.rewrite import inline
from onax._tape.half_reductions import reduce_halves

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def _names(function, *arguments):
    return [eqn.primitive.name for eqn in reduce_halves(inline(jax.make_jaxpr(function)(*arguments))).eqns]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_two_conversions_around_a_sum_disappear(dtype):
    x = jnp.ones((3, 4), dtype)
    assert _names(lambda x: jnp.sum(x, 0), x) == ["reduce_sum"]
    assert _names(lambda x: jnp.prod(x), x) == ["reduce_prod"]


def test_conversions_stay_where_others_read_between_them():
    x = jnp.ones((3, 4), jnp.bfloat16)

    def sum_and_wide(x):
        wide = jax.lax.convert_element_type(x, jnp.float32)
        return jnp.sum(wide, 0).astype(jnp.bfloat16), wide

    def mean(x):
        return (jnp.sum(x.astype(jnp.float32), 0) / 3).astype(jnp.bfloat16)

    assert "convert_element_type" in _names(sum_and_wide, x)
    assert _names(mean, x).count("convert_element_type") == 2
    assert _names(lambda x: jnp.sum(x.astype(jnp.float32), 0).astype(jnp.float16), x).count("convert_element_type") == 2


def test_elementwise_operands_stay_one_pass_with_the_reduction():
    assert "convert_element_type" in _names(lambda x: jnp.sum(x * x), jnp.ones((3, 4), jnp.bfloat16))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("axes", [0, 1, 2, (0, 2), None], ids=str)
def test_totals_are_rounded_once(dtype, axes):
    x = np.random.default_rng(0).normal(size=(33, 70, 41)).astype(dtype)
    wide = x.astype(np.float64).sum(axes)
    for function in (jnp.sum, jax.jit(jnp.sum, static_argnums=1)):
        np.testing.assert_array_equal(function(x, axes), wide.astype(np.float32).astype(dtype))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_infinities_and_nan(dtype):
    x = np.ones((4, 300), dtype)
    x[1, 299], x[2, 17], x[3, 5], x[3, 298] = np.inf, np.nan, np.inf, -np.inf
    sums = jax.jit(lambda x: jnp.sum(x, 1))(x)
    np.testing.assert_array_equal(np.asarray(sums, np.float32), [300, np.inf, np.nan, np.nan])
