"""strict(): silent differences between accelerators raise errors that name the value and line.

A trace that interprets: while it is current every operation comes to it with its values, also the operations of jitted
functions, loops and branches, whose programs are then carried out one operation at a time.  Where no `strict()` is
open there is no such trace, so it costs nothing.
"""

import os
import sys
from dataclasses import KW_ONLY, dataclass

import numpy as np

from onax._control.jit_call import jit_p
from onax._core.evaluate import eval_jaxpr
from onax._core.slots import Slot
from onax._core.trace import Trace, Tracer, as_array, find_cur_trace, trace_state_clean
from onax._ground import config, dtypes, source
from onax._ground.errors import IntegerOverflowError, LostValueError, OutOfBoundsError, StrictError
from onax._native.context import swap_trace
from onax._native.dispatch import evaluate
from onax._prims import elementwise as el
from onax._prims.convert import convert_element_type_p
from onax._prims.cumulative import cumprod_p, cumsum_p
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.indexing_records import CLIP, window_sizes
from onax._prims.reductions import reduce_prod_p
from onax._prims.shaping import reduce_sum_p
from onax._prims.slicing import dynamic_slice_p, dynamic_update_slice_p

_RANDOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random") + os.sep

operand_checks = Slot(
    "strict_operands",
    "rule(values, params); raises",
    "strict() does not check the operands.",
    "onax._strict",
)
exact_forms = Slot(
    "strict_overflow",
    "Exact: the operation on integers that are wide enough",
    "strict(overflow=True) does not look for overflow in the operation.",
    "onax._strict",
)


class strict:
    """A context in which silent differences between accelerators raise a `StrictError` instead.

    Its errors are subclasses of `StrictError`:

    - `OutOfBoundsError`: an index outside its axis, read or written: `x[i]`, `x.at[i]`, `take`, `lax.gather`,
      `lax.scatter`, `lax.dynamic_slice`, `lax.dynamic_update_slice` (elsewhere they are clamped, filled or dropped);
      `mode="clip"` says that it is meant.
    - `LostValueError`: a cast whose value does not fit: NaN or 3e9 to int32, 300 to uint8, 1e30 to float16, a complex
      number with an imaginary part to a real one; 64-bit NumPy values that 32 bits do not hold.
    - `TruncatedDtypeError`: a 64-bit dtype is asked for while 64-bit dtypes are off.
    - `IntegerOverflowError`: a sum, difference, product, power, ... of integers does not fit (with `overflow=True`; not
      in the random generators, whose arithmetic is modulo 2**32).
    - `KeyReuseError`: a random key is consumed twice (the option `jax_debug_key_reuse` is on inside).

    Each names the offending value and the line.  Jitted functions are interpreted inside: expect them to be slow.
    Raises StrictError when it is opened while a function is being traced: it must surround the call.
    JAX has nothing like it; `checkify` is its nearest relative.
    """

    __slots__ = ("_entered", "_overflow")

    def __init__(self, *, overflow=False):
        self._overflow = bool(overflow)
        self._entered = []

    def __enter__(self):
        if not trace_state_clean() and not isinstance(find_cur_trace(), StrictTrace):
            raise StrictError(
                "strict() was opened while a function is being traced, where values are not known. Open it around "
                "the call of the transformed function."
            )
        scopes = [config.explicit_x64_dtypes("strict"), config.debug_key_reuse(True)]
        for scope in scopes:
            scope.__enter__()
        self._entered.append((swap_trace(StrictTrace(self._overflow)), scopes))
        return self

    def __exit__(self, kind, error, traceback):
        previous, scopes = self._entered.pop()
        swap_trace(previous)
        for scope in reversed(scopes):
            scope.__exit__(kind, error, traceback)


class StrictTrace(Trace):
    """Carries operations out, after a look at their operands."""

    __slots__ = ("_generating", "overflow")

    def __init__(self, overflow):
        super().__init__(None)
        self.overflow = overflow
        self._generating = 0  # depth of programs of `onax.random`

    def process_primitive(self, primitive, args, params):
        values = [self._value(x, primitive) for x in args]
        if primitive is jit_p:
            return self._call(values, params)
        check = operand_checks.get(primitive)
        if check is not None:
            check(values, params)
        if primitive.impl is not None:
            return primitive.impl(*values, **params)
        out = evaluate(primitive, values, params)
        if self.overflow and primitive in exact_forms and out.dtype in _INTEGERS and not self._generating:
            _check_overflow(primitive, values, params, out)
        return out

    def new_const(self, x):
        return x

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        return fun(*args)

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        return fun(*args)

    def _value(self, x, primitive):
        """The operand as an Array; a 64-bit NumPy value that would change on the way raises."""
        if isinstance(x, Tracer):
            raise StrictError(f"strict: a traced value of another transformation reached {primitive.name}: {x!r}")
        if isinstance(x, (np.ndarray, np.generic)):
            self.admit(x, None)
        return as_array(x)

    def admit(self, x, dtype):
        """Raises for a value from outside that does not fit in the dtype it is to have."""
        x = np.asarray(x)
        if dtypes.issubdtype(x.dtype, np.number):
            _check_cast(x, dtypes.canonicalize_dtype(x.dtype) if dtype is None else dtype, "the conversion")

    def _call(self, values, params):
        jaxpr = params["jaxpr"]
        generating = f" at {_RANDOM}" in jaxpr.debug_info.func_src_info
        self._generating += generating
        try:
            return eval_jaxpr(jaxpr, jaxpr.consts, *values)
        finally:
            self._generating -= generating

    def __repr__(self):
        return f"StrictTrace(overflow={self.overflow})"


def _location():
    """The source location of the current operation, as a line for a message."""
    record = source.user_location()
    return "" if record is None else f"\nIn {source.summarize(record)}."


# ---- indices ----


def _check_indices(shape, indices, axes, sizes, what):
    """Raises for the first component of the index vectors (last axis) whose window leaves the operand."""
    limits = np.array([shape[a] - sizes[a] for a in axes])
    bad = (indices < 0) | (indices > limits) if limits.size else np.zeros(indices.shape, bool)
    if not bad.any():
        return
    where = tuple(map(int, np.argwhere(bad)[0]))
    axis = axes[where[-1]]
    index, size, width = int(indices[where]), shape[axis], sizes[axis]
    window = "" if width == 1 else f" (a window {width} wide starts there)"
    counted = f" (written {index - size} if it was counted from the end)" if index < 0 else ""
    at = f", at position {list(where[:-1])} of the indices" if where[:-1] else ""
    raise OutOfBoundsError(
        f"strict: {what} an array of shape {shape}: index {index}{counted}{window} is out of bounds for axis {axis} "
        f"with size {size}{at}.{_location()}"
    )


@operand_checks.rule(gather_p)
def _check_gather(values, params):
    if params["mode"] is CLIP:
        return
    x, indices = values
    _check_indices(
        x.shape, indices._value, params["dimension_numbers"].start_index_map, params["slice_sizes"], "read from"
    )


@operand_checks.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _check_scatter(values, params):
    if params["mode"] is CLIP:
        return
    x, indices, updates = values
    numbers = params["dimension_numbers"]
    sizes = window_sizes(len(x.shape), numbers, updates.shape)
    _check_indices(x.shape, indices._value, numbers.scatter_dims_to_operand_dims, sizes, "write to")


def _check_window(shape, starts, sizes, what):
    vector = np.array([int(s._value) for s in starts])
    _check_indices(shape, vector, tuple(range(len(shape))), sizes, what)


@operand_checks.rule(dynamic_slice_p)
def _check_dynamic_slice(values, params):
    _check_window(values[0].shape, values[1:], params["slice_sizes"], "read from")


@operand_checks.rule(dynamic_update_slice_p)
def _check_dynamic_update_slice(values, params):
    _check_window(values[0].shape, values[2:], values[1].shape, "write to")


# ---- casts ----

_INTEGERS = frozenset(np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))


def _lost(x, dtype):
    """Which elements have no counterpart in the dtype, or None if none can be without."""
    old = x.dtype
    if dtype == old or dtype == np.bool_ or old == np.bool_ or not isinstance(dtype, np.dtype):
        return None
    if old.kind == "c" and dtype.kind != "c":
        return x.imag != 0
    if dtype in _INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if old in _INTEGERS:
            return np.less(x, low) | np.greater(x, high)  # NumPy compares integers of all widths exactly
        whole = np.trunc(x.astype(np.float64))
        return ~((whole >= low) & (whole < float(high) + 1))
    if dtypes.issubdtype(dtype, np.inexact):
        with np.errstate(all="ignore"):
            return np.isinf(x.astype(dtype)) & np.isfinite(x.astype(np.complex128 if old.kind == "c" else np.float64))
    return None


def _check_cast(x, dtype, what):
    """Raises for the first element that a cast to the dtype would not keep."""
    if not isinstance(x.dtype, np.dtype) or x.dtype.kind in "OUSMm" or x.dtype.names is not None:
        return
    lost = _lost(x, dtype)
    if lost is None or not np.any(lost):
        return
    where = tuple(map(int, np.argwhere(lost)[0]))
    value = np.asarray(x)[where]
    at = f" at index {list(where)}" if where else ""
    raise LostValueError(
        f"strict: {what} does not keep its value: {value}{at}, of dtype {x.dtype.name}, does not fit in {dtype.name}."
        f"{_location()}"
    )


@operand_checks.rule(convert_element_type_p)
def _check_convert(values, params):
    x, dtype = values[0], params["new_dtype"]
    if isinstance(x.dtype, np.dtype) and isinstance(dtype, np.dtype) and not _generates():
        _check_cast(x._value, dtype, "the cast")


def _generates():
    """Whether the random generators are at work: what they do with bits is meant."""
    frame = sys._getframe(1)
    while frame is not None and source.is_internal(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(_RANDOM):
            return True
        frame = frame.f_back
    return False


# ---- overflow: the same operation in numbers wide enough ----


def _along(function):
    def exact(x, *, axis, reverse):
        x = np.flip(x, axis) if reverse else x
        out = function(x, axis=axis)
        return np.flip(out, axis) if reverse else out

    return exact


def _quotient(x, y):
    """Truncated division; by zero it gives nothing that could overflow."""
    safe = np.where(y == 0, 1, y)
    return np.where(y == 0, 0, abs(x) // abs(safe) * np.where((x < 0) == (safe < 0), 1, -1))


@dataclass(slots=True, eq=False)
class Exact:
    """An operation on integers without overflow.

    Attributes:
      function: the operation, on arrays of Python or 64-bit integers.
      narrow: whether results of operands with at most 16 bits fit in 64, so that NumPy's integers suffice.
      sign: the operator that messages print between two operands.
      names_operand: whether messages show the one operand.
    """

    function: object
    _: KW_ONLY
    narrow: bool = False
    sign: str | None = None
    names_operand: bool = False


exact_forms.set(el.add_p, Exact(np.add, narrow=True, sign="+"))
exact_forms.set(el.sub_p, Exact(np.subtract, narrow=True, sign="-"))
exact_forms.set(el.mul_p, Exact(np.multiply, narrow=True, sign="*"))
exact_forms.set(el.div_p, Exact(_quotient, narrow=True, sign="/"))
exact_forms.set(el.neg_p, Exact(np.negative, narrow=True, names_operand=True))
exact_forms.set(el.abs_p, Exact(np.abs, narrow=True, names_operand=True))
exact_forms.set(el.square_p, Exact(np.square, narrow=True, names_operand=True))
exact_forms.set(el.integer_pow_p, Exact(lambda x, *, y: x**y, names_operand=True))
exact_forms.set(cumsum_p, Exact(_along(np.cumsum)))
exact_forms.set(cumprod_p, Exact(_along(np.cumprod)))
exact_forms.set(reduce_sum_p, Exact(lambda x, *, axes, out_sharding=None: np.sum(x, axis=axes)))
exact_forms.set(reduce_prod_p, Exact(lambda x, *, axes: np.prod(x, axis=axes)))


def _check_overflow(primitive, values, params, out):
    """Compares with the same operation on Python's integers (on 64-bit ones where these are wide enough)."""
    if not out.size or _generates():
        return
    operands, form = [x._value for x in values], exact_forms[primitive]
    narrow = out.dtype.itemsize <= 2 and form.narrow
    wide = [x.astype(np.int64) if narrow else x.astype(object) for x in operands]
    exact = np.asarray(form.function(*wide, **params))
    info = np.iinfo(out.dtype)
    bad = np.asarray((exact < info.min) | (exact > info.max), dtype=bool)
    if not bad.any():
        return
    where = tuple(map(int, np.argwhere(bad)[0]))
    at = f", at index {list(where)} of the result" if where else ""
    raise IntegerOverflowError(
        f"strict: integer overflow in {_applied(primitive, operands, where, exact[where])} does not fit in "
        f"{out.dtype.name} ({info.min} to {info.max}){at}.{_location()}"
    )


def _applied(primitive, operands, where, exact):
    """The operation with the operands of one element, where these are single numbers."""
    name, form = primitive.name, exact_forms[primitive]
    if form.sign is not None:
        x, y = (np.broadcast_to(v, np.broadcast_shapes(*(o.shape for o in operands)))[where] for v in operands)
        return f"{name}: {x} {form.sign} {y} = {exact}"
    if form.names_operand:
        return f"{name} of {operands[0][where]}: {exact}"
    return f"{name}: {exact}"
