"""Programs over several devices, under the names of jax.interpreters.pxla; XLA compiles nothing here."""

from typing import Any, NoReturn


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


__all__ = ["create_compile_options"]
