"""The folder of compiled programs, under the names of jax.experimental.compilation_cache.compilation_cache."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import monitoring
from onax._ground.config import config


def set_cache_dir(path: str) -> None:
    """Sets the folder in which compiled programs persist: the option `jax_compilation_cache_dir`.

    Args:
      path: the folder, a str.

    Examples:
      >>> from onax.experimental.compilation_cache import compilation_cache
      >>> compilation_cache.set_cache_dir("programs")
      >>> onax.config.jax_compilation_cache_dir
      'programs'
      >>> onax.config.update("jax_compilation_cache_dir", None)
    """
    config.update("jax_compilation_cache_dir", path)


def reset_cache() -> None:
    """Forgets that the folder was used; the option that names it and the files in it stay.

    Examples:
      >>> from onax.experimental.compilation_cache import compilation_cache
      >>> before = onax.config.jax_compilation_cache_dir
      >>> compilation_cache.reset_cache()
      >>> onax.config.jax_compilation_cache_dir == before
      True
    """
    monitoring.forget_cache()


__all__ = ["reset_cache", "set_cache_dir"]

_wrap_api_functions(globals(), __name__)
