"""Staged calls: of functions of the library that are one instruction, and of others, which are their equations."""

import numpy as np

from onax._control.jit_call import jit_p, library_call
from onax._core.jaxpr import Literal
from onax._ground import dims
from onax._native.tape import TYPES
from onax._prims.random import is_key_dtype
from onax._prims.random_generators import threefry_impl
from onax._prims.shaping import broadcast_in_dim_p
from onax._tape.rules import tape, type_number

F32 = np.dtype(np.float32)
I32 = np.dtype(np.int32)
_NORMAL = "_normal_real"  # the name under which `random.normal` is staged
_SEARCH = "_binary_search"


@tape.rule(jit_p)
def _call(b, outs, *operands, jaxpr, name, **_):
    if name == _NORMAL and _is_normal(jaxpr):
        keys, result = operands[0], b.buffer(outs[0])
        b.emit("random_normal", [result], [keys], (keys.size, result.size // keys.size))
        return [result]
    if _is_search(jaxpr):
        result, (side,) = b.buffer(outs[0]), library_call(jaxpr, _SEARCH)
        array, _ = operands
        b.emit("binary_search", [result], operands, (type_number(array.dtype), array.size, int(side == "right")))
        return [result]
    return b.program(jaxpr, operands)


def is_one_instruction(eqn):
    """Whether a call is of a function that is one instruction, and so must not be inlined before it is on a tape."""
    if eqn.primitive is not jit_p:
        return False
    name, jaxpr = eqn.params["name"], eqn.params["jaxpr"]
    return (name == _NORMAL and _is_normal(jaxpr)) or (name == _SEARCH and _is_search(jaxpr))


def _is_search(jaxpr):
    """Whether a program is the binary search of `jnp.searchsorted`, for numbers that its instruction knows."""
    if library_call(jaxpr, _SEARCH) is None:
        return False
    (array, _), (out,) = jaxpr.in_avals, jaxpr.out_avals
    return array.dtype in TYPES and array.dtype.kind not in "cb" and out.dtype == I32


def _is_literal(atom, value):
    return type(atom) is Literal and not atom.aval.shape and atom.val == value


def _is_normal(jaxpr):
    """Whether a program is `random.normal` for float32 and keys of Threefry.

    It draws bits, makes them uniform numbers in (-1, 1), and multiplies their erf_inv by sqrt(2).
    """
    names = [e.primitive.name for e in jaxpr.eqns]
    if names != ["jit", "erf_inv", "mul"] or jaxpr.consts or jaxpr.out_avals[0].dtype != F32 or len(jaxpr.invars) != 1:
        return False
    uniform, erf_inv, scale = jaxpr.eqns
    low, high = np.nextafter(F32.type(-1), F32.type(0)), 1
    inner = uniform.params["jaxpr"]
    expected = "random_bits shift_right_logical convert_element_type mul sub mul add max".split()
    if [e.primitive.name for e in inner.eqns if e.primitive is not broadcast_in_dim_p] != expected or inner.consts:
        return False
    bits, shift, cast, unit, *_ = inner.eqns
    wide = bits.params["bit_width"] == 32 and cast.params["new_dtype"] == F32
    return (
        wide
        and _has_threefry_keys(jaxpr.in_avals[0], jaxpr.out_avals[0], bits.params)
        and _is_literal(uniform.invars[1], low)
        and _is_literal(uniform.invars[2], high)
        and _is_literal(shift.invars[1], 9)
        and any(_is_literal(v, F32.type(2**-23)) for v in unit.invars)
        and any(_is_literal(v, F32.type(np.sqrt(2))) for v in scale.invars)
        and erf_inv.invars[0] is uniform.outvars[0]
    )


def _has_threefry_keys(keys, out, params):
    """Whether the numbers are those of partitionable counters of Threefry keys."""
    if not is_key_dtype(keys.dtype) or keys.dtype._impl is not threefry_impl or not params.get("partitionable", True):
        return False
    return dims.is_constant_shape(out.shape) and bool(keys.size)
