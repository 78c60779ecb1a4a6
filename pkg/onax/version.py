"""The version of onax, under the names of jax.version."""

from onax import __version__

__version_info__ = tuple(int(part) for part in __version__.split("."))

__all__ = ["__version__", "__version_info__"]
