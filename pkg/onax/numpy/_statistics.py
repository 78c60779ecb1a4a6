"""Differences, integrals and second moments: diff, ediff1d, gradient, trapezoid, cov, corrcoef."""

import operator

import numpy as np

from onax import lax
from onax._control.jit_call import staged
from onax._ground import dims, dtypes
from onax._native.tree import tree_leaves
from onax.numpy._arithmetic import clip
from onax.numpy._creation import broadcast_to
from onax.numpy._products import dot
from onax.numpy._promotion import (
    array_of,
    arrays,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    promote_args,
    promote_dtypes_inexact,
    single_axis,
    to_dtype,
)
from onax.numpy._reductions import average, mean
from onax.numpy._shaping import atleast_2d, concatenate, ravel, swapaxes
from onax.numpy._ufuncs import constant_like


def _sub(x, y):
    """x - y, or whether they differ for bools."""
    return lax.ne(x, y) if x.dtype == np.bool_ else lax.sub(x, y)


@staged("diff", static_argnames=("n", "axis"))
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The n-th difference of neighbours along an axis; `prepend` and `append` are joined first."""
    a = array_of("diff", a)
    n = operator.index(n)
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError(f"diff requires input that is at least one dimensional; got {a}")
    axis = canonical_axis(axis, a.ndim)
    ends = []
    for end in (prepend, append):
        if end is not None:
            end = array_of("diff", end)
            end = broadcast_to(end, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if end.ndim == 0 else end
        ends.append(end)
    if ends != [None, None]:
        a = concatenate([x for x in (ends[0], a, ends[1]) if x is not None], axis)
    for _ in range(n):
        later, earlier = [(0, None)] * a.ndim, [(0, None)] * a.ndim
        later[axis], earlier[axis] = (1, None), (0, -1)
        a = _sub(_cut(a, later), _cut(a, earlier))
    return a


def _cut(x, bounds):
    """x sliced by (start, stop) an axis; None and negative stops as in Python."""
    ends = [d if stop is None else (d + stop if d else 0) for d, (_, stop) in zip(x.shape, bounds)]
    starts = [min(start, end) if isinstance(end, int) else start for (start, _), end in zip(bounds, ends)]
    return lax.slice(x, starts, ends)


@staged("ediff1d")
def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours of the flattened array, with given values before and after."""
    ary = ravel(array_of("ediff1d", ary))
    out = lax.sub(_cut(ary, [(1, None)]), _cut(ary, [(0, -1)]))
    if to_begin is not None:
        out = concatenate([ravel(to_dtype(to_begin, ary.dtype)), out])
    if to_end is not None:
        out = concatenate([out, ravel(to_dtype(to_end, ary.dtype))])
    return out


@staged("trapezoid", static_argnames=("axis",))
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by the trapezoidal rule, at points x or with spacing dx."""
    check_arraylike("trapezoid", *tree_leaves(dx))
    axis = single_axis(axis)
    if x is None:
        check_arraylike("trapezoid", y)
        (y,) = promote_dtypes_inexact(y)
        dx = to_dtype(dx, y.dtype)
    else:
        check_arraylike("trapezoid", y, x)
        y, x = promote_dtypes_inexact(y, x)
        if x.ndim == 1:
            dx = diff(x)
        else:
            last = canonical_axis(axis, x.ndim)
            dx = swapaxes(diff(x, axis=last), last, -1)
    axis = canonical_axis(axis, y.ndim)
    y = lax.transpose(y, (*(i for i in range(y.ndim) if i != axis), axis))
    if x is None:
        if dims.definitely_empty(y.shape[-1:]):
            raise IndexError("trapezoid: index is out of bounds for axis 0 with size 0")
        total = lax.reduce_sum(y, (y.ndim - 1,))
        ends = lax.add(_at(y, 0), _at(y, y.shape[-1] - 1))
        total = lax.sub(total, lax.mul(constant_like(y, 0.5), ends))
        return lax.mul(dx, total)
    pairs = lax.add(_cut_last(y, 1, None), _cut_last(y, 0, -1))
    total = lax.mul(*promote_args("trapezoid", dx, pairs))
    return lax.mul(constant_like(y, 0.5), lax.reduce_sum(total, (total.ndim - 1,)))


def _at(x, i):
    part = lax.slice(x, [0] * (x.ndim - 1) + [i], (*x.shape[:-1], i + 1))
    return lax.squeeze(part, (x.ndim - 1,))


def _cut_last(x, start, stop):
    return _cut(x, [(0, None)] * (x.ndim - 1) + [(start, stop)])


@staged("gradient", static_argnames=("axis", "edge_order"))
def gradient(f, *varargs, axis=None, edge_order=None):
    """Central differences along the axes (one-sided at the ends), divided by spacings or point distances.

    varargs: nothing (spacing 1), one number, or one number or vector of points an axis.  One array for a single axis,
    else a list.
    """
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    (f,) = promote_dtypes_inexact(array_of("gradient", f))
    axes = canonical_axes(axis, f.ndim)
    check_arraylike("gradient", *varargs)
    if any(np.ndim(h) > 1 for h in varargs):
        raise ValueError("gradient: Spacing arrays must be 1D arrays or scalars.")
    if min((f.shape[i] for i in axes), default=2) < 2:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least 2 elements are required."
        )
    if len(varargs) == 0:
        spacings = [1.0] * len(axes)
    elif len(varargs) == 1:
        spacings = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        spacings = list(varargs)
    else:
        raise TypeError(f"Invalid number of spacing arguments {len(varargs)} for {axes=}")
    out = [_gradient_along(f, i, h) for i, h in zip(axes, spacings)]
    return out[0] if len(axes) == 1 else out


def _gradient_along(f, axis, spacing):
    n = f.shape[axis]

    def part(start, stop):
        starts, stops, strides = [0] * f.ndim, list(f.shape), [1] * f.ndim
        starts[axis], stops[axis] = start, stop
        return lax.slice(f, starts, stops, strides)

    first, last = lax.sub(part(1, 2), part(0, 1)), lax.sub(part(n - 1, n), part(n - 2, n - 1))
    if np.ndim(spacing) == 0:
        h = to_dtype(spacing, f.dtype)
        middle = lax.mul(lax.sub(part(2, n), part(0, n - 2)), constant_like(f, 0.5))
        middle, last = lax.div(middle, h), lax.div(last, h)
        return lax.concatenate([lax.div(first, h), middle, last], axis)
    if not dims.equal(np.shape(spacing)[0], n):
        raise ValueError(
            "Spacing arrays must have the same length as the dimension along which the gradient is calculated: "
            f"{np.shape(spacing)[0]} for {n}."
        )
    gaps = lax.reshape(diff(to_dtype(spacing, f.dtype)), [n - 1 if i == axis else 1 for i in range(f.ndim)])

    def gap(start, stop):
        return lax.slice_in_dim(gaps, start, stop, axis=axis)

    before, after = gap(0, n - 2), gap(1, n - 1)
    total = lax.add(before, after)
    weights = (
        lax.neg(lax.div(after, lax.mul(before, total))),
        lax.div(lax.sub(after, before), lax.mul(before, after)),
        lax.div(before, lax.mul(after, total)),
    )
    parts = (part(0, n - 2), part(1, n - 1), part(2, n))
    terms = [lax.mul(w, p) for w, p in zip(weights, parts)]
    middle = lax.add(lax.add(terms[0], terms[1]), terms[2])
    return lax.concatenate([lax.div(first, gap(0, 1)), middle, lax.div(last, gap(n - 2, n - 1))], axis)


@staged("cov", static_argnames=("rowvar", "bias", "ddof", "dtype"))
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariance matrix of variables in rows (rowvar) or columns of m, and of y joined to it."""
    if dtype is not None:
        if not dtypes.issubdtype(np.dtype(dtype), np.inexact):
            raise ValueError(f"cov: dtype must be a subclass of float or complex; got dtype={dtype!r}")
        m = lax.convert_element_type(array_of("cov", m), dtypes.check_user_dtype(dtype, "cov"))
    if y is None:
        (x,) = promote_dtypes_inexact(array_of("cov", m))
    else:
        x, y = promote_dtypes_inexact(*arrays("cov", m, y))
        if y.ndim > 2:
            raise ValueError("y has more than 2 dimensions")
        if {x.ndim, y.ndim} == {1, 2}:  # of unequal rank they have to broadcast, as in JAX; NumPy joins them
            lax.broadcast_shapes(x.shape, y.shape)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    x = atleast_2d(x)
    if not rowvar and x.shape[0] != 1:
        x = swapaxes(x, 0, 1)
    if y is not None:
        y = atleast_2d(y)
        if not rowvar and y.shape[0] != 1:
            y = swapaxes(y, 0, 1)
        x = concatenate([x, y])
    if ddof is None:
        ddof = 0 if bias else 1
    weights = _cov_weights(x, fweights, aweights)
    if weights is None:
        average_of_rows, total = mean(x, axis=1), None
        factor = x.dtype.type(x.shape[1] - ddof)
        weighted = x
    else:
        average_of_rows, total = average(x, axis=1, weights=weights, returned=True)
        total = _at(total, 0)
        factor = _cov_factor(total, weights, aweights, ddof)
    centered = lax.sub(x, lax.expand_dims(average_of_rows, (1,)))
    weighted = centered if weights is None else lax.mul(centered, lax.expand_dims(weights, (0,)))
    right = lax.transpose(weighted, (1, 0))
    right = lax.conj(right) if dtypes.is_complex(right.dtype) else right
    out = lax.div(dot(centered, right), to_dtype(factor, x.dtype))
    return lax.squeeze(out, tuple(i for i, n in enumerate(out.shape) if n == 1))


def _cov_weights(x, fweights, aweights):
    """The product of the weights given, one an observation."""
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        given = array_of("cov", given)
        if given.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if given.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if name == "fweights" and not dtypes.is_integer(given.dtype):
            raise TypeError("fweights must be integer.")
        given = lax.abs(given)
        weights = given if weights is None else lax.mul(*promote_args("cov", weights, given))
    return None if weights is None else lax.convert_element_type(weights, dtypes.real_dtype(x.dtype))


def _cov_factor(total, weights, aweights, ddof):
    """What the weighted sum is divided by."""
    if ddof == 0:
        return total
    if aweights is None:
        return lax.sub(total, constant_like(total, ddof))
    products = lax.mul(*promote_args("cov", weights, array_of("cov", aweights)))
    correction = lax.div(lax.mul(constant_like(total, ddof), lax.reduce_sum(products, (0,))), total)
    return lax.sub(total, correction)


@staged("corrcoef", static_argnames=("rowvar", "dtype"))
def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The covariance matrix scaled to a diagonal of ones; parts limited to [-1, 1]."""
    check_arraylike("corrcoef", x)
    out = cov(x, y, rowvar, dtype=dtype) if y is not None or not rowvar or dtype is not None else cov(x)
    if out.ndim == 0:
        return lax.div(out, out)
    n = out.shape[0]
    i, j = lax.broadcasted_iota(np.int32, (n, n), 0), lax.broadcasted_iota(np.int32, (n, n), 1)
    variances = lax.reduce_sum(lax.select(lax.eq(i, j), out, lax.full_like(out, 0)), (1,))
    spread = lax.sqrt(lax.real(variances) if dtypes.is_complex(out.dtype) else variances)
    spread = lax.convert_element_type(spread, out.dtype)
    out = lax.div(lax.div(out, lax.expand_dims(spread, (1,))), lax.expand_dims(spread, (0,)))
    if dtypes.is_complex(out.dtype):
        return lax.complex(clip(lax.real(out), -1, 1), clip(lax.imag(out), -1, 1))
    return clip(out, -1, 1)
