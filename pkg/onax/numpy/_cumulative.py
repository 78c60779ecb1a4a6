"""Running sums and products along an axis: cumsum, cumprod, their nan-skipping and array API forms."""

import numpy as np

from onax import lax
from onax._control.jit_call import FEW, staged
from onax._ground import dtypes
from onax.numpy._promotion import canonical_axis, ensure_arraylike, no_out
from onax.numpy._reductions import sum_dtype
from onax.numpy._ufuncs import constant_like
from onax.numpy._where import where


def _cumulative_reduction(name, a, axis, dtype, out, op, fill=None, widen=False):
    """Flattens if there is no axis, replaces NaN by `fill`, and accumulates in the result's dtype."""
    no_out(name, out)
    a = ensure_arraylike(name, a)
    if axis is None:
        a = lax.reshape(a, (a.size,))
    axis = canonical_axis(0 if axis is None else axis, a.ndim)
    if fill is not None:
        a = where(lax.ne(a, a), constant_like(a, fill), a)
    if dtype is None:
        result = compute = sum_dtype(a.dtype) if widen or a.dtype == np.bool_ else a.dtype
    else:
        result = compute = dtypes.check_user_dtype(dtype, name)
        if result == np.bool_:
            a = a if a.dtype == np.bool_ else lax.ne(a, constant_like(a, 0))
            compute = sum_dtype(result)
    out_array = op(lax.convert_element_type(a, compute), axis)
    return lax.convert_element_type(out_array, result)


@staged("cumsum", static_argnames=("axis", "dtype"))
def cumsum(a, axis=None, dtype=None, out=None):
    """The running sum along an axis (None: flattened), in a's dtype unless given; bool counts as the default int.

    NumPy would widen small integers.
    """
    return _cumulative_reduction("cumsum", a, axis, dtype, out, lax.cumsum)


@staged("cumprod", static_argnames=("axis", "dtype"))
def cumprod(a, axis=None, dtype=None, out=None):
    """The running product along an axis (None: flattened), in a's dtype unless given; bool as the default int."""
    return _cumulative_reduction("cumprod", a, axis, dtype, out, lax.cumprod)


@staged("nancumsum", static_argnames=("axis", "dtype"), compiled_from=FEW)
def nancumsum(a, axis=None, dtype=None, out=None):
    """The running sum, with NaN as 0."""
    return _cumulative_reduction("nancumsum", a, axis, dtype, out, lax.cumsum, fill=0)


@staged("nancumprod", static_argnames=("axis", "dtype"), compiled_from=FEW)
def nancumprod(a, axis=None, dtype=None, out=None):
    """The running product, with NaN as 1."""
    return _cumulative_reduction("nancumprod", a, axis, dtype, out, lax.cumprod, fill=1)


# --- array API ----------------------------------------------------------------------------------------------------


@staged("_cumsum_with_promotion", static_argnames=("axis", "dtype"))
def _cumsum_with_promotion(a, axis=None, dtype=None):
    return _cumulative_reduction("_cumsum_with_promotion", a, axis, dtype, None, lax.cumsum, widen=True)


def _cumprod_with_promotion(a, axis=None, dtype=None):
    return _cumulative_reduction("cumulative_prod", a, axis, dtype, None, lax.cumprod)


def _cumulative_with_initial(name, x, axis, dtype, include_initial, function, start):
    noun = "sum" if start == 0 else "product"
    x = ensure_arraylike(name, x)
    if x.ndim == 0:
        raise ValueError(
            f"The input must be non-scalar to take a cumulative {noun}, however a scalar value or scalar array was "
            "given."
        )
    if axis is None and x.ndim > 1:
        raise ValueError(
            f"The input array has rank {x.ndim}, however axis was not set to an explicit value. The axis argument is "
            "only optional for one-dimensional arrays."
        )
    axis = canonical_axis(0 if axis is None else axis, x.ndim)
    if dtype is not None:
        dtype = dtypes.check_user_dtype(dtype)
    out = function(x, axis=axis, dtype=dtype)
    if not include_initial:
        return out
    first = lax.full(tuple(1 if i == axis else d for i, d in enumerate(x.shape)), start, out.dtype)
    return lax.concatenate([first, out], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The running sum along an axis, which only vectors may omit; small integers widen.

    include_initial puts a 0 in front.
    """
    return _cumulative_with_initial("cumulative_sum", x, axis, dtype, include_initial, _cumsum_with_promotion, 0)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The running product along an axis, which only vectors may omit.  include_initial puts a 1 in front."""
    return _cumulative_with_initial("cumulative_prod", x, axis, dtype, include_initial, _cumprod_with_promotion, 1)
