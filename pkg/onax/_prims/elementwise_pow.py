"""Powers of two operands; those with a Python integer as exponent are in `elementwise.py`."""

import numpy as np

from onax._core.facts import ELEMENTWISE, MAKES_NAN
from onax._core.rules import defjvp
from onax._core.trace import typeof
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import elementwise_kernels as kernels
from onax._prims._batch_rules import defvectorized
from onax._prims.convert import convert
from onax._prims.creation import full_like
from onax._prims.elementwise import broadcast_tangent, eq, log, mul, select, sub
from onax._prims.elementwise_rows import broadcasting_shape, check_dtype, const
from onax._prims.shaping import shape_of

_pow_kernel = kernels.power_kernel()


def _pow_abstract(x, y):
    shape = broadcasting_shape("pow", (x, y))
    check_dtype("pow", _pow_kernel, x.dtype, 0)
    if not dtypes.issubdtype(y.dtype, np.number):
        raise TypeError(
            f"pow does not accept dtype {y.dtype} at position 1. Accepted dtypes at position 1 are subtypes of "
            "integer, floating, complexfloating."
        )
    if dtypes.is_inexact(y.dtype) and x.dtype != y.dtype:
        raise TypeError(
            "the first argument to pow must have an inexact dtype (float or complex), and the second argument must "
            f"have an inexact or integer dtype, and two inexact dtypes must match, but got {x.dtype} and {y.dtype} "
            "respectively."
        )
    return ShapedArray(shape, x.dtype, x.weak_type and y.weak_type)


def _pow_tangent_x(g, z, x, y):
    if dtypes.is_inexact(typeof(y).dtype):
        x, y = (convert(v, typeof(v).dtype) for v in (x, y))
        return mul(g, mul(y, pow(x, sub(y, full_like(y, 1)))))
    y = broadcast_tangent(convert(y, typeof(x).dtype), shape_of(z))  # the exponent 0 has derivative 0, also at x = 0
    zero = eq(y, const(y, 0))
    nothing = full_like(y, 0)
    safe = select(eq(y, const(y, 0)), full_like(y, 1), y)
    return mul(g, select(zero, nothing, mul(safe, pow(x, sub(y, full_like(y, 1))))))


def _pow_tangent_y(g, z, x, y):
    return convert(mul(g, mul(log(select(eq(x, const(x, 0)), full_like(x, 1), x)), z)), typeof(y).dtype)


pow_p = Primitive(
    "pow",
    kernel=_pow_kernel.with_blocks("pow").simplest(),
    abstract_eval=_pow_abstract,
    facts=frozenset({ELEMENTWISE, MAKES_NAN}),
)
defjvp(pow_p, _pow_tangent_x, _pow_tangent_y)
defvectorized(pow_p)


def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """Returns x to the power y, element by element.

    Args:
      x: array of floating or complex dtype.
      y: array of the dtype of `x`, or of integers; of the same shape but for axes of length 1; either may be a scalar.

    Returns:
      Array of the dtype of `x`; NaN for a negative x and a y with a fraction.

    Raises:
      TypeError: dtypes or shapes do not fit.

    Examples:
      >>> lax.pow(jnp.array([4.0, 9.0]), 0.5)
      Array([2., 3.], dtype=float32)
    """
    return pow_p.bind(x, y)
