"""The provider option of sessions: CUDA where it is there, the runtime's words where it is not."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

HAS_GPU = jax.default_backend() == "gpu" or any(d.platform == "gpu" for d in jax.devices())


def run(**options):
    return jax.jit(lambda x: jnp.tanh(x) + 1, compiler_options=options)(jnp.arange(3.0))


@pytest.mark.skipif(HAS_GPU, reason="there is a CUDA device")
@pytest.mark.parametrize("given", [{}, {"device_id": 0}])
def test_a_provider_that_cannot_be_loaded_is_an_error(given):
    with pytest.raises(jax.errors.BackendError, match="ONNX Runtime refused"):
        run(provider="cuda", provider_options=given)
    np.testing.assert_allclose(np.asarray(run(provider="cpu")), np.tanh(np.arange(3)) + 1, rtol=1e-6)


def test_unknown_providers_and_options_are_errors():
    with pytest.raises(ValueError, match="unknown provider 'tpu'"):
        run(provider="tpu")
    with pytest.raises(ValueError, match="No such compile option: 'speed'"):
        run(speed=1)


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="there is no CUDA device")
def test_cuda_runs_a_graph():
    np.testing.assert_allclose(
        np.asarray(run(provider="cuda", provider_options={"device_id": 0})), np.tanh(np.arange(3)) + 1, rtol=1e-5
    )


@pytest.mark.skipif(HAS_GPU, reason="there is a CUDA device")
def test_other_providers_get_no_nodes_of_ours():
    """They run on the CPU: a program that needs one is refused before the provider is asked for."""
    f = lambda x: jax.pure_callback(np.sin, x, x)
    assert jax.jit(f)(jnp.arange(3.0)).shape == (3,)
    with pytest.raises(jax.errors.LoweringError, match="it calls Python"):
        jax.jit(f, compiler_options={"provider": "cuda"})(jnp.arange(3.0))
