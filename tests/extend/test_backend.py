"""Platforms and devices under the names of jax.extend.backend."""

import pytest

import onax
from onax.extend import backend


def test_devices():
    assert backend.get_backend().platform == "cpu" and "cpu" in backend.backends()
    with onax.default_device(onax.devices()[0]):
        assert backend.get_default_device() == onax.devices()[0]


def test_no_backend_is_that_of_xla():
    assert backend.backend_xla_version() is None and backend.backend_xla_version("cpu") is None
    with pytest.raises(RuntimeError, match="abacus"):
        backend.backend_xla_version("abacus")


def test_compiled_programs_are_forgotten():
    traces = []

    @onax.jit
    def f(x):
        traces.append(x)
        return x + 1

    f(1.0), f(1.0)
    backend.clear_in_memory_compilation_cache()
    assert float(f(1.0)) == 2 and len(traces) == 2
    backend.clear_backends()
    assert float(f(1.0)) == 2 and len(traces) == 3


@pytest.mark.parametrize("name", ["get_compile_options", "register_backend_factory"])
def test_what_is_of_xla(name):
    with pytest.raises(NotImplementedError, match="ONNX Runtime"):
        getattr(backend, name)("x", "y")
