"""Wraps the functions of public modules, so that their errors name the function that the user called.

Many messages are JAX's, which tests of libraries look for.  Where a message does not name the function, a note does.

JAX compiles many of these functions with options such as `axis` as static arguments, and hashes them first.  The
wrappers check these hashes too: those of the parameters that `staged` or `static_argnames` recorded on the function.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable
from functools import update_wrapper
from types import CodeType

import numpy as np

from onax._core.paths import keystr, tree_leaves_with_path
from onax._core.trace import valid_jaxtype
from onax._ground.source import is_internal
from onax._ground.typing import Function
from onax._native.api_boundary import ApiFunction, unwrap
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.library_function import LibraryFunction
from onax._native.tree import tree_flatten

_NUMPY = os.path.dirname(np.__file__)
_PLAIN = (TypeError, ValueError, IndexError, OverflowError)


compiled_code: set[CodeType] = set()  # of the functions that JAX compiles, for messages about their arguments


def static_argnames(*names: str) -> Callable[[Function], Function]:
    """Decorator for functions that JAX compiles and that are not `staged`: records which parameters are static there.

    These functions have `lower`, `trace`, `eval_shape` and `clear_cache`, as all functions that JAX compiles have.
    """

    def decorate(function):
        function.static_argnames = names
        compiled_code.add((function.fun if type(function) is LibraryFunction else function).__code__)
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
            namespace[name] = call = _wrap(function, name, module, label)
            original = function.__name__
            if original != name and getattr(namespace.get(original), "__doc__", None) == function.__doc__:
                call.__doc__ = f"Alias of `{original}`. {function.__doc__}"


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


def check_hashable(values):
    """Raises the error for the first of these static arguments that has no hash."""
    for value in values:
        try:
            hash(value)
        except TypeError as error:
            raise unhashable_error(value, error) from None


def name_error(error, label, args=()):
    """Adds a note with the function's name and the types of its operands to an error that a call raised.

    There is no note if the message contains them already.
    """
    if not isinstance(error, _PLAIN) or not _is_raised_by_onax(error):
        return
    if type(error) is TypeError:
        _restate(error, label, args)
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    avals = _types(args)
    named = re.search(rf"(?<![A-Za-z]){re.escape(label.rpartition('.')[2])}", text)
    complete = all(str(a.shape) in text or a.str_short() in text for a in avals)
    if not named or not (complete or _SHAPES.search(text) is None):
        types = ", ".join(a.str_short() for a in avals)
        error.add_note(f"In a call of {label}({types}).")


_SHAPES = re.compile("shape|dimension|broadcast")
_NO_ARRAY = re.compile(r"(\S+) requires ndarray or scalar arguments, got <class .*> at position \d+\.")


def _restate(error, label, args):
    """Says what JAX says where a function has two names, and where its jit refuses an operand before the function."""
    module, _, name = label.rpartition(".")
    function = vars(sys.modules[module]).get(name) if module in sys.modules else None
    if type(function) is not ApiFunction:
        return
    text = str(error)
    if "static_argnames" in vars(function) and _NO_ARRAY.fullmatch(text):
        text = _no_array(function, args) or text
    own = getattr(unwrap(function), "__name__", name)
    if text.startswith((f"{own} requires ", f"{own}() ")):
        text = name + text[len(own) :]
    if text != str(error):
        error.args = (text,)


def _no_array(function, args):
    """What JAX's jit says of the first operand that is no array; None if there is none."""
    plain = inspect.unwrap(unwrap(function))
    static = _positions(plain, function.static_argnames)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    for i, x in enumerate(args):
        for path, leaf in tree_leaves_with_path(x) if i not in static and i < len(names) else ():
            if valid_jaxtype(leaf):
                continue
            if isinstance(leaf, ShapedArray) or (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
                short = ShapedArray(leaf.shape, leaf.dtype).str_short()
                where = f"Argument '{names[i]}{keystr(path)}' of shape {short}"
                return f"{where} of type {type(leaf)} is not a valid JAX type."
            return (
                f"Error interpreting argument to {function} as an abstract array. The problematic value is of type "
                f"{type(leaf)} and was passed to the function at path {names[i]}{keystr(path)}."
            )
    return None


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
