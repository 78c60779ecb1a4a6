"""Masks that are computed from constants."""

import numpy as np
import pytest

import onax.numpy as jnp
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
