"""Comparisons in the total order of IEEE 754: -NaN < -infinity < ... < -0 < 0 < ... < infinity < NaN.

Floats are compared as integers, whose order is the same once the bits of negative numbers are inverted below the sign.
"""

import numpy as np

from onax._ground import dtypes
from onax._prims.convert import bitcast_convert_type
from onax._prims.elementwise_bits import bitwise_xor, shift_right_arithmetic, shift_right_logical
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import binary, const, to_bool


def _ordered(x):
    """Integers in the total order of the floats of an ndarray."""
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}").reshape(x.shape)
    return bits ^ ((bits >> (8 * x.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max)


def _kernel(ufunc):
    return by_kind(integer=ufunc, floating=lambda x, y: ufunc(_ordered(x), _ordered(y)), bool=ufunc)


_TEXT = "where -0 is less than 0, a NaN equals one of its own bits, and NaNs of either sign lie beyond infinity."
eq_to, eq_to_p = binary("eq_to", _kernel(np.equal), result=to_bool, doc=f"Whether x equals y in the order {_TEXT}")
le_to, le_to_p = binary("le_to", _kernel(np.less_equal), result=to_bool, doc=f"Whether x <= y in the order {_TEXT}")
lt_to, lt_to_p = binary("lt_to", _kernel(np.less), result=to_bool, doc=f"Whether x < y in the order {_TEXT}")


def ordered_bits(x):
    """`_ordered` as other operations; integers and bools as they are."""
    if not dtypes.is_float(x.dtype):
        return x
    bits = bitcast_convert_type(x, np.dtype(f"i{x.dtype.itemsize}"))
    sign = shift_right_arithmetic(bits, const(bits, 8 * x.dtype.itemsize - 1))
    return bitwise_xor(bits, shift_right_logical(sign, const(bits, 1)))
