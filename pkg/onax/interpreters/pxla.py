"""Programs over several devices, under the names of jax.interpreters.pxla; XLA compiles nothing here."""

import warnings
from types import SimpleNamespace
from typing import Any, NoReturn

from onax._core.meshes import mesh_of_options


def create_compile_options(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: there is no compiler of XLA that would take options.

    Args:
      args: anything.
      kwargs: anything.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.interpreters.pxla.create_compile_options()
      Traceback (most recent call last):
          ...
      NotImplementedError: create_compile_options: onax compiles by itself and with ...
    """
    raise NotImplementedError("create_compile_options: onax compiles by itself and with ONNX Runtime, not with XLA")


class _ThreadResources:
    """What `thread_resources` is: `env.physical_mesh` is the mesh of ``with mesh:``, an empty one outside."""

    @property
    def env(self) -> SimpleNamespace:
        return SimpleNamespace(physical_mesh=mesh_of_options(True))


_thread_resources = _ThreadResources()


def __getattr__(name: str) -> Any:
    if name != "thread_resources":
        raise AttributeError(f"module 'onax.interpreters.pxla' has no attribute {name!r}")
    warnings.warn(
        "onax.interpreters.pxla.thread_resources is deprecated; enter a mesh by `onax.set_mesh`, and read it by "
        "`onax.sharding.get_abstract_mesh`.",
        DeprecationWarning,
        stacklevel=2,
    )
    return _thread_resources


__all__ = ["create_compile_options"]
