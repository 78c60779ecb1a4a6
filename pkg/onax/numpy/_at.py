"""`x.at[index]`: functional updates, and reads with a choice of what happens out of bounds.

The common updates of a concrete array (integers, slices, one array of integers) are made on a copy by NumPy; everything
else is a scatter.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from onax import lax
from onax._core.refs import is_ref
from onax._core.trace import typeof
from onax._core.transfer_guards import report_index
from onax._ground import dims, dtypes, source
from onax._ground.config import config, guard_state
from onax._ground.errors import TypePromotionError
from onax._native import context
from onax._native.array import ArrayImpl
from onax._native.avals import ShapedArray
from onax._prims.convert import convert
from onax._prims.indexing_kernels import combine
from onax._prims.placement import with_out_sharding
from onax.lax._scatter import scatter_apply
from onax.numpy._arithmetic import power
from onax.numpy._creation import asarray, broadcast_to
from onax.numpy._index_expressions import basic_index, leading_arrays, parse
from onax.numpy._indexing import Indexer, array_like, is_committed_elsewhere, read
from onax.numpy._promotion import (
    as_operand,
    check_arraylike,
    fits_default_integer,
    is_arraylike,
    promote_dtypes,
    python_scalar,
)
from onax.numpy._ref_views import RefIndexer
from onax.numpy._ufuncs import divide


@source.api_class
@dataclass(slots=True, eq=False, repr=False)
class _IndexUpdateHelper:
    """`x.at`: index it to say where."""

    array: object

    def __getitem__(self, index):
        return _IndexUpdateRef(self.array, index)

    def __repr__(self):
        return f"_IndexUpdateHelper({self.array!r})"


@source.api_class
@dataclass(slots=True, eq=False, repr=False)
class _IndexUpdateRef:
    """`x.at[index]`: x with that part replaced or combined with values, or that part itself.

    All methods take, by keyword:

    mode                   what becomes of indices out of bounds: "drop" or "fill" (the default for updates), "clip",
                           "promise_in_bounds"
    indices_are_sorted     a promise: indices ascend
    unique_indices         a promise: no two are equal (then gradients are cheaper, or possible at all)
    wrap_negative_indices  whether negative indices count from the end
    out_sharding           where the result lies

    Values are broadcast to the shape of `x[index]` and converted to x's dtype.
    """

    array: object
    index: object

    def __repr__(self):
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        fill_value=None,
        out_sharding=None,
        wrap_negative_indices=True,
    ):
        """`x[index]`; with mode="fill" elements out of bounds are fill_value (default: NaN, or an extreme integer)."""
        options = {
            "mode": mode, "fill_value": fill_value, "indices_are_sorted": indices_are_sorted,
            "unique_indices": unique_indices, "wrap": wrap_negative_indices,
        }  # fmt: skip
        if out_sharding is not None:
            return with_out_sharding(out_sharding, read, self.array, self.index, **options)
        return read(self.array, self.index, **options)

    def set(self, values, **options):
        """x with values at the index; where indices repeat the last one counts."""
        return self._update(values, None, lax.scatter, "set", options)

    def add(self, values, **options):
        """x with values added at the index, also where indices repeat."""
        return self._update(values, np.add, lax.scatter_add, "add", options)

    def subtract(self, values, **options):
        """x with values subtracted at the index, also where indices repeat."""
        return self._update(values, np.subtract, lax.scatter_sub, "subtract", options)

    def multiply(self, values, **options):
        """x with values multiplied in at the index, also where indices repeat."""
        return self._update(values, np.multiply, lax.scatter_mul, "multiply", options)

    mul = multiply

    def divide(self, values, **options):
        """x divided by values at the index; integers give floats, as `/` does."""
        ones = lax.full_like(self.array, 1)
        return divide(self.array, update(ones, self.index, values, lax.scatter_mul, "divide", **options))

    def power(self, values, **options):
        """x raised to values at the index."""
        ones = lax.full_like(self.array, 1)
        return power(self.array, update(ones, self.index, values, lax.scatter_mul, "power", **options))

    def min(self, values, **options):
        """x with the minimum of it and values at the index."""
        return self._update(values, np.minimum, lax.scatter_min, "min", options)

    def max(self, values, **options):
        """x with the maximum of it and values at the index."""
        return self._update(values, np.maximum, lax.scatter_max, "max", options)

    def _update(self, values, op, scatter, name, options):
        if guard_state.used:
            report_index(self.index)
        if not options and context.get_trace() is None:
            out = _update_concrete(self.array, self.index, values, op)
            if out is not None:
                return out
        return update(self.array, self.index, values, scatter, name, **options)

    def apply(
        self,
        func,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        wrap_negative_indices=True,
    ):
        """x with `func`, a function of a scalar, applied at the index, once for each time an index occurs."""

        def apply_at(operand, indices, updates, numbers, **options):
            shape = typeof(updates).shape
            return scatter_apply(operand, indices, func, numbers, update_shape=shape, **options)

        return update(
            self.array,
            self.index,
            lax.full_like(self.array, 0, shape=()),
            apply_at,
            "apply",
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=wrap_negative_indices,
        )


def at(x):
    """The `at` property of arrays, and of tracers of mutable array references, whose views it makes."""
    return RefIndexer(x) if is_ref(x) else _IndexUpdateHelper(x)


# ---- the general form: a scatter ----


def update(
    x,
    index,
    values,
    scatter,
    name,
    *,
    indices_are_sorted=False,
    unique_indices=False,
    mode=None,
    out_sharding=None,
    wrap_negative_indices=True,
):
    """x with values put at, or combined into, the index by the given scatter function.

    Warns (FutureWarning) when values cannot be converted safely to x's dtype; raises ValueError when they do not
    broadcast to the shape of `x[index]`.
    """
    if out_sharding is not None:
        options = {
            "indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices, "mode": mode,
            "wrap_negative_indices": wrap_negative_indices,
        }  # fmt: skip
        return with_out_sharding(out_sharding, update, x, index, values, scatter, name, **options)
    values = values if is_arraylike(values) else asarray(values)  # lists are values, as in JAX
    x, values = check_arraylike(name, x, values)
    if type(values) is int and not fits_default_integer(values):
        fits = dtypes.is_integer(x.dtype) and dtypes.iinfo(x.dtype).min <= values <= dtypes.iinfo(x.dtype).max
        values = python_scalar(values, x.dtype if fits else dtypes.scalar_dtype(int), False)
    mode = lax.GatherScatterMode.from_any(mode)
    parsed = parse(x.shape, index)
    indexer = Indexer(parsed, wrap_negative_indices)
    if dims.definitely_empty(indexer.slice_shape()):
        return x
    indices = indexer.indices()
    dtype, weak_type = x.dtype, x.weak_type
    operand, values = _promote_update(x, values)
    values = indexer.arrange_updates(_broadcast(values, indexer.full_shape()))
    if parsed.inserted:
        operand = lax.expand_dims(operand, parsed.inserted)
    out = scatter(
        operand,
        indices,
        values,
        indexer.scatter_dimension_numbers(),
        indices_are_sorted=indices_are_sorted or indexer.scalar,
        unique_indices=unique_indices or indexer.scalar,
        mode=mode,
    )
    if parsed.inserted:
        out = lax.squeeze(out, parsed.inserted)
    return convert(out, dtype, weak_type)


def _promote_update(x, values):
    """Promotes x and values to one dtype and warns if that is not x's dtype."""
    if dtypes.is_extended(x.dtype):
        values = as_operand(values)
        if values.dtype != x.dtype:
            raise TypeError(f"lax.scatter requires arguments to have the same dtypes, got {x.dtype}, {values.dtype}.")
        return x, values
    try:
        safe = dtypes.result_type(x, values) == x.dtype
    except TypePromotionError:
        if config.jax_numpy_dtype_promotion == "strict":
            raise
        safe = False
    if not safe:
        warnings.warn(
            f"scatter inputs have incompatible types: cannot safely cast value from dtype={typeof(values).dtype} to "
            f"dtype={x.dtype} with jax_numpy_dtype_promotion={config.jax_numpy_dtype_promotion}. In future JAX "
            "releases this will result in an error.",
            FutureWarning,
            stacklevel=source.stacklevel(),
        )
    return promote_dtypes(x, values)


def _broadcast(values, shape):
    if len(values.shape) > len(shape) or not all(
        dims.equal(d, 1) or dims.equal(d, n) for d, n in zip(values.shape[::-1], shape[::-1])
    ):
        if len(values.shape) > len(shape):
            raise ValueError(
                f"Cannot broadcast to shape with fewer dimensions: arr_shape={values.shape} shape={tuple(shape)}"
            )
        requested = ShapedArray(shape, values.dtype)
        raise ValueError(
            f"Incompatible types for broadcasting: input type={values.aval.str_short()} and requested "
            f"type={requested.str_short()}"
        )
    return broadcast_to(values, shape)


# ---- concrete arrays: a copy, written to by NumPy ----

_PLAIN_KINDS = "fiu"


def _update_concrete(x, index, values, op):
    """The updated copy of a concrete array for an index of ints and slices, or of arrays over the first axes.

    None for any other index, and for values of another dtype or shape.
    """
    if type(x) is not ArrayImpl or x._shards is not None or is_committed_elsewhere(x, index):
        return None
    if op is not None and (dtypes.is_extended(x.dtype) or x.dtype.kind not in _PLAIN_KINDS):
        return None
    values = _plain_values(x, values)
    if values is None:
        return None
    basic = basic_index(index)
    if basic is None:
        arrays = leading_arrays(x.shape, index)
        return None if arrays is None else _update_rows(x, arrays, values, op)
    try:
        part = x._value[basic]
    except (IndexError, ValueError, TypeError):
        return None  # the general path drops indices out of bounds or raises the error
    if values.shape and not _can_broadcast(values.shape, part.shape):
        return None
    out = x._value.copy()
    out[basic] = values if op is None else op(part, values)
    return array_like(x, out)


def _update_rows(x, arrays, values, op):
    """x with rows overwritten or combined with values, those out of bounds left alone."""
    lengths = x.shape[: len(arrays)]
    rows = _flat_row_indices(arrays, lengths)
    if rows is None:
        return None
    size = math.prod(lengths)
    shape = rows.shape + x.shape[len(arrays) :]
    if values.shape and not _can_broadcast(values.shape, shape):
        return None
    out = x._value.copy()
    table = out.reshape(size, *x.shape[len(arrays) :])
    inside = not rows.size or (rows.min() >= 0 and rows.max() < size)
    if op is None and inside:
        table[rows] = values
        return array_like(x, out)
    values = np.broadcast_to(values, shape)
    if not inside:
        keep = (rows >= 0) & (rows < size)
        rows, values = rows[keep], values[keep]
    if op is None:
        table[rows] = values
    elif values.size:
        rows = rows.reshape(-1)
        combine(table.reshape(size, -1), rows, values.reshape(len(rows), -1), op)
    return array_like(x, out)


def _flat_row_indices(arrays, lengths):
    """The flat row index that the arrays denote together; -1 or past the last row where that is out of bounds."""
    if len(arrays) == 1:
        return arrays[0]
    inside = True
    for array, length in zip(arrays, lengths):
        inside = inside & (array >= 0) & (array < length)
    try:
        rows = np.ravel_multi_index(arrays, lengths, mode="clip")
    except ValueError:  # arrays that do not broadcast together: the general path raises the error
        return None
    return np.asarray(np.where(inside, rows, -1))


def _can_broadcast(shape, target):
    """Whether shape broadcasts to target and has no more axes than it."""
    if shape == target:
        return True
    if len(shape) > len(target):
        return False
    return all(d in (1, n) for d, n in zip(shape[::-1], target[::-1]))


def _plain_values(x, values):
    """Values as an ndarray or NumPy scalar of x's dtype; None if they need a warning or promotion."""
    kind = type(values)
    dtype = x.dtype
    if kind is ArrayImpl:
        if values.dtype != dtype or values._committed:
            return None
        return values._value
    if dtypes.is_extended(dtype) or dtype.kind not in _PLAIN_KINDS:
        return None
    if isinstance(values, (np.ndarray, np.generic)):
        return values if values.dtype == dtype else None
    if kind is float or kind is int:
        if dtype.kind == "f" and (kind is float or fits_default_integer(values)):
            return dtype.type(values)
        if kind is int and -128 <= values < 128 and (values >= 0 or dtype.kind == "i"):
            return dtype.type(values)
    return None
