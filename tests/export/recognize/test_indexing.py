"""Elements at indices that may be negative or out of bounds, in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from recognition import model_of

TABLE = np.random.default_rng(0).normal(size=(10, 40)).astype(np.float32)
INDICES = np.array([[0, 9, -1, -10], [10, -11, 2**31 - 1, -(2**31)]], np.int32)


@pytest.mark.parametrize("fun, operators", [
    (lambda i: jnp.asarray(TABLE)[i], "Clip Gather"),
    (lambda i: jnp.take(TABLE, i, axis=1, mode="clip"), "Clip Gather"),
    (lambda i: jnp.take(TABLE, i, axis=0), "Clip Gather Gather"),
    (lambda i: jnp.take(TABLE, i, axis=1), "Clip Gather Gather"),
    (lambda i: jnp.asarray(TABLE).at[i].get(mode="fill", fill_value=3), "Clip Gather Gather"),
    (lambda i: jnp.asarray(TABLE).at[:, i].get(mode="fill", wrap_negative_indices=False), "Clip Gather"),
])  # fmt: skip
def test_gather_counts_from_the_end(fun, operators):
    found, exported = model_of(fun, INDICES)
    assert sorted(found) == sorted(operators.split())
    np.testing.assert_array_equal(exported.call(INDICES), fun(INDICES))


def test_indices_that_are_used_otherwise_are_kept():
    def fun(i):
        wrapped = jnp.where(i < 0, i + 10, i)
        return jnp.asarray(TABLE)[i], jnp.clip(wrapped, 0, 9), wrapped

    _, exported = model_of(fun, INDICES)
    for got, want in zip(exported.call(INDICES), fun(INDICES), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_other_integers(dtype):
    with onax.enable_x64(True):
        indices = np.array([0, 9, 11, 100, -1 % 256], np.int64).astype(dtype)
        fun = lambda i: jnp.asarray(TABLE)[i]
        _, exported = model_of(fun, indices)
        np.testing.assert_array_equal(exported.call(indices), fun(indices))


NEGATIVE_ZEROS = np.where(TABLE < 0, np.float32(-0.0), TABLE)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_that_is_an_argument_is_multiplied_by_nan(dtype):
    with onax.enable_x64(True):
        table = NEGATIVE_ZEROS.astype(dtype)
        fun = lambda t, i: jnp.take(t, i, axis=0)
        found, exported = model_of(fun, table, INDICES)
        assert sorted(found) == sorted("Clip Equal Gather Reshape Where Mul".split())
        got, want = exported.call(table, INDICES), fun(table, INDICES)
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got)[np.isfinite(want)], np.signbit(want)[np.isfinite(want)])


def test_a_table_that_something_else_reads_is_stored_once():
    def fun(i):
        table = jnp.asarray(TABLE)
        return jnp.take(table, i, axis=0) @ table.T

    _, exported = model_of(fun, INDICES)
    sizes = [np.prod(c.dims) for c in exported.onnx_model.graph.initializer]
    assert sum(n >= TABLE.size for n in sizes) == 1
    np.testing.assert_allclose(exported.call(INDICES), fun(INDICES), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, np.int32, bool])
def test_fill_values_of_other_tables(dtype):
    table = (TABLE * 3).astype(dtype)
    for fun in (lambda i: jnp.take(table, i, axis=0), lambda i: jnp.asarray(table)[:, :10].at[i, i].get(mode="fill")):
        _, exported = model_of(fun, INDICES)
        np.testing.assert_array_equal(exported.call(INDICES), fun(INDICES))


def test_positions_of_top_k_are_in_bounds():
    fun = lambda x: jnp.take(TABLE, lax.top_k(x, 3)[1], axis=0)
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], np.int32)
    found, exported = model_of(fun, x)
    assert sorted(found) == sorted("TopK Cast Gather".split())
    np.testing.assert_array_equal(exported.call(x), fun(x))


@pytest.mark.parametrize("fun", [
    lambda i, n: i < n, lambda i, n: i <= n, lambda i, n: i > n, lambda i, n: i >= n,
    lambda i, n: jnp.where(i < n, i, -i), lambda i, n: jnp.where(i >= n, i > 2, i < 3),
])  # fmt: skip
@pytest.mark.parametrize("n", [-1, 0, 1, 3, 4, 5])
def test_comparisons_of_positions_with_numbers(fun, n):
    x = np.array([3, 1, 4, 1, 5], np.int32)
    function = lambda x: fun(lax.top_k(x, 5)[1], n)
    _, exported = model_of(function, x)
    np.testing.assert_array_equal(exported.call(x), function(x))
