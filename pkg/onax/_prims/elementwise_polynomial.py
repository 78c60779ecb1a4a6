"""Elementwise primitives of JAX 0.12: log2, one_minus_square and polynomial."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from onax._core.facts import ELEMENTWISE, MAKES_NAN
from onax._core.rules import add_tangents, tangent_zero
from onax._core.trace import typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims._batch_rules import defvectorized
from onax._prims.convert import convert
from onax._prims.creation import full_like
from onax._prims.elementwise import add, complex, div, imag, log, mul, real, sub, unbroadcast
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import broadcasting_shape, check_dtype, check_same_dtypes, const, unary
from onax._prims.shaping import broadcast_in_dim, shape_of

LOG2_E = 1.4426950408889634  # 1 / log(2)
_NUMBERS = ("integer", "floating", "complexfloating")


def _log2_kernel(x):
    return np.log(x) * x.dtype.type(LOG2_E)


def _log2_complex_kernel(x):
    """Scales the parts, not the number: a product of complex numbers would make NaN of an infinite part."""
    y = np.array(np.log(x))
    parts = y.reshape(-1).view(y.real.dtype)
    np.multiply(parts, parts.dtype.type(LOG2_E), out=parts)
    return y


log2, log2_p = unary(
    "log2", by_kind(floating=_log2_kernel, complexfloating=_log2_complex_kernel),
    lambda g, y, x: div(g, mul(x, log(const(x, 2)))), accuracy=True,
    doc="Returns the logarithm of x with base 2; NaN below 0. | 8.0 -> 3.0",
)  # fmt: skip


def multiply_logarithm(x):
    """log2 as other operations: the natural logarithm, its parts multiplied by 1 / log(2)."""
    y = log(x)
    if not dtypes.is_complex(x.dtype):
        return mul(y, const(y, LOG2_E))
    parts = real(y), imag(y)
    return complex(*(mul(part, const(part, LOG2_E)) for part in parts))


def _one_minus_square_kernel(x):
    one = x.dtype.type(1)
    return (one + x) * (one - x)


one_minus_square, one_minus_square_p = unary(
    "one_minus_square", by_kind(**dict.fromkeys(_NUMBERS, _one_minus_square_kernel)),
    lambda g, y, x: mul(g, mul(const(x, -2), x)), makes_nan=False,
    doc="Returns 1 - x * x as (1 + x) * (1 - x), which is accurate near 1 and -1 too. | 0.5 -> 0.75",
)  # fmt: skip


def multiply_conjugates(x):
    """one_minus_square as other operations."""
    one = const(x, 1)
    return mul(add(one, x), sub(one, x))


# ---- polynomials ----


def _horner(x, *coefficients, unroll=None):
    return reduce(lambda y, a: y * x + a, coefficients[-2::-1], coefficients[-1])


_polynomial_kernel = by_kind(**dict.fromkeys(_NUMBERS, _horner))


def horner(x, *coefficients, unroll=None):
    """polynomial as other operations: a_0 + x * (a_1 + x * ...), from the highest coefficient."""
    return reduce(lambda y, a: add(mul(y, x), a), coefficients[-2::-1], coefficients[-1])


def _polynomial_abstract(*avals, unroll=None):
    shape = broadcasting_shape("polynomial", avals)
    for position, aval in enumerate(avals):
        check_dtype("polynomial", _polynomial_kernel, aval.dtype, position)
    check_same_dtypes("polynomial", avals)
    return ShapedArray(shape, avals[0].dtype, all(a.weak_type for a in avals))


polynomial_p = Primitive(
    "polynomial",
    kernel=_polynomial_kernel.simplest(),
    abstract_eval=_polynomial_abstract,
    facts=frozenset({ELEMENTWISE, MAKES_NAN}),
)
defvectorized(polynomial_p)


def _with_unroll(unroll):
    return {} if unroll is None else {"unroll": unroll}


def _polynomial_jvp(primals, tangents, *, unroll=None):
    (x, *coefficients), (x_dot, *dots) = primals, tangents
    y, parts = polynomial_p.bind(*primals, **_with_unroll(unroll)), []
    if type(x_dot) is not Zero:
        derived = [mul(const(a, k), a) for k, a in enumerate(coefficients[1:], 1)]
        parts.append(mul(x_dot, polynomial(x, derived, unroll=unroll)))
    if not all(type(dot) is Zero for dot in dots):
        whole = [full_like(a, 0) if type(dot) is Zero else dot for a, dot in zip(coefficients, dots)]
        parts.append(polynomial(x, whole, unroll=unroll))
    return y, reduce(add_tangents, parts) if parts else tangent_zero(y)


polynomial_p.jvp = _polynomial_jvp


def _polynomial_transpose(ct, x, *coefficients, unroll=None):
    """A coefficient's cotangent is the result's times its power of x; linear in the coefficients only."""
    if is_undefined_primal(x):
        raise TypeError("polynomial is linear in its coefficients only")
    if type(ct) is Zero:
        return [None, *(Zero(a.aval) if is_undefined_primal(a) else None for a in coefficients)]
    cts = []
    for k, a in enumerate(coefficients):
        ct = mul(ct, x) if k else ct
        cts.append(unbroadcast(a, ct) if is_undefined_primal(a) else None)
    return [None, *cts]


polynomial_p.transpose = _polynomial_transpose


def polynomial(x: ArrayLike, coeffs: ArrayLike | Sequence[ArrayLike], *, unroll: int | bool | None = None) -> Array:
    """Returns a polynomial of x: coeffs[0] + coeffs[1] * x + coeffs[2] * x**2 + ..., by Horner's rule.

    Its derivative by x is computed as the polynomial of lower degree, not as the derivative of each step.

    Args:
      x: an array of integers, floats or complex numbers, of any shape.
      coeffs: the coefficients from the lowest degree to the highest: scalars, or arrays of x's rank whose lengths agree
        with x's or are 1.  They are converted to x's dtype.
      unroll: the number of terms that JAX writes out before it makes a loop; here it has no effect.

    Returns:
      Array of the common shape and x's dtype: zeros without coefficients, the coefficient itself if it is the only one.

    Raises:
      TypeError: x is bool, or the shapes do not agree.

    Examples:
      >>> lax.polynomial(3.0, [1.0, 5.0, 2.0])
      Array(34., dtype=float32, weak_type=True)
    """
    aval = typeof(x)
    operands = [_coefficient(x, a, aval.dtype) for a in coeffs]
    if not operands:
        return full_like(x, 0)
    if len(operands) == 1:
        shape = broadcasting_shape("polynomial", (aval, typeof(operands[0])))
        return _broadcast(operands[0], shape)
    return polynomial_p.bind(x, *operands, **_with_unroll(unroll))


def _coefficient(x, a, dtype):
    if isinstance(a, (int, float, np.generic, np.ndarray)) and np.ndim(a) == 0:
        return const(x, a)
    return convert(a, dtype)


def _broadcast(a, shape):
    have = shape_of(a)
    return a if have == shape else broadcast_in_dim(a, shape, tuple(range(len(shape) - len(have), len(shape))))
