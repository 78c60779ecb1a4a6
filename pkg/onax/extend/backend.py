"""The platforms and their devices, under the names of jax.extend.backend.

There is no XLA: compile options and backend factories do not exist.
"""

from onax._compile.cache import clear_caches as clear_in_memory_compilation_cache
from onax._ground.devices import backends, get_backend
from onax._ground.devices import current_default as get_default_device


def backend_xla_version(platform=None):
    """None, as no backend is XLA's.  Raises RuntimeError for an unknown platform."""
    get_backend(platform)


__all__ = ["backend_xla_version", "backends", "clear_in_memory_compilation_cache", "get_backend", "get_default_device"]
