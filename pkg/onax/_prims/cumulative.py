"""Running reductions along an axis: cumsum, cumprod, cummax, cummin, cumlogsumexp.

All keep shape and dtype: integers wrap, narrow floats round every partial result, as in JAX.  With `reverse` they run
from the end.  cumsum is linear; the others are differentiated through a prefix scan of pairs (value, tangent), as
JAX does.
"""

import operator
from collections.abc import Callable

import numpy as np

from onax._core.facts import LINEAR, MAKES_NAN
from onax._core.rules import InvalidOperands, add_tangents, deflinear, tangent_zero
from onax._core.zeros import Zero
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import elementwise as ew
from onax._prims.convert import cast
from onax._prims.creation import instantiate_zeros
from onax._prims.elementwise_rows import const, kept
from onax._prims.padding import pad
from onax._prims.shaping import check_number_dtype, rev, shape_of
from onax._prims.slicing import concatenate, slice_in_dim, zero_scalar

# JAX adds floats one by one in tiles of this many elements, then the tiles' sums in tiles again; this fixes the
# rounding.
_TILE = 16


def _kernel(accumulate):
    def kernel(x, *, axis, reverse):
        if not 0 <= axis < x.ndim:
            raise InvalidOperands
        return accumulate(x, axis, reverse)

    return kernel


def _accumulate(ufunc, x, axis, reverse):
    """Runs `ufunc.accumulate` along the axis, from its end with `reverse`."""
    if not reverse:
        return ufunc.accumulate(x, axis, x.dtype)
    return np.flip(ufunc.accumulate(np.flip(x, axis), axis, x.dtype), axis)


def _ufunc_kernel(ufunc, identity, tiled=True):
    """Makes the kernel of a NumPy ufunc; `tiled` says that the order of operations changes float results."""

    def accumulate(x, axis, reverse):
        dtype = x.dtype
        if dtypes.is_integer(dtype) and dtype.kind not in "iu":  # 2 and 4 bits wide
            return cast(_accumulate(ufunc, x.astype(np.int32), axis, reverse), dtype)
        if not tiled and dtype.kind == "c":
            return _accumulate_in_tiles(_ComplexExtremum(ufunc), identity, x, axis, reverse)
        if dtype.kind in "iu" or not tiled:
            return _accumulate(ufunc, x, axis, reverse)
        return _accumulate_in_tiles(ufunc, identity, x, axis, reverse)

    return _kernel(accumulate)


class _ComplexExtremum:
    """Maximum or minimum of complex numbers.  It returns the second where either is NaN, so order matters."""

    __slots__ = ("beats",)

    def __init__(self, ufunc):
        self.beats = np.greater if ufunc is np.maximum else np.less

    def __call__(self, x, y):
        first = self.beats(x.real, y.real) | ((x.real == y.real) & self.beats(x.imag, y.imag))
        return np.where(first, x, y)

    def accumulate(self, x, axis):
        """The running result along an axis."""
        out = np.moveaxis(x.copy(), axis, -1)
        for k in range(1, out.shape[-1]):
            out[..., k] = self(out[..., k - 1], out[..., k])
        return np.moveaxis(out, -1, axis)


def _accumulate_in_tiles(ufunc, identity, x, axis, reverse):
    if not reverse and x.shape[axis] <= _TILE:
        return ufunc.accumulate(x, axis)
    return np.moveaxis(_accumulate_tiles(ufunc, identity, np.moveaxis(x, axis, -1), reverse), -1, axis)


def _accumulate_tiles(ufunc, identity, x, reverse):
    """Accumulates along the last axis inside tiles, then adds the result of all tiles before (or after)."""
    *lead, n = x.shape
    if n <= _TILE:
        return _accumulate_suffixes(ufunc, x) if reverse else ufunc.accumulate(x, -1)
    count = -(-n // _TILE)
    padded = np.full((*lead, count * _TILE), identity, x.dtype)
    padded[..., :n] = x
    padded = padded.reshape(*lead, count, _TILE)
    tiles = _accumulate_suffixes(ufunc, padded) if reverse else ufunc.accumulate(padded, -1)
    if reverse:
        after = _accumulate_tiles(ufunc, identity, tiles[..., 0], reverse)[..., 1:, None]
        tiles[..., :-1, :] = ufunc(tiles[..., :-1, :], after)
    else:
        before = _accumulate_tiles(ufunc, identity, tiles[..., -1], reverse)[..., :-1, None]
        tiles[..., 1:, :] = ufunc(tiles[..., 1:, :], before)
    return tiles.reshape(*lead, count * _TILE)[..., :n]


def _accumulate_suffixes(ufunc, x):
    """Reduces from each element to the last, starting at that element; starting at the last would round differently."""
    out = x.copy()
    for k in range(1, x.shape[-1]):
        out[..., :k] = ufunc(out[..., :k], x[..., k : k + 1])
    return out


def _abstract(name):
    def abstract_eval(x, *, axis, reverse):
        check_number_dtype(name, x.dtype)
        if axis < 0:
            raise ValueError("XLA operations do not allow negative axes")
        if axis >= x.ndim:
            raise ValueError(f"axis {axis} is out of bounds for array of shape {x.shape}")
        return ShapedArray(x.shape, x.dtype, x.weak_type)

    return abstract_eval


def _primitive(name, kernel, facts=frozenset()):
    p = Primitive(name, kernel=kernel, abstract_eval=_abstract(name), facts=facts | {MAKES_NAN})

    def batch(axis_data, operands, mapped, *, axis, reverse):
        (x,), (d,) = operands, mapped
        return p.bind(x, axis=axis + (d <= axis), reverse=reverse), d

    p.batch = batch
    return p


def _public_function(name, primitive, what, output) -> Callable[..., Array]:
    def cumulative(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
        return primitive.bind(operand, axis=operator.index(axis), reverse=bool(reverse))

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = f"""Returns the {what} along an axis.

    Args:
      operand: array of numbers.
      axis: nonnegative int.
      reverse: whether it starts at the last element instead of the first one.

    Returns:
      Array of the shape and dtype of the operand.

    Raises:
      ValueError: the axis is negative or out of bounds.
      TypeError: the operand is of dtype bool.

    Examples:
      >>> jnp.round(lax.{name}(jnp.array([2.0, 1.0])), 4)
      {output}
    """
    return cumulative


# ---- prefix scans, for derivatives ----


def prefix_scan(combine, elems, axis, reverse):
    """All prefixes of a list of equally long arrays under an associative function of two such lists.

    Combines neighbours, scans the resulting array of half the length, and fills in the elements between: about 2
    log2(n) combinations.  The axis must have a known size.
    """
    if not dims.is_constant(shape_of(elems[0])[axis]):
        raise NotImplementedError(
            f"The derivative of a cumulative operation needs an axis of known size; got "
            f"{shape_of(elems[0])[axis]}. Use cumsum, or differentiate before making the shape symbolic."
        )
    if reverse:
        elems = [rev(e, (axis,)) for e in elems]
    out = _scan(combine, elems, axis)
    return [rev(e, (axis,)) for e in out] if reverse else out


def _scan(combine, elems, axis):
    n = shape_of(elems[0])[axis]
    if n < 2:
        return elems

    def each(parts, start, stop, stride=1):
        return [slice_in_dim(e, start, stop, stride, axis) for e in parts]

    pairs = combine(each(elems, 0, n - 1, 2), each(elems, 1, n, 2))
    odd = _scan(combine, pairs, axis)
    before = odd if n % 2 else each(odd, 0, n // 2 - 1)
    even = combine(before, each(elems, 2, n, 2))
    even = [concatenate([slice_in_dim(e, 0, 1, 1, axis), rest], axis) for e, rest in zip(elems, even)]
    return [_interleave(a, b, axis) for a, b in zip(even, odd)]


def _interleave(a, b, axis):
    """Alternates the elements of a and b, a first; a may be longer by one."""
    shape, zero = shape_of(a), zero_scalar(a.dtype)
    longer = int(shape[axis] > shape_of(b)[axis])
    first, second = ([(0, 0, 0)] * len(shape) for _ in range(2))
    first[axis], second[axis] = (0, 1 - longer, 1), (1, longer, 1)
    return ew.add(pad(a, zero, first), pad(b, zero, second))


def _def_prefix_scan_jvp(primitive, combine_jvp):
    """Sets the jvp as a prefix scan of `combine_jvp(primals, tangents)`, the jvp of the function of two elements."""

    def combine(left, right):
        (x, gx), (y, gy) = left, right
        out, tangent = combine_jvp((x, y), (gx, gy))
        return [out, instantiate_zeros(tangent)]

    def jvp(primals, tangents, *, axis, reverse):
        (x,), (g,) = primals, tangents
        if type(g) is Zero:
            out = primitive.bind(x, axis=axis, reverse=reverse)
            return out, tangent_zero(out)
        return tuple(prefix_scan(combine, [x, g], axis, reverse))

    primitive.jvp = jvp
    return primitive


# ---- cumsum ----


def _cumsum_transpose(ct, x, *, axis, reverse):
    return [cumsum_p.bind(ct, axis=axis, reverse=not reverse)]


cumsum_p = deflinear(_primitive("cumsum", _ufunc_kernel(np.add, 0), frozenset({LINEAR})), _cumsum_transpose)
cumsum = _public_function("cumsum", cumsum_p, "running sum", "Array([2., 3.], dtype=float32)")

# ---- cumprod, cummax, cummin ----

cumprod_p = _def_prefix_scan_jvp(_primitive("cumprod", _ufunc_kernel(np.multiply, 1)), ew.mul_p.jvp)
cumprod = _public_function("cumprod", cumprod_p, "running product", "Array([2., 2.], dtype=float32)")

cummax_p = _def_prefix_scan_jvp(_primitive("cummax", _ufunc_kernel(np.maximum, -np.inf, tiled=False)), ew.max_p.jvp)
cummax = _public_function(
    "cummax", cummax_p, "largest element so far (NaN from the first NaN on)", "Array([2., 2.], dtype=float32)"
)

cummin_p = _def_prefix_scan_jvp(_primitive("cummin", _ufunc_kernel(np.minimum, np.inf, tiled=False)), ew.min_p.jvp)
cummin = _public_function(
    "cummin", cummin_p, "smallest element so far (NaN from the first NaN on)", "Array([2., 1.], dtype=float32)"
)

# ---- cumlogsumexp ----


def _accumulate_logaddexp(x, axis, reverse):
    dtype = x.dtype
    if dtypes.is_integer(dtype):
        raise OverflowError("cumlogsumexp starts from -inf: cannot convert float infinity to integer")
    if dtype.kind == "c":
        out = np.moveaxis(np.flip(x, axis).copy() if reverse else x.copy(), axis, 0)
        for i in range(1, out.shape[0]):
            out[i] = _complex_logaddexp(out[i - 1], out[i])
        out = np.moveaxis(out, 0, axis)
        return np.flip(out, axis) if reverse else out
    wide = x if dtype.itemsize >= 4 else x.astype(np.float32)
    return cast(_accumulate_in_tiles(np.logaddexp, -np.inf, wide, axis, reverse), dtype)


def _complex_logaddexp(x, y):
    larger = np.where(x.real >= y.real, x, y)
    smaller = np.where(x.real >= y.real, y, x)
    out = np.where(larger.real == -np.inf, larger, larger + np.log1p(np.exp(smaller - larger)))
    angle = out.imag - 2 * np.pi * np.floor((out.imag + np.pi) / (2 * np.pi))
    return out.real + 1j * angle.astype(out.real.dtype)


def logaddexp(x, y):
    """log(exp(x) + exp(y)) of two arrays of one dtype and shape, without overflow."""
    if dtypes.is_complex(x.dtype):
        return _staged_complex_logaddexp(x, y)
    largest, gap = ew.max(x, y), ew.sub(x, y)
    apart = ew.add(largest, ew.log1p(ew.exp(ew.neg(ew.abs(gap)))))
    return ew.select(ew.ne(gap, gap), ew.add(x, y), apart)  # inf - inf


def _staged_complex_logaddexp(x, y):
    first = ew.ge(ew.real(x), ew.real(y))
    larger, smaller = ew.select(first, x, y), ew.select(first, y, x)
    out = ew.add(larger, ew.log1p(ew.exp(ew.sub(smaller, larger))))
    size, angle = ew.real(out), ew.imag(out)
    turn = angle.dtype.type(2 * np.pi)
    turns = ew.floor(ew.div(ew.add(angle, angle.dtype.type(np.pi)), turn))
    return ew.complex(size, ew.sub(angle, ew.mul(turns, turn)))


def _logaddexp_jvp(primals, tangents):
    """Weights each tangent by the share of its operand in the sum, exp(x - result)."""
    out = logaddexp(*primals)

    def finite(x):
        if dtypes.is_complex(x.dtype):
            return x
        infinite = ew.eq(x, const(x, np.inf))
        return ew.select(infinite, kept(np.zeros(shape_of(x), x.dtype)), x)

    shares = [ew.mul(g, ew.exp(ew.sub(finite(x), finite(out)))) for x, g in zip(primals, tangents)]
    return out, add_tangents(*shares)


cumlogsumexp_p = _def_prefix_scan_jvp(_primitive("cumlogsumexp", _kernel(_accumulate_logaddexp)), _logaddexp_jvp)
cumlogsumexp = _public_function(
    "cumlogsumexp",
    cumlogsumexp_p,
    "log of the running sum of exponentials",
    "Array([2.    , 2.3133], dtype=float32)",
)
