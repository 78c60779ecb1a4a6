"""Running reductions along an axis (`tape_cumulative.c`)."""

from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._tape.reductions import line_of
from onax._tape.rules import Unsupported, tape, type_number

_SUM, _PROD, _MAX, _MIN, _LOGSUMEXP = range(5)


def _running(number):
    """Makes the rule of a running reduction by its number."""

    def rule(b, out, x, *, axis, reverse):
        if x.dtype.kind == "c" and number == _LOGSUMEXP:
            raise Unsupported("cumlogsumexp has no instruction for complex numbers")
        result = b.buffer(out)
        b.emit("cumulative", [result], [x], (number, type_number(x.dtype), *line_of(x.shape, axis), reverse))
        return result

    return rule


tape.set(cumsum_p, _running(_SUM))
tape.set(cumprod_p, _running(_PROD))
tape.set(cummax_p, _running(_MAX))
tape.set(cummin_p, _running(_MIN))
tape.set(cumlogsumexp_p, _running(_LOGSUMEXP))
