"""onax.scipy: SciPy's functions on onax arrays."""

import importlib

_LATER = frozenset({"fft", "integrate", "linalg", "signal", "special", "stats"})  # imported when first asked for


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f"onax.scipy.{name}")
    raise AttributeError(f"module 'onax.scipy' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
