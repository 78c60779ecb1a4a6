"""rng_uniform, and primitives of JAX that are made of others."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax


@pytest.mark.parametrize("call", [lambda f: f, jax.jit])
@pytest.mark.parametrize("low, high", [(-1.0, 2.0), (3, 5), (np.float16(0), np.float16(1))])
def test_rng_uniform(call, low, high):
    draw = call(lambda a, b: lax.rng_uniform(a, b, (1000,)))
    first, second = draw(low, high), draw(low, high)
    assert first.dtype == jnp.asarray(low).dtype and first.shape == (1000,)
    assert bool((first >= low).all() and (first < high).all()) and not np.array_equal(first, second)
    assert abs(float(first.astype("float32").mean()) - (4 - 0.5 if low == 3 else (low + high) / 2)) < 0.15
    assert lax.rng_uniform_p.bind(jnp.float32(0), jnp.float32(1), shape=(2, 3)).shape == (2, 3)


def test_rng_uniform_refuses():
    with pytest.raises(ValueError, match="identical dtypes, got float32 and int32"):
        lax.rng_uniform(0.0, 1, ())
    with pytest.raises(ValueError, match="must be scalars"):
        lax.rng_uniform(jnp.zeros(2), 1.0, ())


def test_reduce_window_of_a_program():
    product = jax.make_jaxpr(lambda a, b: a * b)(1.0, 1.0).jaxpr
    ones = {"window_strides": (1,), "base_dilation": (1,), "window_dilation": (1,)}
    bind = lambda x: lax.reduce_window_p.bind(
        x, 1.0, jaxpr=product, consts=(), window_dimensions=(2,), padding=((0, 0),), **ones
    )
    (out,) = jax.jit(bind)(jnp.array([2.0, 3.0, 5.0]))
    assert out.tolist() == [6, 15]


def test_tokens_bits_and_stage():
    assert isinstance(lax.after_all_p.bind(lax.create_token_p.bind()), type(lax.create_token()))
    assert lax.stage_p.bind(2.0).weak_type
    key = jnp.arange(4, dtype="uint32")
    new, bits = lax.rng_bit_generator_p.bind(
        key, shape=(3,), dtype=np.uint32, algorithm=lax.RandomAlgorithm.RNG_DEFAULT
    )
    assert bits.tolist() == lax.rng_bit_generator(key, (3,))[1].tolist() and new.shape == (4,)
    with pytest.raises(NotImplementedError, match="select_and_scatter_add_p"):
        lax.select_and_scatter_p.bind(jnp.ones(2), jnp.ones(2), 0.0)
