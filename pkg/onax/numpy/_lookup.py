"""Places in sorted sequences and membership: searchsorted, digitize, interp, isin.

Evaluating, NumPy searches.  In a program few pairs are all compared, which is one pass of elementwise work; of many
each query halves the range in which its place may lie.
"""

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._control.while_loop import fori_loop
from onax._core.api_functions import static_argnames
from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax.numpy._arithmetic import clip, remainder
from onax.numpy._gathering import take
from onax.numpy._promotion import (
    array_of,
    arrays,
    canonical_axis,
    check_arraylike,
    evaluates_here,
    promote_dtypes,
    promote_dtypes_inexact,
    to_dtype,
)
from onax.numpy._shaping import concatenate, ravel, reshape
from onax.numpy._ufuncs import absolute, add, constant_like, subtract
from onax.numpy._where import where


def _before(x, y):
    """Whether x sorts before y; nan comes last."""
    if not dtypes.is_inexact(x.dtype):
        return lax.lt(x, y)
    return lax.bitwise_or(lax.lt(x, y), lax.bitwise_and(lax.eq(x, x), lax.ne(y, y)))


@staged("searchsorted", static_argnames=("side", "method"))
def searchsorted(a, v, side="left", sorter=None, *, method="scan"):
    """Where in the sorted vector a elements of v belong: before equal ones (left) or after (right).

    `sorter` is the argsort of an unsorted a.  `method` is checked and otherwise ignored: results do not depend on it.
    """
    check_arraylike("searchsorted", a, v)
    if side not in ("left", "right"):
        raise ValueError(f"{side!r} is an invalid value for keyword 'side'. Expected one of ['left', 'right'].")
    methods = ["scan", "scan_unrolled", "sort", "compare_all"]
    if method not in methods:
        raise ValueError(f"{method!r} is an invalid value for keyword 'method'. Expected one of {methods}.")
    a, v = promote_dtypes(a, v)
    if a.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    if dtypes.is_complex(a.dtype):
        raise NotImplementedError("searchsorted of complex numbers is not supported; compare real parts")
    if sorter is not None:
        a = take(a, sorter)
    out_dtype = dtypes.int_dtype_for_dim(a.shape[0])
    if evaluates_here(a, v):
        return make_array(np.asarray(np.searchsorted(_sortable(a), _sortable(v), side)).astype(out_dtype))
    if _is_much(a, v):
        return _binary_search(a, v, side)
    elements = lax.broadcast_in_dim(a, (*(1,) * v.ndim, a.shape[0]), (v.ndim,))
    queries = lax.expand_dims(v, (v.ndim,))
    smaller = _before(elements, queries) if side == "left" else lax.bitwise_not(_before(queries, elements))
    return lax.reduce_sum(lax.convert_element_type(smaller, out_dtype), (v.ndim,))


_FEW_PAIRS = 4096  # up to this many comparing all of them is quicker than a search step by step


def _is_much(a, v):
    """Whether there are more pairs than comparing all is worth.  Of unknown lengths all are compared."""
    return dims.is_constant_shape((*a.shape, *v.shape)) and a.size * v.size > _FEW_PAIRS and a.size > 1


def _sortable(x):
    """The ndarray of an evaluated array, in a dtype that NumPy orders."""
    value = x._value
    return value if value.dtype.kind in "biuf" and value.dtype.isbuiltin == 1 else value.astype(np.float32)


def _binary_search(a, v, side):
    """Halves the range in which the place may lie, for all elements of v at once."""
    index = dtypes.int_dtype_for_dim(a.shape[0])
    last, one = index.type(a.shape[0] - 1), index.type(1)

    def halve(_, span):
        low, high = span
        middle = lax.add(low, lax.div(lax.sub(high, low), index.type(2)))
        there = take(a, lax.min(middle, last), mode="clip")
        right = _before(there, v) if side == "left" else lax.bitwise_not(_before(v, there))
        open_ = lax.lt(low, high)
        right, left = lax.bitwise_and(open_, right), lax.bitwise_and(open_, lax.bitwise_not(right))
        return lax.select(right, lax.add(middle, one), low), lax.select(left, middle, high)

    span = lax.full(v.shape, 0, index), lax.full(v.shape, a.shape[0], index)
    low, _ = fori_loop(0, a.shape[0].bit_length(), halve, span)
    return low


@staged("digitize", static_argnames=("right", "method"))
def digitize(x, bins, right=False, *, method=None):
    """The number of the bin that each element of x falls into; bins are edges in rising or falling order.

    right says that bins include their right edge.
    """
    x, bins = arrays("digitize", x, bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be a 1-dimensional array; got {bins.shape=}")
    n = bins.shape[0]
    if n == 0:
        return lax.full(x.shape, 0, np.int32)
    side = "left" if right else "right"
    rising = searchsorted(bins, x, side)
    falling = lax.sub(lax.full_like(rising, n), searchsorted(lax.rev(bins, (0,)), x, side))
    first = lax.squeeze(lax.slice(bins, (0,), (1,)), (0,))
    last = lax.squeeze(lax.slice(bins, (n - 1,), (n,)), (0,))
    return where(lax.ge(last, first), rising, falling)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Straight lines through the points (xp, fp), xp rising, at x.

    left, right: values outside (default: the end values; "extrapolate" continues the lines).  With a period, x and xp,
    in any order, are taken modulo it, and nothing is outside.
    """
    check_arraylike("interp", x, xp, fp)
    if any(isinstance(end, str) and end != "extrapolate" for end in (left, right)):
        raise ValueError("the only valid string value of `left` and `right` is 'extrapolate'")
    if np.ndim(period) != 0:
        raise ValueError(f"period must be a scalar; got {period}")
    static = tuple(end if isinstance(end, str) else None for end in (left, right))
    given = tuple(None if isinstance(end, str) else end for end in (left, right))
    return _interp(x, xp, fp, *given, period, ends=static)


@staged("_interp", static_argnames=("ends",))
def _interp(x, xp, fp, left, right, period, *, ends):
    if np.shape(xp) != np.shape(fp) or np.ndim(xp) != 1:
        raise ValueError("xp and fp must be one-dimensional arrays of equal size")
    x, xp = promote_dtypes_inexact(array_of("interp", x), array_of("interp", xp))
    (fp,) = promote_dtypes_inexact(array_of("interp", fp))
    if dtypes.is_complex(x.dtype):
        raise ValueError("jnp.interp: complex x values not supported.")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
    n = xp.shape[0]
    i = clip(searchsorted(xp, x, "right"), 1, n - 1)
    before = lax.sub(i, i.dtype.type(1))
    x0, x1, f0, f1 = take(xp, before), take(xp, i), take(fp, before), take(fp, i)
    width = lax.sub(x1, x0)
    tiny = lax.abs(constant_like(width, np.spacing(dtypes.finfo(width.dtype).eps)))
    flat = lax.le(lax.abs(width), tiny)
    slope = lax.div(lax.sub(x, x0), where(flat, constant_like(width, 1), width))
    out = where(flat, f0, lax.add(f0, lax.mul(lax.convert_element_type(slope, fp.dtype), lax.sub(f1, f0))))
    low, high = (lax.squeeze(lax.slice(xp, (k,), (k + 1,)), (0,)) for k in (0, n - 1))
    if period is None and ends[0] is None:
        value = lax.squeeze(lax.slice(fp, (0,), (1,)), (0,)) if left is None else to_dtype(left, fp.dtype)
        out = where(lax.lt(x, low), value, out)
    if period is None and ends[1] is None:
        value = lax.squeeze(lax.slice(fp, (n - 1,), (n,)), (0,)) if right is None else to_dtype(right, fp.dtype)
        out = where(lax.gt(x, high), value, out)
    return out


def _periodic(x, xp, fp, period):
    """x within the period, and the points in order with one more before and one after."""
    period = absolute(period)
    x, xp = remainder(x, period), remainder(xp, period)
    xp, fp = lax.sort_key_val(xp, fp)
    n = xp.shape[0]
    before, after = (lax.slice(xp, (i,), (i + 1,)) for i in (n - 1, 0))
    xp = concatenate([subtract(before, period), xp, add(after, period)])
    return x, xp, lax.concatenate([lax.slice(fp, (n - 1,), (n,)), fp, lax.slice(fp, (0,), (1,))], 0)


@static_argnames("assume_unique", "invert", "method")
def isin(element, test_elements, assume_unique=False, invert=False, *, method="auto"):
    """Whether each element occurs among the test elements; `method` is checked and otherwise ignored."""
    check_arraylike("isin", element, test_elements)
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(f"{method=} not understood. Expected 'auto', 'compare_all', 'binary_search', 'sort'.")
    element, tests = promote_dtypes(element, test_elements)
    tests = ravel(tests)
    if _is_much(tests, element) and not dtypes.is_complex(tests.dtype):
        tests = lax.sort(tests)
        places = searchsorted(tests, element)
        places = lax.min(places, places.dtype.type(tests.shape[0] - 1))
        found = lax.eq(take(tests, places, mode="clip"), element)
        return lax.bitwise_not(found) if invert else found
    wide = lax.broadcast_in_dim(tests, (*(1,) * element.ndim, tests.shape[0]), (element.ndim,))
    found = lax.reduce_or(lax.eq(lax.expand_dims(element, (element.ndim,)), wide), (element.ndim,))
    return lax.bitwise_not(found) if invert else found


# --- bits of bytes ------------------------------------------------------------------------------------------------


def _axis_of_bits(axis, ndim):
    """The axis in 0..ndim-1.  What is none raises IndexError, as in JAX, which looks it up in a list of axes."""
    try:
        return canonical_axis(axis, ndim)
    except (TypeError, ValueError) as error:
        raise IndexError(f"packbits, unpackbits: {error}") from None


@staged("packbits", static_argnames=("axis", "bitorder"))
def packbits(a, axis=None, bitorder="big"):
    """Eight elements along an axis (None: flattened), nonzero or not, as the bits of one uint8; zeros fill up."""
    a = array_of("packbits", a)
    if not (dtypes.is_integer(a.dtype) or a.dtype == np.bool_):
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder not in ("little", "big"):
        raise ValueError("'order' must be either 'little' or 'big'")
    bits = lax.convert_element_type(lax.ne(a, constant_like(a, 0)), np.uint8)
    weights = lax.iota(np.uint8, 8)
    weights = lax.rev(weights, (0,)) if bitorder == "big" else weights
    bits, axis = (ravel(bits), 0) if axis is None else (bits, _axis_of_bits(axis, a.ndim))
    order = (*(i for i in range(bits.ndim) if i != axis), axis)
    bits = lax.transpose(bits, order)
    rest = -bits.shape[-1] % 8
    if rest:
        bits = lax.pad(bits, np.uint8(0), [*((0, 0, 0),) * (bits.ndim - 1), (0, rest, 0)])
    bits = reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    shifted = lax.shift_left(bits, lax.broadcast_to_rank(weights, bits.ndim))
    total = lax.reduce_sum(lax.convert_element_type(shifted, np.uint32), (bits.ndim - 1,))
    return lax.transpose(lax.convert_element_type(total, np.uint8), tuple(int(i) for i in np.argsort(order)))


@staged("unpackbits", static_argnames=("axis", "count", "bitorder"))
def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of uint8 numbers as eight elements along an axis (None: flattened), `count` of them."""
    a = array_of("unpackbits", a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder not in ("little", "big"):
        raise ValueError("'order' must be either 'little' or 'big'")
    a, axis = (ravel(a), 0) if axis is None else (a, _axis_of_bits(axis, a.ndim))
    places = lax.iota(np.uint8, 8)
    places = lax.rev(places, (0,)) if bitorder == "big" else places
    order = (*(i for i in range(a.ndim) if i != axis), axis)
    wide = lax.expand_dims(lax.transpose(a, order), (a.ndim,))
    bits = lax.shift_right_logical(wide, lax.broadcast_to_rank(places, wide.ndim))
    bits = lax.bitwise_and(bits, np.uint8(1))
    bits = reshape(bits, (*wide.shape[:-2], wide.shape[-2] * 8))
    if count is not None:
        n = bits.shape[-1]
        if count > n:
            bits = lax.pad(bits, np.uint8(0), [*((0, 0, 0),) * (bits.ndim - 1), (0, count - n, 0)])
        else:
            bits = lax.slice_in_dim(bits, 0, count if count >= 0 else n + count, axis=bits.ndim - 1)
    return lax.transpose(bits, tuple(int(i) for i in np.argsort(order)))
