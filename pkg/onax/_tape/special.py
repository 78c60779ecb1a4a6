"""Special functions on tapes: the instruction `special` (`tape_special.c`), for float32 and float64.

Digamma and the Bessel functions of narrower floats than float64 are operations over blocks instead.
"""

from functools import cache
from math import prod

from onax._ground import lazy
from onax._native.tape import TYPES, attach_special
from onax._prims import special
from onax._tape.rules import Unsupported, tape


@cache
def _attach():
    """Imports SciPy's module and gives the tape machine the addresses of its functions."""
    attach_special(lazy.scipy_cython_special.__pyx_capi__)


def _step(x, out):
    """1 if an operand has an element for each of the result, 0 if it is one number."""
    if x.shape != out.shape and x.size != 1:
        raise Unsupported("an operand is broadcast")
    return int(x.shape == out.shape)


def _special(number):
    """The rule of a function by its number."""

    def rule(b, out, *operands):
        if out.dtype not in ("float32", "float64"):
            raise Unsupported(f"special functions have instructions for float32 and float64, not {out.dtype}")
        _attach()
        result = b.buffer(out)
        steps = [_step(x, out) for x in operands]
        b.emit("special", [result], operands, (number, TYPES[result.dtype], prod(out.shape), *steps))
        return result

    return rule


def _of_float64(rule):
    """The rule for float64 alone."""

    def of_float64(b, out, *operands):
        if out.dtype != "float64":
            raise Unsupported(f"of {out.dtype} it is an operation over blocks")
        return rule(b, out, *operands)

    return of_float64


_DIGAMMA, _IGAMMA, _IGAMMAC, _BETAINC, _I0E, _I1E, _ZETA, _POLYGAMMA, _IGAMMA_GRAD_A = map(_special, range(9))

tape.set(special.digamma_p, _of_float64(_DIGAMMA))
tape.set(special.igamma_p, _IGAMMA)
tape.set(special.igammac_p, _IGAMMAC)
tape.set(special.regularized_incomplete_beta_p, _BETAINC)
tape.set(special.bessel_i0e_p, _of_float64(_I0E))
tape.set(special.bessel_i1e_p, _of_float64(_I1E))
tape.set(special.zeta_p, _ZETA)
tape.set(special.polygamma_p, _POLYGAMMA)
tape.set(special.igamma_grad_a_p, _IGAMMA_GRAD_A)
