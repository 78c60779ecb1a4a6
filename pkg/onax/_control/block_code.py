"""What each primitive is in a program over blocks: the slots of it, and their rules.

    row(add_p)                          the primitive is an operation over blocks, that of its name
    @codes.rule(clamp_p)                a rule: (code, out dtype, *registers, **params) -> register
    @views.rule(broadcast_in_dim_p)     only how elements are found changes: (operand start and strides, eqn) -> the
                                        same of the result, or None
    counters.set(iota_p, strides)       elements follow from their positions alone: eqn -> strides
    folds.set(reduce_sum_p, "sum")      trailing axes become one element: the name of the operation

A rule computes bit for bit what the primitive's kernel does; functions of C's library, and ours, agree to 4 ulp.
A rule that cannot (a dtype without kernels) raises Unfit: the equation then stays outside.
"""

import numpy as np

from onax._core.rules import add_any_p
from onax._core.slots import Slot
from onax._ground.dtypes import finfo, itemsize_bits, real_dtype, to_complex_dtype
from onax._native.context import numpy_warnings_off
from onax._native.tape import BLOCK_OPERATIONS, TYPES
from onax._prims import creation, reductions, shaping, special
from onax._prims import elementwise as e
from onax._prims import elementwise_bits as on_bits
from onax._prims import elementwise_polynomial as polynomials
from onax._prims.convert import bitcast_convert_type_p, convert_element_type_p, reduce_precision_p
from onax._prims.elementwise_clamp import clamp_p
from onax._prims.elementwise_high import mulhi_p
from onax._prims.elementwise_pow import pow_p
from onax._prims.elementwise_total import eq_to_p, le_to_p, lt_to_p
from onax._prims.slicing import slice_p

BOOL, F32, F64 = np.dtype(bool), np.dtype(np.float32), np.dtype(np.float64)
I32, I64, U32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32)

codes = Slot(
    "block_code",
    "rule(code, out dtype, *registers, **params) -> register",
    "The operation stays outside of fused regions and compiled loops.",
    "onax._control",
)
views = Slot(
    "block_view",
    "rule(start, strides, eqn) -> (start, strides) of the result, or None",
    "A fused region does not read its operand through the operation.",
    "onax._control",
)
counters = Slot(
    "block_counter",
    "rule(eqn) -> strides",
    "The result is not known to be linear in its positions.",
    "onax._control",
)
folds = Slot(
    "block_fold", "name of the operation", "The operation is not a reduction over trailing axes.", "onax._control"
)


class Unfit(Exception):
    """There is no operation over blocks for this."""


class Code:
    """Instructions under construction.  Registers are numbered as they come; each is written once, and what an
    instruction has computed is not computed again.

    `dtypes` of the registers, `steps` (operation, target, operands), `computed`: name, operands and dtype asked for ->
    register, `constants`: bits and dtype -> register, `folded` registers, which have one element for each row.

    `parts`: complex register -> the registers of its real and its imaginary part, of numbers that are computed part by
    part because an operand was real.  Those in `unwritten` exist as parts alone until `whole` is asked for.
    """

    __slots__ = ("computed", "constants", "dtypes", "folded", "parts", "steps", "unwritten")

    def __init__(self):
        self.dtypes = []
        self.steps = []
        self.computed = {}
        self.constants = {}
        self.folded = set()
        self.parts = {}
        self.unwritten = set()

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
        register = self.constants.get(key)
        if register is None:
            register = self.constants[key] = self.register(dtype)
        return register

    def number(self, register):
        """The number that a register is known to hold everywhere, or None."""
        for (bits, dtype), place in self.constants.items():
            if place == register:
                return np.frombuffer(bits, dtype)[0]
        return None

    def operand_of(self, name, register):
        """The operand of which an operation of one operand gave a register, or None if another one did."""
        for operation, target, operands in reversed(self.steps):
            if target == register:
                return operands[0] if operation.name == name else None
        return None

    def emit(self, name, *registers, out=None):
        """The result of an operation; Unfit if it has no form for these dtypes."""
        by_parts = getattr(ByParts, name, None)
        if by_parts is not None and any(r in self.parts for r in registers):
            return by_parts(self, *registers)
        return self._step(name, [self.whole(r) for r in registers], out)

    def _step(self, name, registers, out):
        key = name, *registers, out
        if key not in self.computed:
            self.computed[key] = self._new_step(name, registers, out)
        return self.computed[key]

    def _new_step(self, name, registers, out):
        operation, dtypes = BLOCK_OPERATIONS[name], [self.dtypes[r] for r in registers]
        signature = operation.signature
        if signature == "G":
            dtypes = dtypes[:1]  # the others are fixed
        dtype = dtypes[-1]
        if dtype not in operation.dtypes or any(d != dtype for d in dtypes[signature == "S" :]):
            raise Unfit(f"{name} has no form for {dtype}")
        if signature == "S" and dtypes[0] != BOOL:
            raise Unfit(f"{name} chooses by bools")
        result = self.register(out if signature in "VMXY" else BOOL if signature in "CP" else dtype)
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
        if dtype.kind == "c" and self.dtypes[x] == real_dtype(dtype):
            return self.pair(x, self.constant(0, self.dtypes[x]))
        return self.emit(_CONVERSIONS[dtype], x, out=dtype)

    def pair(self, real, imag):
        """A complex number of two parts, which are not put side by side before that is needed."""
        result = self.register(to_complex_dtype(self.dtypes[real]))
        self.parts[result] = real, imag
        self.unwritten.add(result)
        return result

    def drop_unread(self, kept):
        """Drops the steps that nothing follows from that is kept."""
        read, steps = set(kept), []
        for operation, target, operands in reversed(self.steps):
            if target in read:
                steps.append((operation, target, operands))
                read.update(operands)
        self.steps = steps[::-1]

    def parts_of(self, x):
        """The registers of the parts of a complex number."""
        part, number = real_dtype(self.dtypes[x]), self.number(x)
        if number is not None:
            return self.constant(number.real, part), self.constant(number.imag, part)
        if x not in self.parts:
            self.parts[x] = self._step("real", [x], part), self._step("imag", [x], part)
        return self.parts[x]

    def whole(self, x):
        """The register x, written by now."""
        if x in self.unwritten:
            self.unwritten.remove(x)
            real, imag = self.parts[x]
            self.steps.append((BLOCK_OPERATIONS["complex"], x, (real, imag)))
        return x


# ---- complex numbers part by part


class ByParts:
    """Operations over blocks of complex numbers as those of their parts; each has its operation's name."""

    @staticmethod
    def add(code, x, y):
        """x + y"""
        return _each_part(code, "add", np.add, x, y)

    @staticmethod
    def sub(code, x, y):
        """x - y"""
        return _each_part(code, "sub", np.subtract, x, y)

    @staticmethod
    def neg(code, x):
        """-x"""
        return code.pair(*[code.emit("neg", part) for part in code.parts_of(x)])

    @staticmethod
    def mul(code, x, y):
        """x y"""
        (a, b), (c, d) = code.parts_of(x), code.parts_of(y)
        real = code.emit("sub", code.emit("mul", a, c), code.emit("mul", b, d))
        return code.pair(real, code.emit("add", code.emit("mul", a, d), code.emit("mul", b, c)))

    @staticmethod
    def conj(code, x):
        """The conjugate."""
        real, imag = code.parts_of(x)
        return code.pair(real, code.emit("neg", imag))

    @staticmethod
    def real(code, x):
        """The real part."""
        return code.parts_of(x)[0]

    @staticmethod
    def imag(code, x):
        """The imaginary part."""
        return code.parts_of(x)[1]


def _each_part(code, name, function, x, y):
    """An operation on the real parts, and on the imaginary ones; on numbers that are known it is computed here."""
    parts = []
    for a, b in zip(code.parts_of(x), code.parts_of(y)):
        numbers = code.number(a), code.number(b)
        if None in numbers:
            parts.append(code.emit(name, a, b))
            continue
        with numpy_warnings_off():
            parts.append(code.constant(function(*numbers), code.dtypes[a]))
    return code.pair(*parts)


_CONVERSIONS = {operation.target: name for name, operation in BLOCK_OPERATIONS.items() if operation.signature == "V"}


def row(primitive, name=None, *, swapped=False):
    """The primitive is one operation, that of its own name unless another is given, its two operands perhaps
    exchanged."""
    operation = name or primitive.name

    def rule(code, out, *registers, **_):
        return code.emit(operation, *(registers[::-1] if swapped else registers))

    codes.set(primitive, rule)


# ---- rows

row(e.sin_p)
row(e.cos_p)
row(e.tan_p)
row(e.asin_p)
row(e.acos_p)
row(e.atan_p)
row(e.sinh_p)
row(e.cosh_p)
row(e.tanh_p)
row(e.asinh_p)
row(e.acosh_p)
row(e.atanh_p)
row(e.exp_p)
row(e.exp2_p)
row(e.expm1_p)
row(e.log_p)
row(e.log1p_p)
row(e.logistic_p)
row(e.sqrt_p)
row(e.rsqrt_p)
row(e.cbrt_p)
row(e.neg_p)
row(e.sign_p)
row(e.floor_p)
row(e.ceil_p)
row(e.is_finite_p)
row(on_bits.not_p)
row(on_bits.population_count_p)
row(on_bits.clz_p)
row(on_bits.and_p)
row(on_bits.or_p)
row(on_bits.xor_p)
row(on_bits.shift_left_p)
row(on_bits.shift_right_logical_p)
row(on_bits.shift_right_arithmetic_p)
row(e.add_p)
row(add_any_p, "add")
row(e.sub_p)
row(e.div_p)
row(e.max_p)
row(e.min_p)
row(e.atan2_p)
row(e.nextafter_p)
row(mulhi_p, "mulhi")
row(e.eq_p)
row(e.lt_p)
row(e.le_p)
row(special.erf_p)
row(special.erfc_p)
row(special.erf_inv_p)
row(special.lgamma_p)
row(special.digamma_p)
row(special.bessel_i0e_p)
row(special.bessel_i1e_p)
row(e.gt_p, "lt", swapped=True)
row(e.ge_p, "le", swapped=True)


# ---- rules


@codes.rule(e.stop_gradient_p, creation.copy_p)
def _same(code, out, x, **_):
    return x


@codes.rule(convert_element_type_p)
def _convert(code, out, x, **_):
    return code.convert(x, out)


@codes.rule(bitcast_convert_type_p)
def _bitcast(code, out, x, **_):
    have = code.dtypes[x]
    is_other = have != out and "c" in (have.kind, out.kind)
    if itemsize_bits(have) != itemsize_bits(out) or BOOL in (have, out) or is_other:
        raise Unfit("only bits of one width are read as another type")
    return code.emit("move", x, out=out)


@codes.rule(e.mul_p)
def _mul(code, out, x, y, **_):
    return code.emit("mul", code.convert(x, out), code.convert(y, out))


@codes.rule(e.rem_p)
def _rem(code, out, x, y):
    """By a known integer it is made of the quotient, which floor division computes, too."""
    if code.number(y) is None or out not in (I32, U32):
        return code.emit("rem", x, y)
    return code.emit("sub", x, code.emit("mul", code.emit("div", x, y), y))


@codes.rule(e.ne_p)
def _ne(code, out, x, y):
    """What differs from False is itself.  An integer whose sign is not 1, as floor division asks, is below 1."""
    number = code.number(y)
    if number is not None and code.dtypes[y] == BOOL and not number:
        return x
    signed = code.operand_of("sign", x)
    if number == 1 and signed is not None and code.dtypes[x].kind == "i":
        return code.emit("lt", signed, y)
    return code.emit("ne", x, y)


@codes.rule(e.square_p)
def _square(code, out, x, **_):
    if out.kind != "c":
        return code.emit("mul", x, x)
    a, b = code.parts_of(x)
    half, four = (code.constant(c, code.dtypes[a]) for c in (0.5, 4))
    halves = [code.emit("mul", code.emit("abs", part), half) for part in (a, b)]
    real = code.emit("mul", code.emit("mul", code.emit("sub", *halves), code.emit("add", *halves)), four)
    product = code.emit("mul", a, b)
    return code.pair(real, code.emit("add", product, product))


def _wide(code, registers):
    """The registers as float32 if they are 16-bit floats, as kernels of several steps compute these."""
    narrow = code.dtypes[registers[0]].itemsize == 2 and code.dtypes[registers[0]].kind not in "iu"
    return [code.convert(r, F32) for r in registers] if narrow else registers


@codes.rule(polynomials.log2_p)
def _log2(code, out, x, **_):
    (x,) = _wide(code, [x])
    y = code.emit("log", x)
    if out.kind != "c":
        return code.convert(code.emit("mul", y, code.constant(polynomials.LOG2_E, code.dtypes[y])), out)
    part = real_dtype(out)
    factor = code.constant(polynomials.LOG2_E, part)
    return code.pair(*[code.emit("mul", code.emit(p, y, out=part), factor) for p in ("real", "imag")])


@codes.rule(polynomials.one_minus_square_p)
def _one_minus_square(code, out, x):
    (x,) = _wide(code, [x])
    one = code.constant(1, code.dtypes[x])
    return code.convert(code.emit("mul", code.emit("add", one, x), code.emit("sub", one, x)), out)


@codes.rule(polynomials.polynomial_p)
def _polynomial(code, out, *registers, **_):
    """By Horner's rule, in the kernel's order."""
    x, *coefficients = _wide(code, registers)
    y = coefficients[-1]
    for a in coefficients[-2::-1]:
        y = code.emit("add", code.emit("mul", y, x), a)
    return code.convert(y, out)


@codes.rule(e.abs_p)
def _abs(code, out, x):
    return code.emit("magnitude", x, out=out) if code.dtypes[x].kind == "c" else code.emit("abs", x)


@codes.rule(e.real_p)
def _real(code, out, x):
    return code.emit("real", x, out=out)


@codes.rule(e.imag_p)
def _imag(code, out, x):
    return code.emit("imag", x, out=out)


@codes.rule(e.complex_p)
def _complex(code, out, x, y):
    return code.pair(x, y)


@codes.rule(e.conj_p)
def _conj(code, out, x, **_):
    return code.emit("conj", x) if code.dtypes[x].kind == "c" else code.convert(x, out)


def _ordered_bits(code, x):
    """Integers whose order is the total order of floats; integers and bools as they are."""
    dtype = code.dtypes[x]
    if dtype.kind in "biu":
        return x
    word = np.dtype(f"i{dtype.itemsize}")
    bits = code.emit("move", x, out=word)
    sign = code.emit("shift_right_arithmetic", bits, code.constant(8 * dtype.itemsize - 1, word))
    return code.emit("xor", bits, code.emit("shift_right_logical", sign, code.constant(1, word)))


def _total_row(primitive, name):
    codes.set(primitive, lambda code, out, x, y: code.emit(name, _ordered_bits(code, x), _ordered_bits(code, y)))


_total_row(eq_to_p, "eq")
_total_row(le_to_p, "le")
_total_row(lt_to_p, "lt")


@codes.rule(reduce_precision_p)
def _reduce_precision(code, out, x, *, exponent_bits, mantissa_bits):
    """On the bits, as the kernel: half of the last remaining unit is added, which carries into the exponent."""
    info, word = finfo(out), np.dtype(f"u{out.itemsize}")
    mantissa, exponent = int(info.nmant), int(info.nexp)
    number = lambda value: code.constant(value, word)
    bits = code.emit("move", x, out=word)
    sign = code.emit("and", bits, number(1 << (mantissa + exponent)))
    size = code.emit("xor", bits, sign)
    drop = mantissa - mantissa_bits
    if drop > 0:
        even = code.emit("and", code.emit("shift_right_logical", size, number(drop)), number(1))
        size = code.emit("add", code.emit("add", size, number((1 << (drop - 1)) - 1)), even)
        size = code.emit("and", size, number((1 << 8 * word.itemsize) - (1 << drop)))
    if exponent_bits < exponent:
        bias, reach = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        infinite = ((1 << exponent) - 1) << mantissa
        is_finite = code.emit("lt", size, number((bias + reach + 1) << mantissa))
        size = code.emit("select", is_finite, size, number(infinite))
        is_normal = code.emit("le", number((bias - reach + 1) << mantissa), size)
        size = code.emit("select", is_normal, size, number(0))
    result = code.emit("move", code.emit("or", size, sign), out=out)
    return code.emit("select", code.emit("eq", x, x), result, x)


@codes.rule(e.round_p)
def _round(code, out, x, *, rounding_method):
    return code.emit("rint" if int(rounding_method) == 1 else "round", x)


@codes.rule(clamp_p)
def _clamp(code, out, low, x, high):
    return code.emit("min", code.emit("max", low, x), high)


@codes.rule(e.select_n_p)
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


@codes.rule(e.integer_pow_p)
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


@codes.rule(pow_p)
def _pow(code, out, x, y):
    """An integer exponent is exact in float64, powers of 2 have a function.  Of -inf the root is inf, as a power."""
    if out.kind == "c":
        return code.emit("pow", x, code.convert(y, out))
    if code.number(x) == 2:
        wide = F64 if code.dtypes[x] != code.dtypes[y] else max(out, F32, key=lambda dtype: dtype.itemsize)
        return code.convert(code.emit("exp2", code.convert(y, wide)), out)
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


@views.rule(shaping.broadcast_in_dim_p)
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


@views.rule(shaping.reshape_p)
def _reshape(start, strides, eqn):
    return _without_ones(start, strides, eqn) if eqn.params.get("dimensions") is None else None


@views.rule(shaping.squeeze_p)
def _squeeze(start, strides, eqn):
    return _without_ones(start, strides, eqn)


@views.rule(slice_p)
def _slice(start, strides, eqn):
    out, p = eqn.outvars[0].aval, eqn.params
    if not 0 < out.size:
        return None
    start += sum([s * i for s, i in zip(strides, p["start_indices"])])
    steps = p["strides"] or (1,) * len(strides)
    return start, tuple([s * k if d != 1 else 0 for s, k, d in zip(strides, steps, out.shape)])


# ---- folds


def _fold(primitive, name, *, of_bools=False):
    """Along axes of length 1 it is a view."""
    folds.set(primitive, name)
    views.set(primitive, _without_ones)

    @codes.rule(primitive)
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


counters.set(creation.iota_p, _iota)
