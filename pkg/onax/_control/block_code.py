"""What each primitive is in a program over blocks: one rule for each, keyed by the primitive.

    row(add_p, "add")                 the primitive is one operation of `_native.blocks`
    @codes(clamp_p)                   a rule: (code, out dtype, *registers, **params) -> register
    @views(broadcast_in_dim_p)        only how elements are found changes: (operand start and strides, eqn) -> the same
                                      of the result, or None
    COUNTERS                          elements follow from their positions alone: eqn -> strides
    FOLDS                             trailing axes become one element: the name of the operation

A rule computes bit for bit what the primitive's kernel does; functions of C's library, and ours, agree to 4 ulp.
A rule that cannot (a dtype without kernels) raises Unfit: the equation then stays outside.
"""

import numpy as np

from onax._core.rules import add_any_p
from onax._native.blocks import OPERATIONS, TYPES
from onax._native.dispatch import NEVER, Primitive
from onax._prims import elementwise as e
from onax._prims import reductions, shaping, special
from onax._prims.convert import bitcast_convert_type_p, convert_element_type_p
from onax._prims.slicing import slice_p

BOOL, F64 = np.dtype(bool), np.dtype(np.float64)
I32, I64 = np.dtype(np.int32), np.dtype(np.int64)
SLICED = 4096  # elements of a value of which a slice is a view

CODES: dict = {}
VIEWS: dict = {}
COUNTERS: dict = {}
FOLDS: dict = {}


class Unfit(Exception):
    """There is no operation over blocks for this."""


class Code:
    """Instructions under construction.  Registers are numbered as they come; each is written once.

    `dtypes` of the registers, `steps` (operation, target, operands), `constants`: bits and dtype -> register, `folded`
    registers, which have one element for each row.
    """

    __slots__ = ("constants", "dtypes", "folded", "steps")

    def __init__(self):
        self.dtypes = []
        self.steps = []
        self.constants = {}
        self.folded = set()

    def register(self, dtype):
        """A new register."""
        if dtype not in TYPES:
            raise Unfit(f"no operation over blocks has {dtype}")
        self.dtypes.append(dtype)
        return len(self.dtypes) - 1

    def constant(self, value, dtype):
        """A register that holds a number everywhere."""
        array = np.asarray(value).astype(dtype)
        key = array.tobytes(), dtype
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = self.register(dtype)
        return found

    def number(self, register):
        """The number that a register is known to hold everywhere, or None."""
        for (bits, dtype), place in self.constants.items():
            if place == register:
                return np.frombuffer(bits, dtype)[0]
        return None

    def emit(self, name, *registers, out=None):
        """The result of an operation; Unfit if it has no form for these dtypes."""
        operation, dtypes = OPERATIONS[name], [self.dtypes[r] for r in registers]
        signature = operation.signature
        if signature == "G":
            dtypes = dtypes[:1]  # the others are fixed
        dtype = dtypes[-1]
        if dtype not in operation.dtypes or any(d != dtype for d in dtypes[signature == "S" :]):
            raise Unfit(f"{name} has no form for {dtype}")
        if signature == "S" and dtypes[0] != BOOL:
            raise Unfit(f"{name} chooses by bools")
        result = self.register(out if signature in "VM" else BOOL if signature in "CP" else dtype)
        self.steps.append((operation, result, registers))
        if signature == "R":
            self.folded.add(result)
        return result

    def convert(self, x, dtype):
        """x as another type, as JAX converts."""
        if self.dtypes[x] == dtype:
            return x
        if dtype not in TYPES:
            raise Unfit(f"no operation over blocks has {dtype}")
        return self.emit(_CONVERSIONS[dtype], x, out=dtype)


_CONVERSIONS = dict(zip(TYPES, ("to_f32", "to_f64", "to_i32", "to_u32", "to_i64", "to_u64", "to_bool")))


def row(primitive, name, *, swapped=False):
    """The primitive is one operation, its two operands perhaps exchanged."""

    def rule(code, out, *registers, **_):
        return code.emit(name, *(registers[::-1] if swapped else registers))

    CODES[primitive] = rule


def codes(*primitives):
    """Decorator: the rule of these primitives."""

    def register(rule):
        CODES.update(dict.fromkeys(primitives, rule))
        return rule

    return register


def views(primitive):
    """Decorator: how the strides of the result follow from those of the operand."""

    def register(rule):
        VIEWS[primitive] = rule
        return rule

    return register


# ---- rows

for _primitive, _name in (
    (e.sin_p, "sin"), (e.cos_p, "cos"), (e.tan_p, "tan"), (e.asin_p, "asin"), (e.acos_p, "acos"),
    (e.atan_p, "atan"), (e.sinh_p, "sinh"), (e.cosh_p, "cosh"), (e.tanh_p, "tanh"), (e.asinh_p, "asinh"),
    (e.acosh_p, "acosh"), (e.atanh_p, "atanh"), (e.exp_p, "exp"), (e.exp2_p, "exp2"), (e.expm1_p, "expm1"),
    (e.log_p, "log"), (e.log1p_p, "log1p"), (e.logistic_p, "logistic"), (e.sqrt_p, "sqrt"), (e.rsqrt_p, "rsqrt"),
    (e.cbrt_p, "cbrt"), (e.abs_p, "abs"), (e.neg_p, "neg"), (e.sign_p, "sign"), (e.floor_p, "floor"),
    (e.ceil_p, "ceil"), (e.is_finite_p, "is_finite"), (e.not_p, "not"), (e.and_p, "and"), (e.or_p, "or"),
    (e.xor_p, "xor"), (e.shift_left_p, "shift_left"), (e.shift_right_logical_p, "shift_right_logical"),
    (e.shift_right_arithmetic_p, "shift_right_arithmetic"), (e.add_p, "add"), (add_any_p, "add"), (e.sub_p, "sub"),
    (e.div_p, "div"), (e.rem_p, "rem"), (e.max_p, "max"), (e.min_p, "min"), (e.atan2_p, "atan2"),
    (e.nextafter_p, "nextafter"), (e.eq_p, "eq"), (e.ne_p, "ne"), (e.lt_p, "lt"), (e.le_p, "le"),
    (special.erf_p, "erf"), (special.erfc_p, "erfc"), (special.erf_inv_p, "erf_inv"),
):  # fmt: skip
    row(_primitive, _name)
row(e.gt_p, "lt", swapped=True)
row(e.ge_p, "le", swapped=True)


# ---- rules


@codes(e.stop_gradient_p, shaping.copy_p)
def _same(code, out, x, **_):
    return x


@codes(convert_element_type_p)
def _convert(code, out, x, **_):
    return code.convert(x, out)


@codes(bitcast_convert_type_p)
def _bitcast(code, out, x, **_):
    if code.dtypes[x].itemsize != out.itemsize or BOOL in (code.dtypes[x], out):
        raise Unfit("only bits of one width are read as another type")
    return code.emit("move", x, out=out)


@codes(e.mul_p)
def _mul(code, out, x, y, **_):
    return code.emit("mul", code.convert(x, out), code.convert(y, out))


@codes(e.square_p)
def _square(code, out, x, **_):
    return code.emit("mul", x, x)


@codes(e.round_p)
def _round(code, out, x, *, rounding_method):
    return code.emit("rint" if int(rounding_method) == 1 else "round", x)


@codes(e.clamp_p)
def _clamp(code, out, low, x, high):
    return code.emit("min", code.emit("max", low, x), high)


@codes(e.select_n_p)
def _select(code, out, which, *cases):
    """By a bool; by an integer, from the last case on, as long as it is not larger."""
    if len(cases) == 1:
        return cases[0]
    dtype = code.dtypes[which]
    if dtype == BOOL:
        return code.emit("select", which, cases[1], cases[0])
    chosen = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        chosen = code.emit("select", code.emit("le", which, code.constant(i, dtype)), cases[i], chosen)
    return chosen


@codes(e.integer_pow_p)
def _integer_pow(code, out, x, *, y):
    """By repeated squaring, in the kernel's order."""
    if y == 0:
        return code.constant(1, out)
    power, rest = None, abs(y)
    while True:
        if rest & 1:
            power = x if power is None else code.emit("mul", power, x)
        rest >>= 1
        if not rest:
            break
        x = code.emit("mul", x, x)
    return power if y > 0 else code.emit("div", code.constant(1, out), power)


@codes(e.pow_p)
def _pow(code, out, x, y):
    """An integer exponent is exact in float64.  Of -inf the root is inf, as a power."""
    if code.dtypes[x] != code.dtypes[y]:
        return code.convert(code.emit("pow", code.convert(x, F64), code.convert(y, F64)), out)
    number = code.number(y)
    if number == 0.5:
        lowest = code.emit("eq", x, code.constant(-np.inf, out))
        return code.emit("select", lowest, code.constant(np.inf, out), code.emit("sqrt", x))
    if number in (1, 2, 3):
        return _integer_pow(code, out, x, y=int(number))
    return code.emit("pow", x, y)


# ---- views


@views(shaping.broadcast_in_dim_p)
def _broadcast(start, strides, eqn):
    shape, out = eqn.invars[0].aval.shape, [0] * len(eqn.params["shape"])
    for axis, length, stride in zip(eqn.params["broadcast_dimensions"], shape, strides):
        out[axis] = stride if length != 1 else 0
    return start, tuple(out)


def _without_ones(start, strides, eqn):
    """A change of shape that adds and drops axes of length 1 only."""
    have, want = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    if [d for d in have if d != 1] != [d for d in want if d != 1]:
        return None
    kept = iter([s for s, d in zip(strides, have) if d != 1])
    return start, tuple([next(kept) if d != 1 else 0 for d in want])


@views(shaping.reshape_p)
def _reshape(start, strides, eqn):
    return _without_ones(start, strides, eqn) if eqn.params.get("dimensions") is None else None


@views(shaping.squeeze_p)
def _squeeze(start, strides, eqn):
    return _without_ones(start, strides, eqn)


@views(slice_p)
def _slice(start, strides, eqn):
    """Of few elements: what is cut from a large value leaves its region."""
    x, out, p = eqn.invars[0].aval, eqn.outvars[0].aval, eqn.params
    if not 0 < out.size or x.size > SLICED:
        return None
    start += sum([s * i for s, i in zip(strides, p["start_indices"])])
    steps = p["strides"] or (1,) * len(strides)
    return start, tuple([s * k if d != 1 else 0 for s, k, d in zip(strides, steps, out.shape)])


# ---- elements by number


def _take_kernel(table, index, *, size):
    return table.reshape(-1)[np.clip(index, 0, size - 1)]


take_p = Primitive(
    "take",
    kernel=_take_kernel,
    abstract_eval=lambda table, index, *, size: table.update(shape=index.shape, weak_type=False),
    weak=NEVER,
    facts=frozenset(),
)


@codes(take_p)
def _take(code, out, table, index, *, size):
    """The elements of a table of that many, by numbers of int32; of numbers beyond it the nearest."""
    if code.dtypes[index] != I32:
        raise Unfit("elements are found by numbers of int32")
    return code.emit("take", table, index, code.constant(size, I64))


# ---- folds


def _fold(primitive, name, *, of_bools=False):
    """Along axes of length 1 it is a view."""
    FOLDS[primitive] = name
    VIEWS[primitive] = _without_ones

    @codes(primitive)
    def rule(code, out, x, **_):
        if (out == BOOL) is not of_bools:
            raise Unfit("bits of integers, and numbers of bools, are not folded")
        return code.emit(name, x)


_fold(shaping.reduce_sum_p, "sum")
_fold(reductions.reduce_prod_p, "prod")
_fold(reductions.reduce_max_p, "largest")
_fold(reductions.reduce_min_p, "smallest")
_fold(reductions.reduce_and_p, "smallest", of_bools=True)
_fold(reductions.reduce_or_p, "largest", of_bools=True)


# ---- counters


def _iota(eqn):
    shape, axis = eqn.params["shape"], eqn.params["dimension"]
    return tuple([int(i == axis and d != 1) for i, d in enumerate(shape)])


COUNTERS[shaping.iota_p] = _iota
