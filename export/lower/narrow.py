"""Numbers of 2, 4, 6 and 8 bits that the runtime has no kernels for: programs are lowered with wider ones.

ONNX has element types for most of them, but ONNX Runtime runs little more than casts on these, and NumPy arrays of
these types cannot be passed to it.  `widen` rewrites a program before it is lowered: a variable of such a dtype becomes
one of its *carrier*, int8, uint8 or float32, which holds each of its numbers.  An equation computes in carriers, and
unless it only moves data, a call after it brings its results back to the numbers of the narrow dtype: integers wrap,
floats are rounded to nearest, ties to even.  The tensors at the boundary of the graph have the carrier's element type.

The slot `narrow` holds the primitives for which that is not enough, because their results depend on the width.
"""

from functools import lru_cache

import ml_dtypes
import numpy as np

from onax._control.jit_call import call_params, jit_p
from onax._core.facts import DATA_MOVEMENT
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, jaxprs_in_params
from onax._core.programs import BRANCH, CALL, CUSTOM_RULE, LOOP, held_programs, replace_programs
from onax._core.slots import Slot
from onax._ground import dtypes
from onax._ground.errors import LoweringError
from onax._prims import convert as conversions
from onax._prims import elementwise as e
from onax._prims import elementwise_bits as on_bits
from onax._prims import reductions, windows
from onax._prims.indexing import gather_p
from onax._prims.shaping import broadcast_in_dim, reduce_sum, reshape, shape_of
from onax._transforms.staging import trace_to_jaxpr
from onax.export.artifact import carrier

_F32 = np.dtype(np.float32)
_COMPLETE = (CALL, CUSTOM_RULE, BRANCH, LOOP)  # kinds of programs that compute all results of their equation

narrow = Slot(
    "narrow",
    "rule(*operands in carriers, narrow=(dtypes of operands, dtype of result), **params) -> result in its carrier",
    "Exports compute numbers of fewer than 8 bits in wider ones and bring the results back.",
    "onax.export.lower",
)


def widen(jaxpr):
    """The closed program with carriers in place of narrow dtypes; itself if it has none."""
    return _widen(jaxpr) if _has_narrow(jaxpr) else jaxpr


def _has_narrow(jaxpr):
    atoms = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    for eqn in jaxpr.eqns:
        atoms += [*eqn.invars, *eqn.outvars]
    if any(carrier(a.aval.dtype) is not None for a in atoms):
        return True
    return any(_has_narrow(inner) for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params))


def _wide(aval):
    wide = carrier(aval.dtype)
    return aval if wide is None else aval.update(dtype=wide)


def _widen(jaxpr):
    env = {}

    def rename(atom):
        wide = carrier(atom.aval.dtype)
        if wide is None:
            return atom
        if type(atom) is Literal:
            return Literal(np.asarray(atom.val, atom.aval.dtype).astype(wide), _wide(atom.aval))
        return env.get(atom) or env.setdefault(atom, Var(_wide(atom.aval)))

    constants = [c if v is rename(v) else np.asarray(c).astype(rename(v).aval.dtype)
                 for v, c in zip(jaxpr.constvars, jaxpr.consts)]  # fmt: skip
    eqns = [new for eqn in jaxpr.eqns for new in _widen_equation(eqn, rename)]
    rename_all = lambda atoms: [rename(a) for a in atoms]
    body = Jaxpr(rename_all(jaxpr.constvars), rename_all(jaxpr.invars), rename_all(jaxpr.outvars), eqns,
                 jaxpr.effects, jaxpr.debug_info)  # fmt: skip
    return ClosedJaxpr(body, constants)


def _widen_equation(eqn, rename):
    """The equations in place of one: itself in carriers, then a call for each result that has to be brought back."""
    outs = [v for v in eqn.outvars if carrier(v.aval.dtype) is not None]
    operands, results = [rename(a) for a in eqn.invars], [rename(v) for v in eqn.outvars]
    if held_programs(eqn):
        kinds = {h.kind for h in held_programs(eqn)}
        eqn = replace_programs(eqn, widen)
        if kinds <= {*_COMPLETE, "condition"}:
            return [eqn.replace(invars=operands, outvars=results)]
    elif not outs and all(a is b for a, b in zip(operands, eqn.invars)):
        return [eqn]
    rule = narrow.get(eqn.primitive)
    if rule is not None:
        return [_by_rule(eqn, rule, operands, results)]
    params = {name: _wide_param(value) for name, value in eqn.params.items()}
    if DATA_MOVEMENT in eqn.primitive.facts:
        return [eqn.replace(invars=operands, outvars=results, params=params)]
    raw = [v if v is r else Var(r.aval) for v, r in zip(eqn.outvars, results)]
    eqns = [eqn.replace(invars=operands, outvars=raw, params=params)]
    for v, x, r in zip(eqn.outvars, raw, results):
        if x is not r:
            eqns.append(_call(eqn, _rounding(v.aval.dtype, r.aval), "round", [x], [r]))
    return eqns


def _wide_param(value):
    wide = carrier(value) if isinstance(value, np.dtype) else None
    return value if wide is None else wide


def _call(eqn, program, name, operands, results):
    return eqn.replace(
        primitive=jit_p, params=call_params(program, name), invars=operands, outvars=results, effects=program.effects
    )


def _by_rule(eqn, rule, operands, results):
    described = [a.aval.dtype for a in eqn.invars], eqn.outvars[0].aval.dtype
    function = lambda *xs: (rule(*xs, narrow=described, **eqn.params),)
    program = trace_to_jaxpr(function, [a.aval for a in operands])
    return _call(eqn, program, eqn.primitive.name, operands, results)


# ---- back to the numbers of a dtype


@lru_cache(maxsize=256)
def _rounding(dtype, aval):
    return trace_to_jaxpr(lambda x: (back(x, dtype),), [aval])


def back(x, dtype):
    """The numbers of a narrow dtype, in its carrier, that are x in arithmetic of that dtype."""
    if dtypes.is_float(dtype):
        return _round_float(x, ml_dtypes.finfo(dtype), dtype)
    return _bits(x, dtype) if dtypes.is_unsigned(dtype) else _sign_extended(x, dtypes.itemsize_bits(dtype))


def _bits(x, dtype):
    """The bits of a narrow integer as an unsigned number, in its carrier."""
    return on_bits.bitwise_and(x, e.full_like(x, 2 ** dtypes.itemsize_bits(dtype) - 1))


def _sign_extended(x, bits):
    """The signed numbers that the lower bits of x are."""
    sign = e.full_like(x, 2 ** (bits - 1))
    low = on_bits.bitwise_and(x, e.full_like(x, 2**bits - 1))
    return e.sub(on_bits.bitwise_xor(low, sign), sign)


def _round_float(x, info, dtype):
    """x rounded to a multiple of the unit in the last place of its exponent; where that is too large, as casts do."""
    of = lambda value: e.full_like(x, float(_F32.type(value).astype(dtype)))
    magnitude = e.abs(x)
    unit = e.full_like(x, 2.0 ** (info.minexp - info.nmant))
    for k in range(info.minexp + 1, int(np.floor(np.log2(float(info.max)))) + 1):
        step = 2.0 ** (k - 1 - info.nmant)
        reaches = e.ge(magnitude, e.full_like(x, 2.0**k))
        unit = e.add(unit, e.select_n(reaches, e.full_like(x, 0.0), e.full_like(x, step)))
    rounded = e.mul(e.round(e.div(x, unit), e.RoundingMethod.TO_NEAREST_EVEN), unit)
    largest = float(info.max)
    rounded = e.select_n(e.gt(rounded, e.full_like(x, largest)), rounded, of(3e38))
    rounded = e.select_n(e.lt(rounded, e.full_like(x, -largest)), rounded, of(-3e38))
    for special in (np.inf, -np.inf):
        rounded = e.select_n(e.eq(x, e.full_like(x, special)), rounded, of(special))
    return e.select_n(e.ne(x, x), rounded, of(np.nan))


def _limits(x, dtype):
    info = ml_dtypes.iinfo(dtype)
    return e.full_like(x, int(info.min)), e.full_like(x, int(info.max))


def _clamp(x, dtype):
    low, high = _limits(x, dtype)
    return e.max(low, e.min(x, high))


# ---- primitives whose results depend on the width


@narrow.rule(conversions.convert_element_type_p)
def _convert_element_type(x, *, narrow, new_dtype, weak_type, sharding):
    (source,), target = narrow
    wide = carrier(target)
    if wide is None:
        return conversions.convert(x, target)
    if dtypes.is_integer(target) and dtypes.is_float(source):  # saturates, as the conversion to the carrier does
        return _clamp(conversions.convert(x, wide), target)
    return back(conversions.convert(x, wide), target)


@narrow.rule(gather_p)
def _gather(x, indices, *, narrow, fill_value, **params):
    dtype = narrow[1]
    if fill_value is None:
        if dtypes.is_float(dtype):
            fill_value = float(_F32.type(np.nan).astype(dtype))
        else:
            info = ml_dtypes.iinfo(dtype)
            fill_value = int(info.max if dtypes.is_unsigned(dtype) else info.min)
    return gather_p.bind(x, indices, fill_value=fill_value, **params)


def _clamped(primitive):
    """The rule of a maximum or minimum: where there is nothing, the carrier's limit becomes that of the dtype."""

    @narrow.rule(primitive)
    def rule(*operands, narrow, **params):
        out, dtype = primitive.bind(*operands, **params), narrow[1]
        return back(out, dtype) if dtypes.is_float(dtype) else _clamp(out, dtype)


_clamped(reductions.reduce_max_p)
_clamped(reductions.reduce_min_p)
_clamped(windows.reduce_window_max_p)
_clamped(windows.reduce_window_min_p)


@narrow.rule(on_bits.shift_right_logical_p)
def _shift_right_logical(x, amount, *, narrow):
    return back(on_bits.shift_right_logical(_bits(x, narrow[1]), _bits(amount, narrow[1])), narrow[1])


@narrow.rule(on_bits.shift_right_arithmetic_p)
def _shift_right_arithmetic(x, amount, *, narrow):
    dtype = narrow[1]
    bits = dtypes.itemsize_bits(dtype)
    signed = lambda value: conversions.convert(value, np.dtype(np.int8))
    x = _sign_extended(signed(x), bits)  # the uppermost bit is a sign, of unsigned numbers too
    return back(
        conversions.convert(on_bits.shift_right_arithmetic(x, signed(_bits(amount, dtype))), carrier(dtype)),
        dtype,
    )


@narrow.rule(on_bits.shift_left_p)
def _shift_left(x, amount, *, narrow):
    return back(on_bits.shift_left(x, _bits(amount, narrow[1])), narrow[1])


@narrow.rule(on_bits.population_count_p)
def _population_count(x, *, narrow):
    return back(on_bits.population_count(_bits(x, narrow[1])), narrow[1])


@narrow.rule(on_bits.clz_p)
def _clz(x, *, narrow):
    more = 8 - dtypes.itemsize_bits(narrow[1])
    return back(e.sub(on_bits.clz(_bits(x, narrow[1])), e.full_like(x, more)), narrow[1])


@narrow.rule(conversions.bitcast_convert_type_p)
def _bitcast(x, *, narrow, new_dtype):
    (source,), target = narrow
    if any(carrier(d) is not None and not dtypes.is_integer(d) for d in (source, target)):
        raise LoweringError(f"bitcast_convert_type from {source} to {target}: an export holds these in wider numbers")
    old, new = dtypes.itemsize_bits(source), dtypes.itemsize_bits(target)
    if old > new:
        return _unpack(x, source, target, old, new)
    return back(conversions.convert(x, carrier(target)), target) if old == new else _pack(x, source, target, old, new)


_U8 = np.dtype(np.uint8)


def _unpack(x, source, target, old, new):
    """The narrow integers that the bits of wider numbers are, the lowest bits first."""
    shape = shape_of(x)
    octets = conversions.bitcast_convert_type(x, _U8) if old >= 8 else conversions.convert(_bits(x, source), _U8)
    octets = reshape(octets, (*shape, max(old // 8, 1), 1))
    every = (*shape, max(old // 8, 1), min(old, 8) // new)
    shifts = broadcast_in_dim(np.arange(0, min(old, 8), new, dtype=np.uint8), every, (len(every) - 1,))
    parts = on_bits.shift_right_logical(broadcast_in_dim(octets, every, tuple(range(len(every)))), shifts)
    return back(conversions.convert(reshape(parts, (*shape, old // new)), carrier(target)), target)


def _pack(x, source, target, old, new):
    """The wider numbers whose bits the narrow integers along the last axis are, the first one's the lowest."""
    lead, octet = shape_of(x)[:-1], min(new, 8)
    every = (*lead, new // octet, octet // old)
    parts = reshape(conversions.convert(_bits(x, source), _U8), every)
    shifts = broadcast_in_dim(np.arange(0, octet, old, dtype=np.uint8), every, (len(every) - 1,))
    octets = reduce_sum(on_bits.shift_left(parts, shifts), (len(every) - 1,))
    if new < 8:
        return back(conversions.convert(reshape(octets, lead), carrier(target)), target)
    return conversions.bitcast_convert_type(octets if new > 8 else reshape(octets, lead), target)


@narrow.rule(e.nextafter_p)
def _nextafter(x1, x2, *, narrow):
    raise LoweringError(
        f"the result depends on how many bits {narrow[1]} has, and an export computes it in wider numbers"
    )
