"""The platforms and their devices, under the names of jax.extend.backend.

There is no XLA: compile options and backend factories are refused.
"""

from onax._compile.cache import clear_caches as clear_in_memory_compilation_cache
from onax._ground.devices import backends, get_backend
from onax._ground.devices import current_default as get_default_device


def backend_xla_version(platform=None):
    """None, as no backend is XLA's.  Raises RuntimeError for an unknown platform."""
    get_backend(platform)


def clear_backends(_crash=False):
    """Forgets all compiled programs; the devices stay, as no client of a runtime holds them."""
    clear_in_memory_compilation_cache()


def get_compile_options(
    num_replicas,
    num_partitions,
    device_assignment=None,
    env_options_overrides=None,
    fdo_profile=None,
    detailed_logging=True,
    backend=None,
):
    """Raises NotImplementedError: there is no compiler of XLA that would take options."""
    raise NotImplementedError("get_compile_options: onax compiles by itself and with ONNX Runtime, not with XLA")


def register_backend_factory(
    name, factory, *, priority=0, fail_quietly=True, experimental=False, make_topology=None, c_api=None
):
    """Raises NotImplementedError: devices are the CPU's and those of ONNX Runtime's providers."""
    raise NotImplementedError(
        f"register_backend_factory({name!r}): devices are the CPU's and those of ONNX Runtime's providers"
    )


__all__ = [
    "backend_xla_version",
    "backends",
    "clear_backends",
    "clear_in_memory_compilation_cache",
    "get_backend",
    "get_compile_options",
    "get_default_device",
    "register_backend_factory",
]
