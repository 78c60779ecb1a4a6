"""Attributes of operations for XLA, under the name of jax.experimental.xla_metadata; there is no XLA to read them."""

from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import PyTree


def set_xla_metadata(x: PyTree = None, **kwargs: Any) -> Any:
    """Returns a tree unchanged; without it a context manager, which is a decorator too, that changes nothing.

    Args:
      x: a tree of arrays, or None.
      **kwargs: names and values for XLA, which is not there.

    Returns:
      The tree, or a context manager.

    Examples:
      >>> from onax.experimental.xla_metadata import set_xla_metadata
      >>> set_xla_metadata(jnp.ones(2), a=1)
      Array([1., 1.], dtype=float32)
    """
    return _NoMetadata() if x is None else x


class _NoMetadata:
    """A context without effect."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None

    def __call__(self, f):
        return f


__all__ = ["set_xla_metadata"]

_wrap_api_functions(globals(), __name__)
