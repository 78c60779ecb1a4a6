"""onax.scipy: SciPy's functions on onax arrays."""

import importlib

_LATER = frozenset(  # imported when first asked for
    "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats".split()
)


def __getattr__(name):
    if name in _LATER:
        return importlib.import_module(f"onax.scipy.{name}")
    raise AttributeError(f"module 'onax.scipy' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
