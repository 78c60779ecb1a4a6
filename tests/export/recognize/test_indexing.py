"""Elements at indices that may be negative or out of bounds, in exported models."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from recognition import model_of

TABLE = np.random.default_rng(0).normal(size=(10, 40)).astype(np.float32)
INDICES = np.array([[0, 9, -1, -10], [10, -11, 2**31 - 1, -(2**31)]], np.int32)


@pytest.mark.parametrize("fun, operators", [
    (lambda i: jnp.asarray(TABLE)[i], "Clip Gather"),
    (lambda i: jnp.take(TABLE, i, axis=1, mode="clip"), "Clip Gather"),
    (lambda i: jnp.take(TABLE, i, axis=0), "Clip Equal Gather Reshape Where"),
    (lambda i: jnp.asarray(TABLE).at[i].get(mode="fill", fill_value=3), "Clip Equal Gather Reshape Where"),
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
