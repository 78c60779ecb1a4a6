"""jit, and the functions that it returns.

`_native.jit_function` runs calls whose argument types were seen before, without this module.  For any other call this
module makes a Call (`call.py`) and imports the compiler (`lazy_import.py`, `first_call.py`).
"""

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from onax._compile import placement
from onax._compile.cache import cache_for
from onax._compile.call import Call, stage_call, takes_refs
from onax._compile.jit_options import jit_options
from onax._compile.lazy_import import compiler, multi_device
from onax._control.eager_loops import CHECKS
from onax._control.jit_call import bind_jit, call_params, jit_p
from onax._core.evaluate import interpreter_of
from onax._core.hitypes import holds_hitypes
from onax._core.refs import check_distinct
from onax._core.trace import Tracer, escaped_tracer_error, find_cur_trace
from onax._ground import source, spans
from onax._ground.config import config
from onax._ground.typing import Compiled
from onax._native.api_boundary import unwrap
from onax._native.hooks import hooks
from onax._native.jit_function import JitFunction
from onax._native.library_function import LibraryFunction
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.flatten import check_callable, fun_name
from onax._transforms.lower_hitypes import lower_operation


class PjitFunction(JitFunction):
    """A function as `jit` returns it.

    Args:
      fun: the function.
      options: the options of `jit`.

    Examples:
      >>> isinstance(onax.jit(jnp.sin), onax.stages.Wrapped)
      True
    """

    def __init__(self, fun, options):
        super().__init__(fun, cache_for(fun, options.key), options.static_argnums, options.static_argnames)
        functools.update_wrapper(self, fun, updated=())
        self._options = options
        for name, value in getattr(fun, "__dict__", {}).items():
            if name not in self.__dict__ and not hasattr(
                PjitFunction, name
            ):  # a callable's own attributes hide no method
                self.__dict__[name] = value

    def __reduce__(self):
        o = self._options
        given = {name: getattr(o, name) for name in _JIT_DEFAULTS if name != "backend"}
        return _jit_with, (self.fun, given, o.uses_with_mesh)

    @source.api_boundary
    def lower(self, *args, **kwargs):
        """Lowers the function to ONNX for arguments of these types (values or ShapeDtypeStructs); returns a Lowered."""
        return self.trace(*args, **kwargs).lower()

    @source.api_boundary
    def trace(self, *args, **kwargs):
        """Stages the function for arguments of these types (values or ShapeDtypeStructs); returns a Traced."""
        call = self._call(args, kwargs)
        return compiler().traced_stage(call, self._stage(call))

    @source.api_boundary
    def eval_shape(self, *args, **kwargs):
        """The types of the results, as a tree of ShapeDtypeStruct."""
        call = self._call(args, kwargs)
        staged = self._stage(call)
        stated = [None] * staged.out_tree.num_leaves
        if call.options.out_shardings is not None:
            stated = multi_device().call_shardings.shardings_of_leaves(call.options, staged.out_tree)
        structs = [ShapeDtypeStruct.of_aval(a, sharding) for a, sharding in zip(staged.jaxpr.out_avals, stated)]
        return tree_unflatten(staged.out_tree, structs)

    def _make_jaxpr(self, args, kwargs):
        """(jaxpr of a call as the function stages it, with all its constants; tree of the results)."""
        staged = self._stage(self._call(args, kwargs))
        return staged.closed, staged.out_tree

    def _call(self, args, kwargs):
        """The Call of arguments that are not flat yet."""
        dynamic, rest, statics = self.split(args, kwargs)
        leaves, in_tree = tree_flatten((dynamic, rest))
        return Call.of(self, leaves, in_tree, statics, len(args))

    def _stage(self, call):
        return stage_call(call, self.cache.traced)

    def _traced(self, args, kwargs):
        if config.jax_disable_jit:
            return self.fun(*args, **kwargs)
        call = self._call(args, kwargs)
        options, staged = call.options, self._stage(call)
        if options.compiler_options and find_cur_trace().staging:
            raise ValueError(
                "`compiler_options` can only be passed to top-level `jax.jit`. Got "
                f"compiler_options={options.compiler_options} specified on a nested jit with name: {call.name}"
            )
        if takes_refs(staged.jaxpr):
            check_distinct(staged.jaxpr.debug_info, call.leaves, staged.hoisted)
        params = call_params(staged.jaxpr, call.name, inline=options.inline, keep_unused=options.keep_unused)
        if options.donate_argnums or options.donate_argnames:
            params["donated_invars"] = (False,) * len(staged.hoisted) + tuple(call.donated_flags())
        if options.in_shardings is not None or options.out_shardings is not None:
            params.update(multi_device().call_shardings.params_of(call, staged))
        return tree_unflatten(staged.out_tree, bind_jit([*staged.hoisted, *call.leaves], params))

    def _miss(self, args, kwargs, leaves, in_tree, statics):
        if config.jax_disable_jit:
            return self.fun(*args, **kwargs), None
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                raise escaped_tracer_error(leaf)
        call = Call.of(self, leaves, in_tree, statics, len(args))
        if spans.recording():
            with spans.span(f"PjitFunction({fun_name(self.fun)})"):
                return compiler().run_first_call(call, self.cache.traced)[0], None
        return compiler().run_first_call(call, self.cache.traced)


def _jit_with(fun, given, uses_with_mesh=False):
    options = jit_options(fun, _JIT_DEFAULTS | given)
    return PjitFunction(fun, dataclasses.replace(options, uses_with_mesh=uses_with_mesh))


def _evaluate_jit(*args, jaxpr, name, keep_unused=False, in_shardings=(), out_shardings=(), donated_invars=(), **_):
    """Evaluates `jit_p` on values with the compiled program."""
    if config.jax_disable_jit:
        return interpreter_of(jaxpr).run(jaxpr.consts, args)
    if holds_hitypes(jaxpr):
        shardings = {"in_shardings": in_shardings, "out_shardings": out_shardings}
        params = call_params(jaxpr, name, keep_unused=keep_unused, **shardings)
        return lower_operation(jit_p, args, params)
    return compiler().run_jaxpr(args, jaxpr, name, keep_unused, in_shardings, out_shardings, donated_invars)


def _inline(params):
    """The program to evaluate in place of a call, in a program that is evaluated operation by operation.

    A call that is given arrays runs as such, because it deletes them.
    """
    return None if any(params["donated_invars"]) else params["jaxpr"]


# A pattern of arguments of a library function is compiled when its calls have brought PATIENCE elements, because a
# program takes 1 to 2 ms and saves 0.5 to 2 ns an element.  Each call counts LEAST elements at least.
PATIENCE = 1 << 20
LEAST = 1 << 14


def _compile_library_function(function):
    """The compiled form of a LibraryFunction."""
    compiled = jit(function.fun, static_argnames=tuple(function.static))
    compiled.patience, compiled.least = PATIENCE, LEAST
    return compiled


def _jit_api_function(function):
    """The jitted form of a public function that JAX compiles; its program has no call of that function."""
    inner = unwrap(function)
    if isinstance(inner, LibraryFunction):
        inner = inner.fun
    return jit(inner, static_argnames=tuple(function.static_argnames))


jit_p.impl = _evaluate_jit
jit_p.inline = _inline
hooks.place_sharded_result = placement.place_eager_result
hooks.evaluate_spanning = placement.evaluate_spanning
hooks.compile_library_function = _compile_library_function
hooks.jit_api_function = _jit_api_function
hooks.jit_function = lambda function, **options: jit(function, **options)
hooks.uncompiled_options = CHECKS
hooks.device_memory = lambda device: compiler().sessions.memory_of(device.local_hardware_id)

_JIT_DEFAULTS = {
    "in_shardings": None,
    "out_shardings": None,
    "static_argnums": None,
    "static_argnames": None,
    "donate_argnums": None,
    "donate_argnames": None,
    "keep_unused": False,
    "device": None,
    "backend": None,
    "inline": False,
    "compiler_options": None,
}


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_DECORATOR = object()  # no function was given; None is an invalid function


@overload
def jit(fun: Callable[_Arguments, _Result], /, **options: Any) -> Compiled[_Arguments, _Result]: ...
@overload
def jit(
    **options: Any,
) -> Callable[[Callable[_Arguments, _Result]], Compiled[_Arguments, _Result]]: ...
def jit(
    fun: Any = _DECORATOR,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: Any = False,
    compiler_options: Any = None,
) -> Callable[..., Any]:
    """Returns a function that compiles `fun` for each kind of arguments and runs the compiled program.

    `fun` must be pure.  It runs once for each combination of tree structures, shapes, dtypes and static values; traced
    values stand for its other arguments meanwhile.  Without `fun` the result is a decorator.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays.
      in_shardings: a tree of shardings, a prefix of the arguments' tuple; default the arguments' own.
      out_shardings: a tree of shardings, a prefix of the results; default chosen by the compiler.
      static_argnums: indices of arguments that are Python values for `fun`; they have a hash.
      static_argnames: names of such arguments.
      donate_argnums: indices of arguments that the caller gives up: results may take their memory, and they are
        deleted.
      donate_argnames: names of such arguments.
      keep_unused: True: arguments that `fun` does not use remain in the program; default False.
      device: the device that runs the program; default that of the arguments.
      backend: a platform in place of `device`.
      inline: True: an enclosing program contains the equations in place of a call; default False.
      compiler_options: a dict of options; onax has none that changes results.

    Returns:
      A function with the signature of `fun`, and with methods such as `lower`, `trace` and `clear_cache`.

    Raises:
      TypeError: `fun` is not callable.
      ValueError: a static or donated argument that `fun` does not have.

    Examples:
      >>> @onax.jit
      ... def f(x):
      ...     return x * x + 1
      >>> f(jnp.arange(3))
      Array([1, 2, 5], dtype=int32)
    """
    given = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "device": device,
        "backend": backend,
        "inline": inline,
        "compiler_options": compiler_options,
    }
    if fun is _DECORATOR:
        return functools.partial(jit, **given)
    check_callable(fun)
    if device is not None or backend is not None:
        warnings.warn(
            "backend and device argument on jit is deprecated. You can use `jax.device_put(..., "
            'jax.local_devices(backend="cpu")[0])` on the inputs to the jitted function to get the same behavior.',
            DeprecationWarning,
            stacklevel=2,
        )
    return PjitFunction(fun, jit_options(fun, given))
