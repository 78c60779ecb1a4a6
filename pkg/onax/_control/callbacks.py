"""Callbacks from programs to Python: pure_callback, io_callback, debug.callback, debug.print.

    pure_callback    calls a function of its arguments only, which may be called any number of times or never
    io_callback      calls a function each time the program reaches it; `ordered` callbacks keep the program's order
    debug_callback   calls a function without results; debug_print is one that prints
    effects_barrier  waits for all callbacks; here every callback has returned when the program returns

In a compiled program a callback is a node of the graph that calls back into this process, on the thread that called
the program.  It receives arrays, and an exception that it raises leaves the program unchanged.  An exported file cannot
hold callbacks.
"""

import contextlib
import functools
import re
import string
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._control.batch_by_loop import batch_by_loop
from onax._core.effects import DebugEffect, IOEffect, OrderedDebugEffect, OrderedIOEffect
from onax._core.facts import CALLS_PYTHON
from onax._core.sharding import SingleDeviceSharding
from onax._core.trace import as_array, set_current_trace, valid_jaxtype
from onax._ground import dtypes, lazy, logs, source
from onax._ground.typing import AnyFunction, PyTree
from onax._native import context
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_leaves, tree_unflatten
from onax._prims.shaping import bdim_at_front, broadcast_bdim, expand_dims
from onax._prims.slicing import index_in_dim
from onax._transforms.key_reuse import READS_KEYS, key_lineage

# ---- the function that is called


@dataclass(slots=True, eq=False)
class _FlatCallback:
    """A user's function on flat arguments and results; two are equal if function and structure are."""

    callback_func: object
    in_tree: object

    def __call__(self, *flat):
        args, kwargs = tree_unflatten(self.in_tree, flat)
        return tree_leaves(self.callback_func(*args, **kwargs))

    def __eq__(self, other):
        return type(other) is _FlatCallback and (self.callback_func, self.in_tree) == (
            other.callback_func,
            other.in_tree,
        )

    def __hash__(self):
        return hash((self.callback_func, self.in_tree))

    def __repr__(self):
        return f"_FlatCallback(callback_func={self.callback_func!r}, in_tree={self.in_tree})"


def callback_location(params):
    """The name and source location, for messages, of the function that a callback equation calls."""
    callback = params.get("callback")
    if callback is None:
        return f"debug.print({params['fmt']!r})"
    return source.function_location(getattr(callback, "callback_func", callback))


def _pretty(eqn, names):
    """The parameters, in which the function prints as in JAX, without its address."""
    params = {key: eqn.params[key] for key in sorted(eqn.params)}
    params["callback"] = re.sub(r"0x[0-9a-f]+", "0x" + "X" * 12, repr(params["callback"]))
    return params


@contextlib.contextmanager
def _logged(name):
    """Calls of the user's function: what it raises is logged, as JAX logs it, and passes on."""
    try:
        with set_current_trace(None):
            yield
    except BaseException:
        logs.logger("onax.callback").exception("jax.%s failed", name)
        raise


def _result_array(x):
    """A result as an array; what is no array of onax is what NumPy makes of it, such as another library's array."""
    return as_array(x if valid_jaxtype(x) else np.asarray(x))


def _run_callback(name, callback, arrays, result_avals):
    """The results, as arrays of the stated types, of a callback that the function `name` was given."""
    with _logged(name):
        results = list(map(_result_array, callback(*(_in_rows(_without_weak_type(x)) for x in arrays))))
    if len(results) != len(result_avals):
        raise RuntimeError(
            f"Mismatched number of outputs from callback. Expected: {len(result_avals)}, Actual: {len(results)}"
        )
    for i, (x, aval) in enumerate(zip(results, result_avals)):
        for what, given, stated in (("shape", x.shape, aval.shape), ("dtype", x.dtype, aval.dtype)):
            if given != stated:
                raise RuntimeError(
                    f"Incorrect output {what} for return value #{i}: Expected: {stated}, Actual: {given}"
                    f"\nThe callback is {callback_location({'callback': callback})}."
                )
    return list(map(_without_weak_type, results))


def _without_weak_type(x):
    return make_array(x._value, x.dtype) if x.weak_type else x


def _in_rows(x):
    """An array whose buffer lies in rows, as functions in C may ask for; one of keys as it is."""
    if not isinstance(x.dtype, np.dtype) or x._value.flags.c_contiguous:
        return x
    return make_array(np.ascontiguousarray(x._value), x.dtype, x.weak_type)


def _result_types(name, callback, result_shape_dtypes):
    """(tree, avals) of `result_shape_dtypes`; `name` is the function that errors name."""
    if not callable(callback):
        raise TypeError(f"{name} calls a function; got {callback!r}")
    leaves, tree = tree_flatten(result_shape_dtypes)
    avals = []
    for x in leaves:
        if not (hasattr(x, "shape") and hasattr(x, "dtype")):
            raise TypeError(f"{name}: result_shape_dtypes is a tree of ShapeDtypeStructs or arrays; got {x!r} in it")
        dtype = x.dtype if dtypes.is_extended(x.dtype) else np.dtype(x.dtype)
        if dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True) != dtype:
            raise ValueError("result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` is disabled")
        avals.append(ShapedArray(tuple(x.shape), dtype))
    return tree, tuple(avals)


def _flatten_arguments(name, args, kwargs):
    """Flattens a call's arguments; returns (arrays, structure).  `name` is the function that errors name."""
    leaves, in_tree = tree_flatten((args, kwargs))
    for i, x in enumerate(leaves):
        if not valid_jaxtype(x):
            raise TypeError(
                f"Error interpreting argument to {name} as a JAX value. The problematic value is of type {type(x)} and "
                f"was passed to {name} at position {i}."
            )
    return leaves, in_tree


def _check_placement(name, sharding):
    """Raises NotImplementedError for what is neither None nor the sharding of one device."""
    if sharding is not None and not isinstance(sharding, SingleDeviceSharding):
        raise NotImplementedError(f"{name} only supports SingleDeviceSharding, but got {type(sharding)}")


# ---- pure_callback

_VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


def check_vmap_method(vmap_method):
    """ValueError unless this is the name of a method, or None."""
    if vmap_method is not None and vmap_method not in _VMAP_METHODS:
        raise ValueError(
            f"vmap_method must be on of the allowed methods {[*_VMAP_METHODS, None]}, but got: {vmap_method}"
        )


def pure_callback(
    callback: AnyFunction,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Returns what a Python function returns, which is called with arrays when the program runs.

    The function must have no effects, since a call with unused results is dropped.  It has no derivative.  `pmap` and
    `shard_map` call it for each device.

    Args:
      callback: a function of NumPy-like arrays.
      result_shape_dtypes: a tree of ShapeDtypeStructs (or arrays), the types of its results.
      args: arguments, trees of arrays.
      sharding: accepted, without effect: one process calls.
      vmap_method: what `vmap` does: "sequential" calls once for each example; the others call once for all: arguments
        that are not mapped get an axis of length 1 ("expand_dims"), are broadcast ("broadcast_all"), or stay as they
        are ("legacy_vectorized").  Default None: `vmap` raises.
      kwargs: keyword arguments, trees of arrays.

    Returns:
      A tree of arrays of the stated types.

    Raises:
      RuntimeError: results of other types.

    Examples:
      >>> @onax.jit
      ... def f(x):
      ...     return onax.pure_callback(lambda x: np.asarray(x) + 1, onax.ShapeDtypeStruct((2,), jnp.float32), x)
      >>> f(jnp.zeros(2))
      Array([1., 1.], dtype=float32)
    """
    check_vmap_method(vmap_method)
    _check_placement("pure_callback", sharding)
    out_tree, result_avals = _result_types("pure_callback", callback, result_shape_dtypes)
    flat, in_tree = _flatten_arguments("pure_callback", args, kwargs)
    outs = pure_callback_p.bind(
        *flat,
        callback=_FlatCallback(callback, in_tree),
        result_avals=result_avals,
        sharding=sharding,
        vmap_method=vmap_method,
    )
    return tree_unflatten(out_tree, outs)


def _pure_impl(*arrays, callback, result_avals, **_):
    return _run_callback("pure_callback", callback, arrays, result_avals)


def _pure_abstract(*_, result_avals, **__):
    return list(result_avals)


def _pure_jvp(primals, tangents, **_):
    raise ValueError(
        "Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients."
    )


def _pure_transpose(cts, *arrays, **_):
    raise ValueError(
        "Pure callbacks do not support transpose. Please use `jax.custom_vjp` to use callbacks while taking gradients."
    )


def batch_by_method(primitive, axis_data, operands, dims, params):
    """Batches a call of foreign code as its parameter `vmap_method` says; its results are `result_avals`."""
    size, vmap_method = axis_data.size, params["vmap_method"]
    if axis_data.of_devices:  # each device calls it with its own values; nothing is mapped
        return batch_by_loop(primitive, axis_data, operands, dims, params)
    if vmap_method is None:
        raise NotImplementedError(
            f"vmap is only supported for the {primitive.name} primitive when vmap_method is one of 'sequential', "
            "'sequential_unrolled', 'expand_dims', 'broadcast_all', or 'legacy_vectorized'. Got vmap_method=None."
        )
    if vmap_method.startswith("sequential"):
        unroll = size if vmap_method == "sequential_unrolled" else 1
        return batch_by_loop(primitive, axis_data, operands, dims, params, unroll)
    together = [x if d is None else bdim_at_front(x, d, size) for x, d in zip(operands, dims)]
    if vmap_method == "expand_dims":
        together = [expand_dims(x, (0,)) if d is None else x for x, d in zip(together, dims)]
    elif vmap_method == "broadcast_all":
        together = [broadcast_bdim(x, size, 0) if d is None else x for x, d in zip(together, dims)]
    result_avals = tuple(a.update(shape=(size, *a.shape)) for a in params["result_avals"])
    outs = primitive.bind(*together, **{**params, "result_avals": result_avals})
    return outs, [0] * len(outs)


def _pure_batch(axis_data, operands, dims, **params):
    return batch_by_method(pure_callback_p, axis_data, operands, dims, params)


pure_callback_p = Primitive(
    "pure_callback",
    multiple_results=True,
    impl=_pure_impl,
    abstract_eval=_pure_abstract,
    jvp=_pure_jvp,
    transpose=_pure_transpose,
    batch=_pure_batch,
    pretty=_pretty,
    weak=NEVER,
    facts={CALLS_PYTHON},
)

# ---- io_callback


def io_callback(
    callback: AnyFunction,
    result_shape_dtypes: PyTree,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> PyTree:
    """Returns what a Python function returns, which is called for its effects too.

    It is called each time the program reaches it, whether or not its results are used; calls keep the program's order
    (JAX promises it for `ordered` ones only).  `vmap` calls it for each example, and refuses ordered calls.

    Args:
      callback: a function of NumPy-like arrays.
      result_shape_dtypes: a tree of ShapeDtypeStructs (or arrays), the types of its results; None for none.
      args: arguments, trees of arrays.
      sharding: accepted, without effect: one process calls.
      ordered: True: `vmap` refuses the call; default False.
      kwargs: keyword arguments, trees of arrays.

    Returns:
      A tree of arrays of the stated types.

    Raises:
      RuntimeError: results of other types.
      ValueError: under `vmap`, an ordered call.

    Examples:
      >>> seen = []
      >>> onax.jit(lambda x: onax.experimental.io_callback(lambda x: seen.append(int(x)), None, x))(3)
      >>> seen
      [3]
    """
    out_tree, result_avals = _result_types("io_callback", callback, result_shape_dtypes)
    flat, in_tree = _flatten_arguments("io_callback", args, kwargs)
    outs = io_callback_p.bind(
        *flat,
        callback=_FlatCallback(callback, in_tree),
        ordered=ordered,
        result_avals=result_avals,
        sharding=sharding,
    )
    return tree_unflatten(out_tree, outs)


_io_effect, _ordered_io_effect = IOEffect(), OrderedIOEffect()
_debug_effect, _ordered_debug_effect = DebugEffect(), OrderedDebugEffect()


def _io_impl(*arrays, callback, result_avals, **_):
    return _run_callback("io_callback", callback, arrays, result_avals)


def _io_jvp(primals, tangents, **_):
    raise ValueError("IO callbacks do not support JVP.")


def _io_transpose(cts, *arrays, **_):
    raise ValueError("IO callbacks do not support transpose.")


def _io_batch(axis_data, operands, dims, *, ordered, **params):
    if ordered and not axis_data.of_devices:
        raise ValueError("Cannot `vmap` ordered IO callback.")
    return batch_by_loop(io_callback_p, axis_data, operands, dims, {**params, "ordered": ordered})


io_callback_p = Primitive(
    "io_callback",
    multiple_results=True,
    impl=_io_impl,
    jvp=_io_jvp,
    transpose=_io_transpose,
    batch=_io_batch,
    pretty=_pretty,
    weak=NEVER,
    facts={CALLS_PYTHON},
)


@io_callback_p.def_effectful_abstract_eval
def _io_abstract(*_, result_avals, ordered, **__):
    return list(result_avals), frozenset((_ordered_io_effect if ordered else _io_effect,))


# ---- debug.callback


def debug_callback(
    callback: AnyFunction = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Calls a Python function each time the program reaches the call; its result is not used.

    Differentiation keeps the call in the forward pass; `vmap` calls once for each example.

    Args:
      callback: a function; default None: the result is a function of it and the arguments.
      args: arguments, trees of arrays; numbers become arrays.
      ordered: True: calls keep program order; default False.
      partitioned: accepted, without effect: one process calls.
      kwargs: keyword arguments.

    Returns:
      None, or a function if `callback` is None.

    Examples:
      >>> onax.jit(lambda x: onax.debug.callback(lambda x: print("got", x), x))(3)
      got 3
    """

    def _debug_callback(callback, *args, **kwargs):
        if not callable(callback):
            raise TypeError(
                "first argument to jax.debug.callback must be callable, but got an object of type "
                f"{type(callback)}; see jax.debug.print for printing values"
            )
        dynamic, static, in_tree = _split_statics(args, kwargs)
        in_program = context.get_trace() is not None

        def _flat_callback(*values):
            values = map(_without_weak_type, values) if in_program else values
            args, kwargs = _merge_statics(in_tree, values, static)
            callback(*args, **kwargs)
            return ()

        _flat_callback.callback_func = callback
        effect = _ordered_debug_effect if ordered else _debug_effect
        debug_callback_p.bind(*dynamic, callback=_flat_callback, effect=effect, partitioned=partitioned)

    if callback is None:
        return _debug_callback
    return _debug_callback(callback, *args, **kwargs)


def _split_statics(args, kwargs):
    """(values that are arrays, ((position, value), ...) of the others, structure) of a call's arguments."""
    leaves, in_tree = tree_flatten((args, kwargs))
    dynamic = [x for x in leaves if valid_jaxtype(x)]
    return dynamic, tuple((i, x) for i, x in enumerate(leaves) if not valid_jaxtype(x)), in_tree


def _merge_statics(in_tree, dynamic, static):
    """(args, kwargs): the inverse of `_split_statics`."""
    leaves = list(dynamic)
    for position, value in static:
        leaves.insert(position, value)
    return tree_unflatten(in_tree, leaves)


def _debug_impl(*arrays, callback, **_):
    with _logged("debug.callback"):
        callback(*map(_in_rows, arrays))
    return []


def _define_debug_primitive(primitive):
    """Defines the rules of a primitive without results: it has no tangents, and batching calls it for each example."""

    def jvp(primals, tangents, **params):
        return primitive.bind(*primals, **params), []

    def batch(axis_data, operands, dims, **params):
        for i in range(axis_data.size):
            one = [x if d is None else index_in_dim(x, i, d, keepdims=False) for x, d in zip(operands, dims)]
            primitive.bind(*one, **params)
        return [], []

    primitive.jvp, primitive.batch = jvp, batch
    return primitive


debug_callback_p = _define_debug_primitive(
    Primitive(
        "debug_callback", multiple_results=True, impl=_debug_impl, pretty=_pretty, weak=NEVER, facts={CALLS_PYTHON}
    )
)


@debug_callback_p.def_effectful_abstract_eval
def _debug_abstract(*_, effect, **__):
    return [], frozenset((effect,))


# ---- debug.print


class _FormatCheck(string.Formatter):
    """A Formatter that finds the arguments which a format does not use."""

    def format_field(self, value, format_spec):
        return ""

    def check_unused_args(self, used_args, args, kwargs):
        unused = [x for i, x in enumerate(args) if i not in used_args]
        if unused:
            raise ValueError(f"Unused positional arguments to `jax.debug.print`: {unused}")
        unused = [name for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(
                f"Unused keyword arguments to `jax.debug.print`: {unused}. You may be passing an f-string (i.e, "
                '`f"{x}"`) into `jax.debug.print` and instead should pass in a regular string.'
            )


_format_check = _FormatCheck()


def debug_print(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Prints a formatted text with values each time the program reaches the call.

    NumPy's print options at the time of staging hold.

    Args:
      fmt: a format such as ``"x = {x}"``; default None: the result is a function of it and the arguments.
      args: values for the format.
      ordered: True: texts keep program order; default False.
      partitioned: accepted, without effect: one process prints.
      skip_format_check: True: arguments that the format does not use are no error; default False.
      kwargs: values by name.

    Returns:
      None, or a function if `fmt` is None.

    Raises:
      ValueError: arguments that the format does not use.
      TypeError: a format that is not a string.
      KeyError: the format names an argument that is not there.

    Examples:
      >>> onax.jit(lambda x: onax.debug.print("x = {}", x))(3)
      x = 3
    """
    if fmt is None:
        return functools.partial(
            debug_print, ordered=ordered, partitioned=partitioned, skip_format_check=skip_format_check
        )
    _bind_print(fmt, args, kwargs, ordered, partitioned, skip_format_check, None)


def debug_log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Logs a formatted text with values each time the program reaches the call.

    The record goes to the logger "onax.debug" with level INFO and the line of the call.

    Args:
      fmt: a format such as ``"x = {x}"``; default None: the result is a function of it and the arguments.
      args: values for the format.
      ordered: True: records keep program order; default False.
      partitioned: accepted, without effect: one process logs.
      skip_format_check: True: arguments that the format does not use are no error; default False.
      kwargs: values by name.

    Returns:
      None, or a function if `fmt` is None.

    Raises:
      ValueError: arguments that the format does not use.
      TypeError: a format that is not a string.

    Examples:
      >>> onax.debug.log("x = {}", 3)
    """
    if fmt is None:
        return functools.partial(
            debug_log, ordered=ordered, partitioned=partitioned, skip_format_check=skip_format_check
        )
    file, line, _, function = source.resolve(source.user_location())
    record = lazy.logging.LogRecord(
        "onax.debug", lazy.logging.INFO, file, line, "", (), None, function.rpartition(".")[2]
    )
    _bind_print(fmt, args, kwargs, ordered, partitioned, skip_format_check, record)


def _bind_print(fmt, args, kwargs, ordered, partitioned, skip_format_check, record):
    if not isinstance(fmt, str):
        raise TypeError(f"expected str, got {type(fmt).__name__}; debug.print and debug.log take a format first")
    if not skip_format_check:
        _format_check.format(fmt, *args, **kwargs)
    dynamic, static, in_tree = _split_statics(args, kwargs)
    debug_print_p.bind(
        *dynamic,
        fmt=fmt,
        has_placeholders=_has_placeholders(fmt),
        in_tree=in_tree,
        logging_record=record,
        np_printoptions=tuple(np.get_printoptions().items()),
        ordered=ordered,
        partitioned=partitioned,
        static_args=static,
    )


def _has_placeholders(fmt):
    return any(field is not None for _, field, _, _ in _format_check.parse(fmt))


def _print_impl(*arrays, fmt, has_placeholders, in_tree, logging_record, np_printoptions, static_args, **_):
    args, kwargs = _merge_statics(in_tree, arrays, static_args)
    with set_current_trace(None), np.printoptions(**dict(np_printoptions)):
        text = fmt.format(*args, **kwargs) if has_placeholders else fmt
        if logging_record is None:
            print(text)
        else:
            _emit_log_record(logging_record, text)
    return []


def _emit_log_record(made, text):
    """Gives a message to its logger, with the location of the call and the current time and thread."""
    logger = lazy.logging.getLogger(made.name)
    if logger.isEnabledFor(made.levelno):
        record = logger.makeRecord(made.name, made.levelno, made.pathname, made.lineno, text, (), None, made.funcName)
        logger.handle(record)


debug_print_p = _define_debug_primitive(
    Primitive("debug_print", multiple_results=True, impl=_print_impl, weak=NEVER, facts={CALLS_PYTHON})
)


@debug_print_p.def_effectful_abstract_eval
def _print_abstract(*_, ordered, **__):
    return [], frozenset((_ordered_debug_effect if ordered else _debug_effect,))


key_lineage.rule(debug_callback_p, debug_print_p)(READS_KEYS)


def effects_barrier() -> None:
    """Waits for the effects of all programs called so far.

    It returns at once: in onax a call returns after its effects.

    Returns:
      None.

    Examples:
      >>> onax.effects_barrier()
    """


__all__ = [
    "callback_location",
    "debug_callback",
    "debug_callback_p",
    "debug_log",
    "debug_print",
    "debug_print_p",
    "effects_barrier",
    "io_callback",
    "io_callback_p",
    "pure_callback",
    "pure_callback_p",
]
