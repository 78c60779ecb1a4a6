"""jit under its former name; `onax.jit` is the one to use."""

import warnings

from onax._compile.jit import jit


def __getattr__(name):
    if name != "pjit":
        raise AttributeError(f"module 'onax.experimental.pjit' has no attribute {name!r}")
    warnings.warn("onax.experimental.pjit.pjit is deprecated; use onax.jit.", DeprecationWarning, stacklevel=2)
    return jit
