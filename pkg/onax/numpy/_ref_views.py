"""Index expressions of mutable array references, and views of references (`ref.at[index]`, `ref.reshape(shape)`)."""

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._core.paths import GetAttrKey
from onax._core.refs import AbstractRef, Ref, RefItems
from onax._core.trace import eval_trace, find_cur_trace, is_concrete, typeof
from onax._core.trees import register_pytree_with_keys
from onax._ground import dtypes
from onax._prims.refs import ARRAY, Bitcast, Reshape, Slice, Transpose, transform_aval
from onax.numpy._index_expressions import SizedSlice


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """The step to the elements at an index: the index in the form of `_prims/refs.py`, and its operands."""

    index: tuple
    operands: tuple

    def transform_aval(self, aval):
        """The type of these elements of an array of a type."""
        return transform_aval(aval, self.index, [typeof(x).shape for x in self.operands])


@dataclass(frozen=True, slots=True, eq=False)
class TransformedRef(RefItems):
    """A view of a mutable array reference, which reads and writes some of its elements in another shape or order.

    Args:
      ref: the reference.
      transforms: the steps from the reference to the view.

    Examples:
      >>> @onax.jit
      ... def double_row(ref, i):
      ...     row = ref.at[i]
      ...     row[...] = row[...] * 2
      >>> ref = onax.new_ref(jnp.ones((2, 3)))
      >>> double_row(ref, 1)
      >>> ref[...]
      Array([[1., 1., 1.],
             [2., 2., 2.]], dtype=float32)
    """

    ref: Any
    transforms: tuple

    @property
    def type(self):
        """The type of a reference to an array like the view."""
        aval = typeof(self.ref).inner_aval
        for step in self.transforms:
            aval = step.transform_aval(aval)
        return AbstractRef(aval)

    shape = property(lambda self: self.type.shape)
    dtype = property(lambda self: self.type.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    T = property(lambda self: self.transpose(tuple(reversed(range(self.ndim)))))
    at = property(lambda self: RefIndexer(self))

    def bitcast(self, dtype):
        """The view with its bits read as another dtype."""
        return self._then(Bitcast(dtypes.dtype(dtype)))

    def reshape(self, *shape):
        """The view in another shape, given as integers or a tuple of them, of which one may be -1."""
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        return self._then(Reshape(_known_shape(self.shape, tuple(map(operator.index, shape)))))

    def transpose(self, permutation):
        """The view with its dimensions permuted."""
        return self._then(Transpose(tuple(permutation)))

    def _then(self, step):
        view = TransformedRef(self.ref, (*self.transforms, step))
        _ = view.type  # raises the error of a step that does not suit
        return view

    def get(self, idx=()):
        """The elements at an index, without one all."""
        return Ref.read_item(self, idx)

    def set(self, value, idx=()):
        """Writes the elements at an index."""
        Ref.write_item(self, idx, value)

    def swap(self, value, idx=()):
        """Writes the elements at an index; returns what was there."""
        return Ref.swap_item(self, idx, value)


@dataclass(frozen=True, slots=True, eq=False)
class RefIndexer:
    """What `ref.at` is: an index gives the view of the elements there."""

    ref_or_view: Any

    def __getitem__(self, index):
        index, operands = read_index(self.ref_or_view, index)
        return view_of(self.ref_or_view)._then(Item(index, tuple(operands)))


def _flatten_view(view):
    """A view as a container: of the reference, and of the arrays in indices."""
    operands = [step.operands if isinstance(step, Item) else () for step in view.transforms]
    steps = tuple(step.index if isinstance(step, Item) else step for step in view.transforms)
    return ((GetAttrKey("ref"), view.ref), (GetAttrKey("transforms"), operands)), steps


def _unflatten_view(steps, children):
    ref, operands = children
    return TransformedRef(ref, tuple(Item(s, own) if isinstance(s, tuple) else s for s, own in zip(steps, operands)))


register_pytree_with_keys(TransformedRef, _flatten_view, _unflatten_view)


def view_of(ref):
    """A view as it is; a reference as a view of all of it."""
    return ref if isinstance(ref, TransformedRef) else TransformedRef(ref, ())


Ref.view_of = staticmethod(view_of)


def _known_shape(old, shape):
    """The shape with the size of a dimension -1 filled in."""
    known, size = math.prod(n for n in shape if n != -1), math.prod(old)
    if shape.count(-1) > 1:
        raise ValueError(f"At most one dimension can be -1, but got {shape}")
    if -1 not in shape:
        if known != size:
            raise ValueError(f"cannot reshape shape {old} into shape {shape}")
        return shape
    if not known or size % known:
        defined = [n for n in shape if n != -1]
        raise ValueError(f"Specified dims {defined} do not evenly divide the size of the ref ({size}).")
    return tuple(size // known if n == -1 else n for n in shape)


def read_index(ref, index):
    """(index in the form of `_prims/refs.py`, its operands).

    Positions before the first element are that of the first, and in programs that are staged positions behind the last
    that of the last; elsewhere these raise ValueError.
    """
    trace = find_cur_trace()
    staged = trace is not eval_trace and trace.records_refs([ref])
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
        entries.append(_read_part(part, size, operands, staged))
    while entries and entries[-1] == Slice(0, shape[len(entries) - 1]) and isinstance(index, type(Ellipsis)):
        entries.pop()
    return tuple(entries), operands


def _read_part(part, size, operands, staged):
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
        if position >= size and not (staged and size):
            raise ValueError(f"Out of bound indexer: idx={position}, dim={size}.")
        return min(position, size - 1) if position >= 0 else max(position + size, 0)
    operands.append(part)
    return ARRAY


def _read_slice(part, size):
    start, stop, step = part.indices(size)
    if step < 1:
        raise ValueError(f"slice must have a step >= 1 (found: {step})")
    if start >= size > 0:
        raise ValueError(f"Out of bound slice: start={start}, dim={size}.")
    return Slice(start, max(-(-(stop - start) // step), 0), step)


def _read_sized_slice(part, operands):
    if part.stride < 1:
        raise ValueError(f"slice must have a step >= 1 (found: {part.stride})")
    if is_concrete(part.start):
        return Slice(int(part.start), part.size, part.stride)
    operands.append(part.start)
    return Slice(None, part.size, part.stride)


__all__ = ["Item", "RefIndexer", "TransformedRef", "read_index", "view_of"]
