"""Changes of type on tapes that no program over blocks makes."""

from onax._ground import dtypes
from onax._prims.convert import bitcast_convert_type_p, reduce_precision_p
from onax._tape.rules import Unsupported, tape, type_number


@tape.rule(bitcast_convert_type_p)
def _bitcast_convert_type(b, out, x, **_):
    widths = {dtypes.itemsize_bits(v.dtype) for v in (out, x)}
    if len(widths) == 2 and min(widths) < 8:
        raise Unsupported("elements of fewer than 8 bits are packed")
    return b.bind(x, out)


@tape.rule(reduce_precision_p)
def _reduce_precision(b, out, x, *, exponent_bits, mantissa_bits):
    number, info = type_number(x.dtype), dtypes.finfo(x.dtype)
    if exponent_bits >= info.nexp and mantissa_bits >= info.nmant:
        return b.bind(x, out)
    result = b.buffer(out)
    b.emit("reduce_precision", [result], [x], (number, x.size, min(exponent_bits, 64), min(mantissa_bits, 64)))
    return result
