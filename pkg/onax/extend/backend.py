"""The platforms and their devices, under the names of jax.extend.backend.

There is no XLA: compile options and backend factories are refused.
"""

from typing import Any, NoReturn

from onax._compile.cache import clear_caches as clear_in_memory_compilation_cache
from onax._ground.devices import backends, get_backend
from onax._ground.devices import current_default as get_default_device
from onax._ground.unavailable import unavailable as _unavailable


def backend_xla_version(platform: str | None = None) -> None:
    """Returns None: no backend is XLA's.

    Args:
      platform: the name of a platform; default None, the default one.

    Returns:
      None.

    Raises:
      RuntimeError: there is no such platform.

    Examples:
      >>> from onax.extend import backend
      >>> backend.backend_xla_version()
    """
    get_backend(platform)


def clear_backends(_crash=False) -> None:
    """Forgets all compiled programs; the devices stay.

    Returns:
      None.

    Examples:
      >>> from onax.extend import backend
      >>> backend.clear_backends()
    """
    clear_in_memory_compilation_cache()


def get_compile_options(
    num_replicas: int,
    num_partitions: int,
    device_assignment: Any = None,
    env_options_overrides: Any = None,
    fdo_profile: Any = None,
    detailed_logging: bool = True,
    backend: Any = None,
) -> NoReturn:
    """Raises NotImplementedError: there is no compiler of XLA that would take options.

    Args:
      num_replicas: an int.
      num_partitions: an int.
      device_assignment: an array of ints.
      env_options_overrides: a dict.
      fdo_profile: bytes.
      detailed_logging: a bool.
      backend: a backend.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.extend import backend
      >>> backend.get_compile_options(1, 1)
      Traceback (most recent call last):
          ...
      NotImplementedError: get_compile_options: onax compiles by itself and with ONNX ...
    """
    raise NotImplementedError("get_compile_options: onax compiles by itself and with ONNX Runtime, not with XLA")


def register_backend_factory(
    name: str,
    factory: Any,
    *,
    priority: int = 0,
    fail_quietly: bool = True,
    experimental: bool = False,
    make_topology: Any = None,
    c_api: Any = None,
) -> NoReturn:
    """Raises NotImplementedError: devices are the CPU's and those of ONNX Runtime's providers.

    Args:
      name: a str.
      factory: a function.
      priority: an int.
      fail_quietly: a bool.
      experimental: a bool.
      make_topology: a function.
      c_api: a capsule.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.extend import backend
      >>> backend.register_backend_factory("mine", None)
      Traceback (most recent call last):
          ...
      NotImplementedError: register_backend_factory('mine'): devices are the CPU's and ...
    """
    raise NotImplementedError(
        f"register_backend_factory({name!r}): devices are the CPU's and those of ONNX Runtime's providers"
    )


__getattr__ = _unavailable(
    __name__,
    {
        "register_backend_cache": (
            "caches that programs fill are cleared by onax.clear_caches; a library's own are its own"
        ),
    },
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
