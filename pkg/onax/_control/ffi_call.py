"""Calls of registered C functions, the targets of jax.ffi, on host arrays: the primitive `ffi_call`.

A target is one handler or one per stage.  A compiled program calls it as a node on the thread of the program, without
Python's lock; an exported file cannot hold it.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from onax._control import ffi_frame
from onax._control.callbacks import batch_by_method, check_vmap_method
from onax._core.effects import IOEffect, no_effects
from onax._core.facts import CALLS_PYTHON
from onax._core.layout import Layout
from onax._core.trace import as_array, typeof
from onax._ground import dtypes
from onax._ground.errors import JaxRuntimeError
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive

_PLATFORMS = ("cpu", "Host")
_CFUNCTION = ctypes.CFUNCTYPE(None).__mro__[1]  # the class of all functions of ctypes


class FfiEffect(IOEffect):
    """The effect of a target that is called for its side effects."""

    __slots__ = ()

    def __str__(self):
        return "FFI"


_ffi_effect = FfiEffect()

# ---- targets


@dataclass(slots=True)
class Target:
    """A registered target: the addresses of its handlers by stage, and the states that `instantiate` made."""

    stages: dict
    kept: object  # the objects that own the functions
    states: dict = field(default_factory=dict)  # attributes and result types -> the states of a call site


_targets: dict[str, Target] = {}


def _get_address(name, fn):
    """The address in a PyCapsule or a function of ctypes."""
    if isinstance(fn, _CFUNCTION):
        return ctypes.cast(fn, ctypes.c_void_p).value
    if type(fn).__name__ != "PyCapsule":
        raise JaxRuntimeError(
            f"INVALID_ARGUMENT: Unsupported custom call target type for api_version=1: the handler of {name} is a "
            f"PyCapsule (onax.ffi.pycapsule), a function of ctypes, or a dictionary of them by stage; got {fn!r}"
        )
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get_pointer(fn, get_name(fn))


def register_ffi_target(name: str, fn: Any, platform: str = "cpu", api_version: int = 1, **kwargs: Any) -> None:
    """Registers a C function as a target of `ffi_call`.

    The function takes one pointer, to a call frame of XLA's typed foreign function interface: it is compiled with the
    header `onax/ffi.h` of `include_dir()`, or with XLA's own headers.

    Args:
      name: the target's name, a str.
      fn: a PyCapsule (see `pycapsule`), a function of ctypes, or a dict of them by stage: "instantiate", "prepare",
        "initialize" and, required, "execute".
      platform: "cpu"; targets for other platforms are ignored.
      api_version: 1.
      kwargs: accepted, without effect (`traits`).

    Returns:
      None.

    Raises:
      JaxRuntimeError: `fn` is something else, has no handler for "execute", or was compiled for another version.
      NotImplementedError: `api_version` is 0, the untyped interface.

    Examples:
      >>> onax.ffi.register_ffi_target("target", None, platform="gpu")
    """
    if platform not in _PLATFORMS:
        return
    if api_version == 0:
        raise NotImplementedError(
            f"register_ffi_target: {name} has api_version=0; a function of XLA's untyped interface does not know the "
            "shapes of its arguments, and onax calls functions of the typed one (api_version=1)"
        )
    if api_version != 1:
        raise JaxRuntimeError(
            f"UNIMPLEMENTED: API version {api_version} is not supported by RegisterCustomCallTarget. "
            "Supported versions are 0 and 1."
        )
    given = fn if isinstance(fn, dict) else {"execute": fn}
    unknown = given.keys() - set(ffi_frame.STAGES)
    if "execute" not in given or unknown:
        raise JaxRuntimeError(
            f"INVALID_ARGUMENT: FFI handler for {name} on a platform Host must provide an execute implementation; "
            f"the stages are {', '.join(ffi_frame.STAGES)}"
        )
    stages = {stage: _get_address(name, handler) for stage, handler in given.items()}
    version = ffi_frame.handler_version(stages["execute"])
    if version[0] != ffi_frame.MAJOR or not 0 < version[1] <= ffi_frame.MINOR:
        raise JaxRuntimeError(
            f"INVALID_ARGUMENT: the handler of {name} says that it follows version {version[0]}.{version[1]} of the "
            f"interface; onax calls handlers of versions 0.1 to {ffi_frame.MAJOR}.{ffi_frame.MINOR}"
        )
    _targets[name] = Target(stages, fn)


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Does nothing: a call with arguments on several devices runs once, on gathered arrays.

    Args:
      name: the target's name.

    Returns:
      None.

    Examples:
      >>> onax.ffi.register_ffi_target_as_batch_partitionable("target")
    """


def register_ffi_type_id(name: str, obj: Any, platform: str = "cpu") -> NoReturn:
    """Raises ValueError, as JAX 0.10.2 does: use `register_ffi_type`.

    Args:
      name: the name of the type.
      obj: a PyCapsule.
      platform: "cpu".

    Raises:
      ValueError: always.

    Examples:
      >>> onax.ffi.register_ffi_type_id("state", None)
      Traceback (most recent call last):
          ...
      ValueError: register_ffi_type_id is not supported after jaxlib version 381.
    """
    raise ValueError("register_ffi_type_id is not supported after jaxlib version 381.")


def register_ffi_type(name: str, type_registration: Mapping[str, Any], platform: str = "cpu") -> None:
    """Gives the type of a target's state its number.

    Args:
      name: the name of the type.
      type_registration: a dict; "type_id" is a PyCapsule with a pointer to the number, which is set.
      platform: "cpu"; others are ignored.

    Returns:
      None.

    Examples:
      >>> onax.ffi.register_ffi_type("state", {}, platform="gpu")
    """
    if platform in _PLATFORMS:
        number = ffi_frame.type_numbers.setdefault(name, len(ffi_frame.type_numbers) + 1)
        ctypes.c_int64.from_address(_get_address(name, type_registration["type_id"])).value = number


def _find_target(name):
    for registered, platform, stages in ffi_frame.registered_by_handlers:
        if platform in _PLATFORMS:
            _targets.setdefault(registered, Target(stages, None))
    if name not in _targets:
        raise JaxRuntimeError(f"NOT_FOUND: No FFI handler registered for {name} on a platform Host (canonical host)")
    return _targets[name]


# ---- the call


class HashableArray:
    """An array of NumPy as a static parameter: it compares by value."""

    __slots__ = ("val",)

    def __init__(self, val):
        self.val = np.array(val)
        self.val.flags.writeable = False

    def __eq__(self, other):
        return type(other) is HashableArray and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"HashableArray({self.val!r})"

    def _key(self):
        return self.val.dtype, self.val.shape, self.val.tobytes()


class FrozenDict(tuple):
    """The frozen items of a dict as a static parameter: those of two dicts compare whatever their order."""

    __slots__ = ()

    def __eq__(self, other):
        return type(other) is FrozenDict and frozenset(self) == frozenset(other)

    def __hash__(self):
        return hash(frozenset(self))

    def __repr__(self):
        return f"FrozenDict({_unfreeze(self)})"


def _freeze(name, value):
    """A hashable form of an attribute; TypeError for what has none."""
    if isinstance(value, np.ndarray):
        return HashableArray(value)
    if isinstance(value, dict):
        return FrozenDict((key, _freeze(name, v)) for key, v in value.items())
    try:
        hash(value)
    except TypeError as error:
        raise TypeError(f"Non-hashable keyword argument to ffi_call {name}: {value}") from error
    return (type(value), value)


def _freeze_all(attributes):
    return Attributes((name, _freeze(name, attributes[name])) for name in sorted(attributes))


def _unfreeze(value):
    if isinstance(value, HashableArray):
        return value.val
    if isinstance(value, FrozenDict):
        return {key: _unfreeze(v) for key, v in value}
    return value[1]


class Attributes(tuple):
    """The attributes of a call, sorted by name, in hashable form; they print as JAX's."""

    __slots__ = ()

    def __repr__(self):
        return repr(tuple((key, v if isinstance(v, (HashableArray, FrozenDict)) else _unfreeze(v)) for key, v in self))


def _result_avals(results):
    avals = []
    for i, x in enumerate(results):
        if not (hasattr(x, "shape") and hasattr(x, "dtype")):
            raise ValueError(
                "All elements of result_shape_dtypes must have 'shape' and 'dtype' attributes. "
                f"Got {x} at position {i}."
            )
        avals.append(ShapedArray(tuple(x.shape), dtypes.canonicalize_dtype(x.dtype)))
    return tuple(avals)


def _minor_to_major(avals, layouts, what):
    """The layouts as the primitive has them; the user's go from the slowest axis to the fastest."""
    if layouts is None:
        layouts = [None] * len(avals)
    if len(layouts) != len(avals):
        raise ValueError(
            f"The number of {what}s ({len(avals)}) must equal the number of {what.rpartition(' ')[0] or what} layouts "
            f"({len(layouts)})."
        )
    made = []
    for aval, layout in zip(avals, layouts):
        if isinstance(layout, Layout):
            if layout.tiling is not None:
                raise ValueError("The FFI does not support layouts with tiling")
            layout = layout.major_to_minor
        made.append(tuple(range(len(aval.shape)) if layout is None else layout)[::-1])
    return tuple(made)


def _check_aliases(aliases, in_avals, out_avals, in_layouts, out_layouts):
    """The pairs (index of an argument, index of the result in its memory); ValueError unless they fit."""
    pairs = []
    for i, o in sorted((aliases or {}).items()):
        mapping = f"input_output_aliases contains the mapping '{i}:{o}' "
        for what, index, count in (("input", i, len(in_avals)), ("output", o, len(out_avals))):
            if index >= count:
                raise ValueError(f"{mapping}with {what} index {index} outside the range [0, {count}).")
        if (in_avals[i].shape, in_avals[i].dtype) != (out_avals[o].shape, out_avals[o].dtype):
            raise ValueError(
                f"{mapping}referring to an input with abstract value {in_avals[i]} and an output with a different "
                f"abstract value {out_avals[o]}."
            )
        if in_layouts[i] != out_layouts[o]:
            raise ValueError(
                f"{mapping}referring to an input with layout {in_layouts[i]} and an output with a different layout "
                f"{out_layouts[o]}."
            )
        pairs.append((int(i), int(o)))
    return tuple(pairs)


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Sequence[Any] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: None = None,
) -> Callable[..., Any]:
    """Returns a function that calls a registered target with arrays.

    Its positional arguments are arrays; keyword arguments are the attributes of the call: bool, int (64 bits), float
    (64 bits), str, bytes, scalars and numeric arrays of NumPy, dicts of them.  It has no derivative: `custom_jvp` or
    `custom_vjp` give it one.

    Args:
      target_name: the name given to `register_ffi_target`.
      result_shape_dtypes: an object with shape and dtype (a ShapeDtypeStruct, an array), or a sequence of them.
      has_side_effect: True: the call also happens where its results are not used; default False.
      vmap_method: what `vmap` does, as for `pure_callback`.
      input_layouts: for each argument None (row-major), a Layout, or its axes from the slowest to the fastest in
        memory.
      output_layouts: the same for the results.
      input_output_aliases: a dict from indices of arguments to those of results that begin as their copies and share
        their memory.
      custom_call_api_version: 4; a call refuses older versions.
      legacy_backend_config: None.

    Returns:
      A function that returns an array, or a list (a tuple, if a tuple was given) of arrays.

    Raises:
      ValueError: layouts, aliases or `vmap_method` do not fit.
      JaxRuntimeError: a call finds no such target, or the target returned an error.

    Examples:
      >>> f = onax.ffi.ffi_call("missing", onax.ShapeDtypeStruct((2,), jnp.float32))
      >>> try:
      ...     f(jnp.ones(2))
      ... except onax.errors.JaxRuntimeError as error:
      ...     print("missing" in str(error))
      True
    """
    check_vmap_method(vmap_method)
    several = isinstance(result_shape_dtypes, Sequence)
    result_avals = _result_avals(result_shape_dtypes if several else [result_shape_dtypes])
    if custom_call_api_version >= 4 and legacy_backend_config is not None:
        raise ValueError(
            "The use of the legacy_backend_config parameter requires custom_call_api_version < 4; got "
            f"{custom_call_api_version}."
        )

    params = {
        "result_avals": result_avals, "vmap_method": vmap_method, "target_name": target_name,
        "has_side_effect": has_side_effect, "custom_call_api_version": custom_call_api_version,
        "legacy_backend_config": legacy_backend_config,
    }  # fmt: skip

    def wrapped(*args, **kwargs):
        if kwargs and custom_call_api_version < 4:
            raise ValueError(
                "The use of ffi_call attributes requires a custom call API version of at least 4; got "
                f"api_version={custom_call_api_version}."
            )
        in_avals = [typeof(x) for x in args]
        placed = _place(in_avals, result_avals, input_layouts, output_layouts, input_output_aliases, several)
        outs = ffi_call_p.bind(*args, **placed, **params, attributes=_freeze_all(kwargs))
        kind = tuple if isinstance(result_shape_dtypes, tuple) else list
        return kind(outs) if several else outs[0]

    return wrapped


def _place(in_avals, out_avals, input_layouts, output_layouts, aliases, several):
    """The parameters of the primitive that say how arrays lie in memory."""
    in_layouts = _minor_to_major(in_avals, input_layouts, "input argument")
    out_layouts = _minor_to_major(out_avals, output_layouts if several else [output_layouts], "output")
    pairs = _check_aliases(aliases, in_avals, out_avals, in_layouts, out_layouts)
    return {"input_layouts": in_layouts, "output_layouts": out_layouts, "input_output_aliases": pairs}


def _in_layout(array, minor_to_major):
    """The elements in the order of a layout, contiguous."""
    return np.asarray(array.transpose(minor_to_major[::-1]), order="C")


def _impl(*operands, target_name, result_avals, input_layouts, output_layouts, input_output_aliases,
          custom_call_api_version, attributes, **_):  # fmt: skip
    if custom_call_api_version < 4:
        raise NotImplementedError(
            f"ffi_call: {target_name} is called with custom_call_api_version={custom_call_api_version}; onax calls "
            "targets of the typed interface, which is version 4"
        )
    arrays = [_in_layout(np.asarray(as_array(x)._value), order) for x, order in zip(operands, input_layouts)]
    results = [
        np.empty(tuple(a.shape[i] for i in order[::-1]), a.dtype) for a, order in zip(result_avals, output_layouts)
    ]
    for i, o in input_output_aliases:
        results[o][...] = arrays[i]
        arrays[i] = results[o]
    _run(_find_target(target_name), arrays, [x.shape for x in operands], results, result_avals, attributes)
    restored = [r.transpose(sorted(range(r.ndim), key=o[::-1].__getitem__)) for r, o in zip(results, output_layouts)]
    return [make_array(np.asarray(r, order="C"), r.dtype) for r in restored]


def _run(target, arrays, shapes, results, result_avals, attributes):
    """Calls the stages of a target; `instantiate` runs once for the same attributes and result types."""
    given = {name: _unfreeze(value) for name, value in attributes}
    site = (attributes, result_avals)
    is_new = site not in target.states
    states = target.states.setdefault(site, {})
    context = ffi_frame.new_context(states)
    try:
        for number, stage in enumerate(ffi_frame.STAGES):
            if stage not in target.stages or (stage == "instantiate" and not is_new):
                continue
            buffers = (arrays, shapes, results, [a.shape for a in result_avals])
            ffi_frame.call_stage(
                target.stages[stage], number, context, *(buffers if number else ((),) * 4), attributes=given
            )
    finally:
        ffi_frame.contexts.pop(context)


def _refuse_derivative(*_, target_name, **__):
    raise ValueError(
        f"The FFI call to `{target_name}` cannot be differentiated. You can use `jax.custom_jvp` or `jax.custom_jvp` "
        "to add support."
    )


def _with_batch_axis(layout):
    return (*(n + 1 for n in layout), 0)


def _batch(axis_data, operands, dims, **params):
    method = params["vmap_method"]
    if method is not None and not method.startswith("sequential") and not axis_data.of_devices:
        params["output_layouts"] = tuple(map(_with_batch_axis, params["output_layouts"]))
        params["input_layouts"] = tuple(
            layout if d is None and method == "legacy_vectorized" else _with_batch_axis(layout)
            for layout, d in zip(params["input_layouts"], dims)
        )
    return batch_by_method(ffi_call_p, axis_data, operands, dims, params)


ffi_call_p = Primitive(
    "ffi_call",
    multiple_results=True,
    impl=_impl,
    jvp=_refuse_derivative,
    transpose=_refuse_derivative,
    batch=_batch,
    weak=NEVER,
    facts={CALLS_PYTHON},
)


@ffi_call_p.def_effectful_abstract_eval
def _abstract(*_, result_avals, has_side_effect, **__):
    return list(result_avals), frozenset((_ffi_effect,)) if has_side_effect else no_effects
