"""Mutable array references: `new_ref`, and reading and writing at indices."""

from typing import Any

import numpy as np

from onax._control import refs as _rules  # noqa: F401  it attaches the rules of loops and branches
from onax._core.evaluate import bind_with_refs
from onax._core.refs import Ref, discharge, is_ref
from onax._core.trace import eval_trace, find_cur_trace, typeof, valid_jaxtype
from onax._ground.source import api_boundary
from onax._ground.typing import ArrayLike, Index
from onax._native.array import Array
from onax._prims.convert import bitcast_convert_type, convert
from onax._prims.refs import (
    ARRAY,
    Bitcast,
    Reshape,
    Slice,
    addupdate_p,
    free_ref_p,
    freeze_p,
    get_p,
    new_ref_p,
    swap_p,
    with_operands,
)
from onax._prims.shaping import reshape, transpose
from onax._prims.slicing import dynamic_slice, dynamic_update_slice
from onax.numpy._creation import asarray, zeros
from onax.numpy._indexing import getitem
from onax.numpy._ref_views import Item, TransformedRef, read_index


@api_boundary
def new_ref(init_val: ArrayLike, *, memory_space: Any = None, kind: Any = None) -> Ref:
    """A mutable reference to an array with a copy of `init_val` (any shape and dtype) as its first value.

    `ref[index]` reads and `ref[index] = value` writes, also inside functions that are transformed or compiled: a
    function may read and write references that it is given, that it closes over, or that it creates.  It cannot return
    them.

    Args:
      init_val: array or number, of any shape and dtype.
      memory_space: the memory to ask for, which programs show and nothing reads; only while tracing.
      kind: a name for the reference's purpose, likewise.

    Returns:
      A `Ref` of the shape and dtype of `init_val`.

    Raises:
      TypeError: the value is a Ref.
      NotImplementedError: a `memory_space` outside of traced functions.

    Examples:
      >>> import onax
      >>> total = onax.new_ref(0.0)
      >>> @onax.jit
      ... def add(x):
      ...     total[...] += x
      >>> add(2.0)
      >>> add(3.0)
      >>> print(total[...])
      5.0
    """
    if is_ref(init_val):
        raise TypeError(f"new_ref takes an array, got a mutable array reference: {init_val!r}")
    if not valid_jaxtype(init_val):
        raise TypeError(
            f"Error interpreting argument to new_ref as a JAX value. The problematic value is of type {type(init_val)} "
            "and was passed to new_ref at position 0."
        )
    trace, value = find_cur_trace(), _as_value(init_val)
    if memory_space is None and kind is None:
        return trace.make_ref(value)
    if memory_space is not None and trace is eval_trace:
        raise NotImplementedError("array ref with memory space only works inside of a `jit`.")
    if not trace.records_refs([value]):
        return trace.make_ref(value)
    return trace.process_primitive(new_ref_p, [value], {"kind": kind, "memory_space": memory_space})


@api_boundary
def freeze(ref: Ref) -> Array:
    """Returns the last value of a reference, which must not be used afterwards.

    Args:
      ref: a `Ref`.

    Returns:
      Array of the shape and dtype of the reference.

    Examples:
      >>> ref = onax.new_ref(1.0)
      >>> onax.freeze(ref)
      Array(1., dtype=float32, weak_type=True)
    """
    return _bind(freeze_p, ref, [], [], {})


@api_boundary
def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """Returns a reference to an array of a type; its first value is undefined (here zeros).

    Args:
      ty: a type with shape and dtype, such as a ShapeDtypeStruct.
      memory_space: accepted, without effect.

    Returns:
      A `Ref`.

    Examples:
      >>> onax.empty_ref(onax.ShapeDtypeStruct((2,), jnp.float32)).shape
      (2,)
    """
    return find_cur_trace().make_ref(zeros(ty.shape, ty.dtype))


@api_boundary
def free_ref(ref: Ref) -> None:
    """Ends the use of a reference, which must not be used afterwards.

    Args:
      ref: a `Ref`.

    Returns:
      None.

    Examples:
      >>> onax.free_ref(onax.new_ref(1.0))
    """
    _bind(free_ref_p, ref, [], [], {})


@api_boundary
def get(ref: Ref, idx: Index = None) -> Array:
    """Returns the elements of a reference at an index.

    Args:
      ref: a `Ref`.
      idx: an index; default None, the whole array.

    Returns:
      Array.

    Examples:
      >>> onax.ref.get(onax.new_ref(jnp.arange(3)), 1)
      Array(1, dtype=int32)
    """
    index, operands = read_index(ref, ... if idx is None else idx)
    return _bind(get_p, ref, [], operands, {"index": index})


@api_boundary
def swap(ref: Ref, idx: Index, value: ArrayLike) -> Array:
    """Writes elements of a reference, and returns what was there.

    Args:
      ref: a `Ref`.
      idx: an index.
      value: an array of the shape and dtype of ``ref[idx]``, or a number.

    Returns:
      Array.

    Raises:
      ValueError: a value of another shape or dtype.

    Examples:
      >>> onax.ref.swap(onax.new_ref(jnp.arange(3)), 1, 7)
      Array(1, dtype=int32)
    """
    index, operands = read_index(ref, ... if idx is None else idx)
    return _bind(swap_p, ref, [_strong(value, ref)], operands, {"index": index})


@api_boundary
def set(ref: Ref, idx: Index, value: ArrayLike) -> None:
    """Writes elements of a reference.

    Args:
      ref: a `Ref`.
      idx: an index.
      value: an array of the shape and dtype of ``ref[idx]``, or a number.

    Returns:
      None.

    Raises:
      ValueError: a value of another shape or dtype.

    Examples:
      >>> ref = onax.new_ref(jnp.arange(3))
      >>> onax.ref.set(ref, 1, 7)
      >>> ref[...]
      Array([0, 7, 2], dtype=int32)
    """
    swap(ref, idx, value)


@api_boundary
def addupdate(ref: Ref, idx: Index, x: ArrayLike) -> None:
    """Adds a value to elements of a reference, each occurrence of an index once.

    Args:
      ref: a `Ref`.
      idx: an index.
      x: an array of the shape and dtype of ``ref[idx]``, or a number.

    Returns:
      None.

    Raises:
      ValueError: a value of another shape or dtype.

    Examples:
      >>> ref = onax.new_ref(jnp.arange(3))
      >>> onax.ref.addupdate(ref, 1, 7)
      >>> ref[...]
      Array([0, 8, 2], dtype=int32)
    """
    index, operands = read_index(ref, ... if idx is None else idx)
    _bind(addupdate_p, ref, [_as_value(x)], operands, {"index": index})


Ref.read_item = staticmethod(get)
Ref.write_item = staticmethod(set)
Ref.add_item = staticmethod(addupdate)
Ref.swap_item = staticmethod(swap)


def _bind(primitive, ref, values, operands, params):
    if isinstance(ref, TransformedRef) and "index" in params:
        steps, ref = ref.transforms, ref.ref
        view = tuple(step.index if isinstance(step, Item) else step for step in steps)
        operands = [x for step in steps if isinstance(step, Item) for x in step.operands] + operands
        params = {**params, "view": view} if view else params
    if not is_ref(ref):
        name = "ref_get" if primitive is get_p else "ref_swap" if primitive is swap_p else primitive.name
        raise ValueError(f"Can only call `{name}` on a `Ref`: {ref}.")
    operands = [*values, *operands]
    primitive.abstract(typeof(ref), *map(typeof, operands), **params)  # checks shape and dtype of the value
    return bind_with_refs(primitive, [ref, *operands], params)


def _as_value(x):
    """NumPy's arrays and scalars as arrays; Python's scalars stay what they are."""
    return asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _strong(value, ref):
    """The value as an array; one of weak type gets the dtype of the reference if that is of the same kind."""
    value = _as_value(value)
    aval = typeof(value)
    if aval.weak_type and np.result_type(ref.dtype, aval.dtype) == ref.dtype:
        return convert(value, ref.dtype)
    return convert(value, aval.dtype)


# ---- rules ----


def _split_index(shape, index, operands):
    """(starts and sizes of a dynamic slice, or None; the index expression into it)."""
    rest, starts, sizes, parts, dynamic = iter(operands), [0] * len(shape), list(shape), [], False
    for axis, entry in enumerate(index):
        if entry == ARRAY:
            parts.append(next(rest))
        elif isinstance(entry, Slice) and entry.start is None:
            starts[axis], sizes[axis], dynamic = (
                next(rest),
                (entry.size - 1) * entry.stride + 1 if entry.size else 0,
                True,
            )
            parts.append(slice(None, None, entry.stride))
        elif isinstance(entry, Slice):
            parts.append(slice(entry.start, entry.start + entry.size * entry.stride, entry.stride))
        else:
            parts.append(entry)
    return (starts, sizes) if dynamic else None, tuple(parts)


def _window(shape, index, operands):
    """(starts, sizes) if an index without strides and arrays has a position that is not known; None for others.

    Such positions are clamped, so that the window lies inside.
    """
    rest, starts, sizes = iter(operands), [0] * len(shape), list(shape)
    for axis, entry in enumerate(index):
        if entry == ARRAY:
            starts[axis], sizes[axis] = next(rest), 1
            if typeof(starts[axis]).shape:
                return None
        elif not isinstance(entry, Slice):
            starts[axis], sizes[axis] = entry, 1
        elif entry.stride != 1:
            return None
        else:
            starts[axis], sizes[axis] = next(rest) if entry.start is None else entry.start, entry.size
    return (starts, sizes) if operands else None


def _item(value, index, operands):
    exact = _window(value.shape, index, operands)
    if exact is not None:
        return _without_positions(dynamic_slice(value, *exact), index)
    window, parts = _split_index(value.shape, index, operands)
    return getitem(value if window is None else dynamic_slice(value, *window), parts)


def _without_positions(window, index):
    """Elements without the dimensions in which the index has one position."""
    kept = [n for n, entry in zip(window.shape, index) if isinstance(entry, Slice)]
    return reshape(window, (*kept, *window.shape[len(index) :]))


def _replace(value, index, operands, new, op):
    """The array with the elements at an index replaced by new ones, or combined with them."""
    exact = _window(value.shape, index, operands)
    if exact is not None:
        starts, sizes = exact
        new = reshape(new, sizes)
        return dynamic_update_slice(value, dynamic_slice(value, *exact) + new if op == "add" else new, starts)
    window, parts = _split_index(value.shape, index, operands)
    part = value if window is None else dynamic_slice(value, *window)
    part = part.at[parts].add(new) if op == "add" else part.at[parts].set(new)
    return part if window is None else dynamic_update_slice(value, part, window[0])


def _read_step(value, step, operands):
    """What a step of a view, or an index, leads to."""
    if type(step) is tuple:
        return _item(value, step, operands) if step else value
    if isinstance(step, Reshape):
        return reshape(value, step.shape)
    if isinstance(step, Bitcast):
        return _bitcast(value, step.dtype)
    return transpose(value, step.permutation)


def _write_step(value, step, operands, new, op):
    """The array with new elements where a step leads; an index may combine them with the old ones."""
    if type(step) is tuple:
        return _replace(value, step, operands, new, op)
    if isinstance(step, Reshape):
        return reshape(new, value.shape)
    if isinstance(step, Bitcast):
        return _bitcast(new, value.dtype)
    return transpose(new, tuple(sorted(range(value.ndim), key=step.permutation.__getitem__)))


def _write(value, steps, new, op):
    """The array with the elements to which steps lead replaced by new ones, or combined with them."""
    if not steps:
        return _like(value + new if op == "add" else new, value)
    (step, operands), *rest = steps
    if not rest and type(step) is tuple:
        return _replace(value, step, operands, new, op)
    part = _write(_read_step(value, step, operands), rest, new, op)
    return _write_step(value, step, operands, part, "set")


def _bitcast(x, dtype):
    """The array with its bits as another dtype; a wider one joins rows, a narrower one splits them."""
    shape = Bitcast(dtype).transform_aval(typeof(x)).shape
    ratio = max(x.shape[-2], 1) // max(shape[-2], 1) if x.ndim > 1 else 1
    if ratio > 1:
        x = reshape(x, (*shape[:-1], ratio, shape[-1]))
        x = transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    y = bitcast_convert_type(x, dtype)
    if y.ndim > len(shape):
        y = transpose(y, (*range(y.ndim - 2), y.ndim - 1, y.ndim - 2))
    return reshape(y, shape)


def _steps(index, view, operands):
    return with_operands([*view, *([index] if index else [])], operands)


def _read(value, steps):
    for step, operands in steps:
        value = _read_step(value, step, operands)
    return value


@discharge.rule(get_p)
def _get(values, refs, *, index, view=()):
    value, *operands = values
    return _read(value, _steps(index, view, operands)), [None] * len(values)


@discharge.rule(swap_p)
def _swap(values, refs, *, index, view=()):
    value, new, *operands = values
    steps = _steps(index, view, operands)
    return _read(value, steps), [_write(value, steps, new, "set"), *[None] * (len(values) - 1)]


@discharge.rule(addupdate_p)
def _addupdate(values, refs, *, index, view=()):
    value, new, *operands = values
    return [], [_write(value, _steps(index, view, operands), new, "add"), *[None] * (len(values) - 1)]


def _like(new, old):
    """The new value with the weak type of the old one, which is that of the reference."""
    weak = typeof(old).weak_type
    return new if typeof(new).weak_type == weak else convert(new, old.dtype, weak)


__all__ = ["addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
