"""stateful_rng: the numbers of real JAX 0.10.2, draws in transformed functions, and errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.random import StatefulPRNG, stateful_rng


def test_draws_are_those_of_jax():
    rng = stateful_rng(42)
    assert jax.random.key_data(rng.key()).tolist() == [1832780943, 270669613]
    assert jax.random.key_data(rng.key(3))[1].tolist() == [2350016172, 1168365246]
    np.testing.assert_allclose(rng.random(), 0.6672406, rtol=1e-6)
    np.testing.assert_allclose(rng.uniform(1, 2, (2,)), [1.3890121, 1.085736], rtol=1e-6)
    np.testing.assert_allclose(rng.normal(size=2), [0.6549178, 0.17345214], rtol=1e-6)
    assert rng.integers(10, size=(2, 3)).tolist() == [[3, 6, 8], [8, 9, 1]]
    assert jax.random.key_data(rng.split(2)._base_key)[0].tolist() == [2494647183, 4076531018]
    with pytest.raises(ValueError, match="cannot operate on split stateful generator"):
        rng.split(2).key()
    assert [child.integers(0, 10, 2).tolist() for child in rng.spawn(2)] == [[8, 4], [3, 8]]
    np.testing.assert_allclose(jax.jit(rng.uniform)(), 0.08910954, rtol=1e-6)
    mapped = jax.vmap(lambda rng, x: x + rng.uniform())(rng.split(3), jnp.zeros(3))
    np.testing.assert_allclose(mapped, [0.23398232, 0.71758664, 0.29490304], rtol=1e-6)
    np.testing.assert_allclose(jax.jit(lambda rng: rng.uniform())(rng), 0.51772594, rtol=1e-6)
    assert repr(rng) == (
        "StatefulPRNG(_base_key=Array((), dtype=key<fry>) overlaying:\n[ 0 42], _counter=Ref(12, dtype=int32, "
        "weak_type=True))"
    )


def test_parameters_give_shapes_and_dtypes():
    drawn = stateful_rng(7).normal(jnp.zeros(2), 2.0, dtype="float16")
    assert drawn.dtype == np.float16 and drawn.shape == (2,)
    np.testing.assert_allclose(
        stateful_rng(3).uniform(jnp.zeros(3), 1), [0.00869536, 0.04398847, 0.31157303], rtol=1e-5
    )
    assert stateful_rng(3).integers(jnp.arange(3), 10).tolist() == [2, 2, 8]
    assert stateful_rng(3).random((2,), "bfloat16").tolist() == [0.75, 0.1953125]
    assert stateful_rng(3, impl="rbg").key().dtype == jax.random.key_dtype("rbg")
    assert (stateful_rng().random((8,)) != stateful_rng().random((8,))).any()


def test_errors():
    with pytest.raises(TypeError, match="requires an explicit seed to be set"):
        jax.jit(lambda: stateful_rng().random())()
    with pytest.raises(ValueError, match="Expected base_key to be a typed PRNG key; got 1"):
        StatefulPRNG(1, 2)
    with pytest.raises(ValueError, match="Expected counter to be a scalar integer ref; got 2"):
        StatefulPRNG(jax.random.key(0), 2)
