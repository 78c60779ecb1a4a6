"""jit under its former name, with the mesh of ``with mesh:`` as the mesh in context; `onax.jit` is the one to use."""

import dataclasses
import functools
import inspect
import warnings

from onax._compile.jit import PjitFunction, jit
from onax._compile.jit_options import jit_options, mark_whole
from onax._transforms.flatten import check_callable

# unlike `jit`, pjit takes its options by position too
_SIGNATURE = inspect.Signature(
    [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in inspect.signature(jit).parameters.values()]
)


def _pjit(*args, **options):
    given = _SIGNATURE.bind(*args, **options)
    if given.arguments.get("device") is None and given.arguments.get("backend") is None:
        for option in {"in_shardings", "out_shardings"} & given.arguments.keys():
            given.arguments[option] = mark_whole(given.arguments[option])
    given.apply_defaults()
    if not args and "fun" not in options:
        return functools.partial(_pjit, **options)
    fun = given.arguments.pop("fun")
    check_callable(fun)
    options = jit_options(fun, given.arguments)
    return PjitFunction(fun, dataclasses.replace(options, uses_with_mesh=True))


functools.update_wrapper(_pjit, jit)
_pjit.__name__ = _pjit.__qualname__ = "pjit"


def __getattr__(name):
    if name != "pjit":
        raise AttributeError(f"module 'onax.experimental.pjit' has no attribute {name!r}")
    warnings.warn("onax.experimental.pjit.pjit is deprecated; use onax.jit.", DeprecationWarning, stacklevel=2)
    return _pjit
