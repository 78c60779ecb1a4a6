"""Wraps the functions of public modules, so that their errors name the function that the user called.

Many messages are JAX's, which tests of libraries look for.  Where a message does not name the function, a note does.

JAX compiles many of these functions with options such as `axis` as static arguments, and hashes them first.  The
wrappers check these hashes too: those of the parameters that `staged` or `static_argnames` recorded on the function.
"""

import os
import re
from collections.abc import Callable
from functools import update_wrapper

import numpy as np

from onax._ground.source import is_internal
from onax._ground.typing import Function
from onax._native.api_boundary import ApiFunction
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.library_function import LibraryFunction
from onax._native.tree import tree_flatten

_NUMPY = os.path.dirname(np.__file__)
_PLAIN = (TypeError, ValueError, IndexError, OverflowError)


def static_argnames(*names: str) -> Callable[[Function], Function]:
    """Decorator for functions that JAX compiles and that are not `staged`: records which parameters are static there.

    These functions have `lower`, `trace`, `eval_shape` and `clear_cache`, as all functions that JAX compiles have.
    """

    def decorate(function):
        function.static_argnames = names
        return function

    return decorate


def wrap_api_functions(namespace, module, unnamed=()):
    """Replaces the functions in a public module's namespace by wrappers, which add the function's name to errors and
    remove frames of onax from tracebacks.

    `unnamed` are functions whose own checks name them.
    """
    for name, function in list(namespace.items()):
        own = type(function) in _FUNCTIONS and function.__module__.startswith("onax.")
        if own and not name.startswith("_"):
            label = None if name in unnamed else f"{module}.{name}"
            namespace[name] = _wrap(function, name, module, label)


_FUNCTIONS = frozenset({type(wrap_api_functions), type(tree_flatten), LibraryFunction})


def _wrap(function, name, module, label):
    static = getattr(function, "static_argnames", ())
    call = update_wrapper(
        ApiFunction(function, label, _positions(function, static) if static else (), static), function
    )
    call.__name__ = call.__qualname__ = name
    call.__module__ = module
    return call


def unhashable_error(value, error):
    """The error for a static argument that has no hash."""
    return ValueError(
        "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of "
        f"type {type(value)}, {value}. The error was:\nTypeError: {error}\n"
    )


def name_error(error, label, args=()):
    """Adds a note with the function's name and the types of its operands to an error that a call raised.

    There is no note if the message contains them already.
    """
    if not isinstance(error, _PLAIN) or not _is_raised_by_onax(error):
        return
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    avals = _types(args)
    named = re.search(rf"(?<![A-Za-z]){re.escape(label.rpartition('.')[2])}", text)
    complete = all(str(a.shape) in text or a.str_short() in text for a in avals)
    if not named or not (complete or _SHAPES.search(text) is None):
        types = ", ".join(a.str_short() for a in avals)
        error.add_note(f"In a call of {label}({types}).")


_SHAPES = re.compile("shape|dimension|broadcast")


def _types(args):
    """Types of the first few arrays among the arguments, also in lists and tuples."""
    result = []
    for x in args:
        for item in x if isinstance(x, (list, tuple)) else (x,):
            if isinstance(item, Array):
                result.append(item.aval)
            elif isinstance(item, np.ndarray) and item.dtype.kind in "biufc":
                result.append(ShapedArray(item.shape, item.dtype))
    return result[:6]


def _is_raised_by_onax(error):
    """Whether onax, or NumPy called by onax, raised the error, and not a function of the user."""
    entry = error.__traceback__
    inside = entry is None  # no frame: the call itself failed
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        inside = is_internal(file) or (inside and file.startswith(_NUMPY))
        entry = entry.tb_next
    return inside


def _positions(function, static):
    """Indices of the static parameters among the positional ones."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    return tuple(i for i, name in enumerate(code.co_varnames[: code.co_argcount]) if name in static)
