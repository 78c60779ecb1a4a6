"""Flat functions of pytree functions, static arguments, and names of arguments and results."""

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from onax._core.jaxpr import DebugInfo
from onax._core.paths import keystr, skeleton, tree_flatten_with_path
from onax._core.trace import Tracer, typeof
from onax._ground import source
from onax._ground.typing import AnyFunction
from onax._native.tree import tree_flatten, tree_map, tree_unflatten


class FlatFunction:
    """A function of pytrees as a function from flat values to flat values; a call sets `out_tree`."""

    __slots__ = ("aux", "fun", "has_aux", "in_tree", "out_tree")

    def __init__(self, fun, in_tree, has_aux=False):
        self.fun = fun
        self.in_tree = in_tree
        self.out_tree = None
        self.has_aux = has_aux
        self.aux = None

    def __call__(self, *flat):
        args, kwargs = tree_unflatten(self.in_tree, flat)
        out = self.fun(*args, **kwargs)
        if self.has_aux:
            out, self.aux = split_aux(out)
        leaves, self.out_tree = tree_flatten(out)
        return leaves

    def strip_aux(self, trace):
        """Replaces the trace's tracers in the auxiliary output by their primals; called before the trace ends."""
        if self.has_aux:
            self.aux = tree_map(lambda x: trace.unpack(x)[0] if isinstance(x, Tracer) else x, self.aux)


def split_aux(out):
    """The (output, auxiliary output) of a has_aux function; raises TypeError for anything but a pair."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(
            "expected function with aux output to return a two-element tuple, "
            f"but got type {type(out)} with value {out!r}"
        )
    return out


def check_callable(fun, name=""):
    """Raises TypeError unless the argument is a function (no generator function); `name` is that of the caller."""
    where = f", in a call of {name}" if name else ""
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}{where}")
    if isinstance(fun, staticmethod):
        raise TypeError(f"staticmethod arguments are not supported, got {fun}{where}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"Expected a function, got a generator function: {fun}{where}")


def fun_name(fun):
    """A function's name for messages and `jit` equations."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def fun_source_info(fun):
    """`name at file:line`, or the name of a built-in function, else "<unknown>"."""
    inner = _innermost(fun)
    code = getattr(inner, "__code__", None)
    if code is not None:
        return f"{fun_name(fun)} at {code.co_filename}:{code.co_firstlineno}"
    return inner.__name__ if isinstance(inner, types.BuiltinFunctionType) else "<unknown>"


def is_library_function(fun):
    """Whether a function belongs to onax (`jnp.sort`), so that all its callers share what is staged of it."""
    code = getattr(_innermost(fun), "__code__", None)
    return code is not None and source.is_internal(code.co_filename)


def _innermost(fun):
    """The function inside wrappers."""
    inner = fun
    while True:
        if isinstance(inner, functools.partial):
            inner = inner.func
        elif hasattr(inner, "__wrapped__"):
            inner = inner.__wrapped__
        elif hasattr(inner, "__func__"):
            inner = inner.__func__
        else:
            return inner


_signatures = weakref.WeakKeyDictionary()


def fun_signature(fun):
    """inspect.signature, or None if there is none; cached as long as the function lives."""
    try:
        return _signatures[fun]
    except (KeyError, TypeError):  # not cached, or without weak references
        pass
    try:
        signature = inspect.signature(fun)
    except (ValueError, TypeError):
        signature = None
    try:
        _signatures[fun] = signature
    except TypeError:
        pass
    return signature


def argument_names(signature, args, kwargs, static_argnums=(), static_argnames=()):
    """A readable path for every dynamic leaf: `x`, `params['w'][0]`, `rest[1]`.

    `args[1]` and `kwargs['k']` stand for parameters where the call does not fit the signature, or that is None.
    """
    names = []
    if not _fits(signature, args, kwargs):
        signature = inspect.signature(_any_arguments)
    positional = _positional_names(signature, len(args))
    for i, arg in enumerate(args):
        if i not in static_argnums and i - len(args) not in static_argnums:
            names.extend(_leaf_names(positional[i], arg))
    for key in sorted(kwargs):
        if key not in static_argnames:
            names.extend(_leaf_names(_keyword_name(signature, key), kwargs[key]))
    return tuple(names)


def _any_arguments(*args, **kwargs):
    """Has the names of arguments that no parameter takes."""


def _fits(signature, args, kwargs):
    if signature is None:
        return False
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _keyword_name(signature, key):
    """The parameter of that name, or the item of the parameter that collects keyword arguments."""
    if key in signature.parameters:
        return key
    (collects,) = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    return f"{collects}[{key!r}]"


def _positional_names(signature, count):
    names = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names.extend(f"{parameter.name}[{i}]" for i in range(count - len(names)))
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names


def _leaf_names(name, tree):
    return [name + keystr(path) for path, _ in tree_flatten_with_path(tree)[0]]


def debug_info(
    traced_for: str,
    fun: AnyFunction,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    static_argnums: Collection[int] = (),
    static_argnames: Collection[str] = (),
) -> DebugInfo:
    """Returns what messages say of a traced function: its source location, and the names of its arguments and results.

    Args:
      traced_for: the transformation.
      fun: the function.
      args: its arguments; default ``()``.
      kwargs: its keyword arguments; default None.
      static_argnums: indices of static arguments; default none.
      static_argnames: names of static arguments; default none.

    Returns:
      A DebugInfo.

    Examples:
      >>> onax.api_util.debug_info("jit", lambda x: x, (1,)).arg_names
      ('x',)
    """
    # Only the structure and the signature: a DebugInfo must not keep arguments or functions with their programs alive.
    treedef = tree_flatten((tuple(args), kwargs or {}))[1]
    return debug_info_of(traced_for, fun, lambda: skeleton(treedef), static_argnums, static_argnames)


def debug_info_of(traced_for, fun, find_arguments, static_argnums=(), static_argnames=()):
    """The DebugInfo of a call whose (args, kwargs) `find_arguments()` gives, with anything in place of the leaves.

    That happens where names are read, not on every call: classes need not accept anything.
    """
    signature = fun_signature(fun)
    find_names = lambda: argument_names(signature, *find_arguments(), static_argnums, static_argnames)
    return LazyDebugInfo(traced_for, fun, find_names)


class LazyDebugInfo(DebugInfo):
    """A DebugInfo that computes the names of arguments with a function when they are read."""

    __slots__ = ("_find_names", "_names", "out_tree")

    def __init__(self, traced_for, fun, find_names):
        self.traced_for = traced_for
        self.func_src_info = fun_source_info(fun)
        self.out_tree = None  # set after the function has run
        self._find_names = find_names
        self._names = None

    def __reduce__(self):
        return DebugInfo, (self.traced_for, self.func_src_info, self.arg_names, self.result_paths)

    @property
    def arg_names(self):
        """A path for every argument leaf."""
        if self._names is None:
            self._names = self._find_names()
        return self._names

    @property
    def result_paths(self):
        """A path for every leaf of the result; empty before the function has run."""
        if self.out_tree is None:
            return ()
        return _result_paths(self.out_tree)


def _result_paths(out_tree):
    """A path for every leaf of a result of this structure."""
    return tuple(_leaf_names("result", skeleton(out_tree)))


def record_results(info, out_tree):
    """Records the tree of the result of a function in its DebugInfo."""
    if type(info) is LazyDebugInfo:
        info.out_tree = out_tree
    else:
        info.result_paths = _result_paths(out_tree)


def normalize_argnums(fun, static_argnums, static_argnames):
    """(positions, names) of static arguments; the signature supplies each kind from the other."""
    return infer_argnums_and_argnames(fun_signature(fun), static_argnums, static_argnames)


def infer_argnums_and_argnames(signature, argnums, argnames):
    """(positions, names) of arguments; the signature, unless it is None, supplies each kind from the other."""
    argnums = _int_tuple(argnums)
    argnames = _str_tuple(argnames)
    if signature is None:
        return argnums or (), argnames or ()
    parameters = list(signature.parameters.values())
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if argnums is None:
        argnums = tuple(i for i, name in enumerate(positional) if name in (argnames or ()))
    if argnames is None:
        argnames = tuple(positional[i] for i in argnums if -len(positional) <= i < len(positional))
    return argnums, argnames


def _int_tuple(value):
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return tuple(operator.index(v) for v in value)
    return (operator.index(value),)


def _str_tuple(value):
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


def shaped_abstractify(x):
    """The aval under which a value is traced."""
    return typeof(x)
