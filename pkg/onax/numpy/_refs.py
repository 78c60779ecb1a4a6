"""Mutable array references: `new_ref`, and reading and writing at indices."""

from typing import Any

import numpy as np

from onax._control import refs as _rules  # noqa: F401  it attaches the rules of loops and branches
from onax._core.evaluate import bind_with_refs
from onax._core.refs import Ref, discharge, is_ref
from onax._core.trace import eval_trace, find_cur_trace, is_concrete, typeof, valid_jaxtype
from onax._ground.source import api_boundary
from onax._ground.typing import ArrayLike, Index
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.refs import ARRAY, Slice, addupdate_p, free_ref_p, freeze_p, get_p, new_ref_p, swap_p
from onax._prims.slicing import dynamic_slice, dynamic_update_slice
from onax.numpy._creation import asarray, zeros
from onax.numpy._index_expressions import SizedSlice
from onax.numpy._indexing import getitem


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
    return _bind(freeze_p, ref, (), {})


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
    _bind(free_ref_p, ref, (), {})


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
    index, operands = _read_index(ref, ... if idx is None else idx)
    return _bind(get_p, ref, operands, {"index": index})


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
    index, operands = _read_index(ref, ... if idx is None else idx)
    return _bind(swap_p, ref, [_strong(value, ref), *operands], {"index": index})


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
    index, operands = _read_index(ref, ... if idx is None else idx)
    _bind(addupdate_p, ref, [_as_value(x), *operands], {"index": index})


Ref.read_item = staticmethod(get)
Ref.write_item = staticmethod(set)
Ref.add_item = staticmethod(addupdate)
Ref.swap_item = staticmethod(swap)


def _bind(primitive, ref, operands, params):
    if not is_ref(ref):
        name = "ref_get" if primitive is get_p else "ref_swap" if primitive is swap_p else primitive.name
        raise ValueError(f"Can only call `{name}` on a `Ref`: {ref}.")
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


# ---- index expressions ----


def _read_index(ref, index):
    """(index in the form of `_prims/refs.py`, its operands).  Raises ValueError for positions out of bounds."""
    parts = index if isinstance(index, tuple) else (index,)
    shape = ref.shape
    if sum(part is not Ellipsis for part in parts) > len(shape):
        raise ValueError(f"`indices` must not be longer than `shape`: indices={parts}, shape={shape}")
    if Ellipsis in [part for part in parts if part is Ellipsis]:
        at = [part is Ellipsis for part in parts].index(True)
        rest = len(parts) - at - 1
        parts = (*parts[:at], *[slice(None)] * (len(shape) - at - rest), *parts[at + 1 :])
    entries, operands = [], []
    for part, size in zip(parts, shape):
        entries.append(_read_part(part, size, operands))
    while entries and entries[-1] == Slice(0, shape[len(entries) - 1]) and isinstance(index, type(Ellipsis)):
        entries.pop()
    return tuple(entries), operands


def _read_part(part, size, operands):
    """The entry of one dimension; appends its operand, if it has one."""
    if isinstance(part, slice):
        return _read_slice(part, size)
    if isinstance(part, SizedSlice):
        return _read_sized_slice(part, operands)
    if part is None or isinstance(part, (bool, np.bool_, str)):
        raise TypeError(f"a mutable array reference cannot be indexed with {part!r}")
    if isinstance(part, (list, tuple)):
        part = np.asarray(part)
    aval = typeof(part)
    if not np.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"a mutable array reference is indexed with integers, got {aval.str_short()}")
    if not aval.shape and is_concrete(part):
        position = int(part)
        if not -size <= position < size:
            raise ValueError(f"Out of bound indexer: idx={position}, dim={size}.")
        return position % size
    operands.append(part)
    return ARRAY


def _read_slice(part, size):
    start, stop, step = part.indices(size)
    if step < 1:
        raise ValueError(f"slice must have a step >= 1 (found: {step})")
    return Slice(start, max(-(-(stop - start) // step), 0), step)


def _read_sized_slice(part, operands):
    if part.stride < 1:
        raise ValueError(f"slice must have a step >= 1 (found: {part.stride})")
    if is_concrete(part.start):
        return Slice(int(part.start), part.size, part.stride)
    operands.append(part.start)
    return Slice(None, part.size, part.stride)


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


def _item(value, index, operands):
    window, parts = _split_index(value.shape, index, operands)
    return getitem(value if window is None else dynamic_slice(value, *window), parts)


def _replace(value, index, operands, new, op):
    """The array with the elements at an index replaced by new ones, or combined with them."""
    window, parts = _split_index(value.shape, index, operands)
    part = value if window is None else dynamic_slice(value, *window)
    part = part.at[parts].add(new) if op == "add" else part.at[parts].set(new)
    return part if window is None else dynamic_update_slice(value, part, window[0])


@discharge.rule(get_p)
def _get(values, refs, *, index):
    value, *operands = values
    return (_item(value, index, operands) if index else value), [None] * len(values)


@discharge.rule(swap_p)
def _swap(values, refs, *, index):
    value, new, *operands = values
    if not index:
        return value, [_like(new, value), *[None] * (len(values) - 1)]
    old = _item(value, index, operands)
    return old, [_replace(value, index, operands, new, "set"), *[None] * (len(values) - 1)]


@discharge.rule(addupdate_p)
def _addupdate(values, refs, *, index):
    value, new, *operands = values
    total = _like(value + new, value) if not index else _replace(value, index, operands, new, "add")
    return [], [total, *[None] * (len(values) - 1)]


def _like(new, old):
    """The new value with the weak type of the old one, which is that of the reference."""
    weak = typeof(old).weak_type
    return new if typeof(new).weak_type == weak else convert(new, old.dtype, weak)


__all__ = ["addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
