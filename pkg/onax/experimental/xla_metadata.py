"""Attributes of operations for XLA, under the name of jax.experimental.xla_metadata; there is no XLA to read them."""

from collections.abc import Mapping
from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import AnyFunction, PyTree


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


def xla_metadata_call(f: AnyFunction = None, /, **meta: Any) -> Any:
    """Returns the function as it is; without one, a decorator.

    Args:
      f: a function.
      **meta: names and values for XLA, which is not there: each a str, bool, int or float.

    Returns:
      The function, or a decorator.

    Raises:
      TypeError: another value.

    Examples:
      >>> from onax.experimental.xla_metadata import xla_metadata_call
      >>> xla_metadata_call(lambda x: x * 2, a=1)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    _check_metadata(meta)
    return _unchanged if f is None else f


def xla_metadata_call2(f: AnyFunction = None, /, metadata: Any = None, *, ad_metadata: Any = "same") -> Any:
    """Returns the function as it is, as `xla_metadata_call` does; new in JAX 0.12.

    Args:
      f: a function, or the dict, which gives a decorator.
      metadata: a dict of names and values for XLA, which is not there: each a str, bool, int or float.
      ad_metadata: "same", "drop" or a dict: those of the derivatives.

    Returns:
      The function, or a decorator.

    Raises:
      TypeError: another kind of argument or value.

    Examples:
      >>> from onax.experimental.xla_metadata import xla_metadata_call2
      >>> xla_metadata_call2({"a": 1})(lambda x: x * 2)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    if isinstance(f, Mapping) and metadata is None:
        f, metadata = None, f
    if f is not None and not callable(f):
        raise TypeError(f"expected a callable to wrap, got {f!r}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict, got {metadata!r}")
    if ad_metadata not in ("same", "drop") and not isinstance(ad_metadata, Mapping):
        raise TypeError(f"ad_metadata must be 'same', 'drop', or a dict of metadata, got {ad_metadata!r}")
    for given in (metadata or {}, ad_metadata if isinstance(ad_metadata, Mapping) else {}):
        _check_metadata(given)
    return _unchanged if f is None else f


def fuse_limit() -> Any:
    """Returns a context manager that changes nothing: there is no fusion of XLA to end; new in JAX 0.12.

    Returns:
      A context manager.

    Examples:
      >>> from onax.experimental.xla_metadata import fuse_limit
      >>> with fuse_limit():
      ...     x = jnp.ones(2) + 1
    """
    return _NoMetadata()


def must_fuse_call(identifier: str) -> Any:
    """Returns a decorator that leaves a function as it is, which JAX has XLA fuse; new in JAX 0.12.

    Args:
      identifier: the name of the fusion for XLA, which is not there.

    Returns:
      A decorator.

    Examples:
      >>> from onax.experimental.xla_metadata import must_fuse_call
      >>> must_fuse_call("1")(lambda x: x * 2)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    return xla_metadata_call(MUST_FUSE=identifier)


def _check_metadata(meta):
    for key, value in meta.items():
        if not isinstance(value, (str, bool, int, float)):
            raise TypeError(
                f"xla_metadata_call metadata values must be str, bool, int, or float, got {type(value)} for key {key!r}"
            )


def _unchanged(f):
    return f


class _NoMetadata:
    """A context without effect."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None

    def __call__(self, f):
        return f


__all__ = ["fuse_limit", "must_fuse_call", "set_xla_metadata", "xla_metadata_call", "xla_metadata_call2"]

_wrap_api_functions(globals(), __name__)
