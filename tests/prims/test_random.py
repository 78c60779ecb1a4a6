"""Primitives of random keys: words, what they refuse, parameters that are hidden, layouts of counters."""

import numpy as np
import pytest

import onax as jax
from onax import random
from onax._prims import random as prims
from onax._prims.random_generators import threefry_impl

KEYS = random.split(random.key(3), 4)
WORDS = np.asarray(random.key_data(KEYS))


def test_keys_and_words():
    again = prims.random_wrap_p.bind(WORDS, impl=threefry_impl)
    assert again.dtype == KEYS.dtype and bool((again == KEYS).all())
    np.testing.assert_array_equal(prims.unwrap_keys(KEYS[1:3]), WORDS[1:3])
    assert bool((prims.random_clone_p.bind(KEYS) == KEYS).all())
    assert prims.is_key_dtype(KEYS.dtype) and not prims.is_key_dtype(WORDS.dtype)


@pytest.mark.parametrize("call, text", [
    (lambda: prims.random_wrap_p.bind(WORDS[:, :1], impl=threefry_impl), r"takes uint32 of shape \(..., 2\)"),
    (lambda: prims.random_wrap_p.bind(WORDS.astype(np.int32), impl=threefry_impl), "takes uint32"),
    (lambda: prims.random_split_p.bind(WORDS, shape=(2,)), "takes an array of random keys, got dtype uint32"),
    (lambda: prims.random_fold_in_p.bind(KEYS, np.int32(1)), "takes data of dtype uint32, got int32"),
    (lambda: prims.random_bits_p.bind(KEYS, bit_width=12, shape=()), "8, 16, 32 or 64 bits, not 12"),
    (lambda: prims.draw_gamma(KEYS, np.ones(3, np.float32), False), "first axes are those of the keys"),
    (lambda: prims.draw_gamma(KEYS, np.ones(4, np.int32), False), "floating parameters"),
    (lambda: prims.threefry2x32_p.bind(*WORDS[0], np.float32(1), WORDS[0, 0]), "must have uint32 type"),
])  # fmt: skip
def test_refused(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_each_key_draws_alone():
    bits = prims.draw_bits(KEYS, 32, (3,))
    for i in range(4):
        np.testing.assert_array_equal(bits[i], prims.draw_bits(KEYS[i], 32, (3,)))
    np.testing.assert_array_equal(jax.vmap(lambda k: prims.draw_bits(k, 32, (3,)))(KEYS), bits)
    assert prims.split_keys(KEYS, (2, 3)).shape == (4, 2, 3)
    assert [prims.draw_bits(KEYS, width, ()).dtype for width in (8, 16, 32)] == [np.uint8, np.uint16, np.uint32]


def test_the_layout_of_counters_is_chosen_when_the_equation_is_made():
    f = lambda k: prims.draw_bits(k, 32, (5,))
    with jax.threefry_partitionable(False):
        jaxpr, old = jax.make_jaxpr(f)(KEYS[0]), f(KEYS[0])
    assert jaxpr.eqns[0].params["partitionable"] is False and "partitionable" not in str(jaxpr)
    np.testing.assert_array_equal(jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, KEYS[0])[0], old)
    assert "partitionable" not in jax.make_jaxpr(f)(KEYS[0]).eqns[0].params and not np.array_equal(f(KEYS[0]), old)


@pytest.mark.parametrize("log_space", [False, True])
def test_the_derivative_of_gamma_draws(log_space):
    """Against differences at the same key, which the sampler follows smoothly where it accepts the same candidates."""
    alpha = np.float32([2.5, 4.0, 7.0, 11.0])
    draw = lambda a: prims.draw_gamma(KEYS, a, log_space)
    _, tangent = jax.jvp(draw, (alpha,), (np.ones(4, np.float32),))
    h = np.float32(1e-2)
    np.testing.assert_allclose(tangent, (draw(alpha + h) - draw(alpha - h)) / (2 * h), rtol=0.1)
