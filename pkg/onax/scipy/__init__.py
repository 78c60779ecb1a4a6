"""onax.scipy: SciPy's functions on onax arrays."""

import importlib

_LAZY_MODULES = frozenset(  # imported on first access
    "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats".split()
)


def __getattr__(name):
    if name in _LAZY_MODULES:
        return importlib.import_module(f"onax.scipy.{name}")
    raise AttributeError(f"module 'onax.scipy' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES})
