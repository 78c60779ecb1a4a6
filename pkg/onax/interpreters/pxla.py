"""Programs over several devices, under the names of jax.interpreters.pxla; XLA compiles nothing here."""


def create_compile_options(*args, **kwargs):
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
