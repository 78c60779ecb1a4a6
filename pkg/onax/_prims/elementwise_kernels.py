"""Kernels of the elementwise primitives.

A kernel maps the dtype of the first operand to a function on ndarrays.  Where NumPy's ufunc agrees with XLA the entry
is the ufunc itself, so that no Python code runs between dispatch and NumPy.  Functions of several steps compute narrow
float types in float32 and round once; 2- and 4-bit integers are computed in int32 and wrap.
"""

import numpy as np

from onax._core.rules import InvalidOperands
from onax._ground import dtypes
from onax._native.dispatch import SizedKernel
from onax._native.tape import BLOCK_OPERATIONS, BlockFunction
from onax._prims import elementwise_complex as on_complex
from onax._prims.convert import cast

_STANDARD_FLOATS = tuple(map(np.dtype, ("float32", "float64", "float16")))
FLOATS = (
    *_STANDARD_FLOATS,
    *(d for d in dtypes.ALL_DTYPES if dtypes.is_float(d) and d not in _STANDARD_FLOATS),
)
COMPLEXES = (np.dtype("complex64"), np.dtype("complex128"))
SIGNED = tuple(map(np.dtype, ("int32", "int64", "int8", "int16")))
UNSIGNED = tuple(map(np.dtype, ("uint32", "uint64", "uint8", "uint16")))
NARROW_INTEGERS = tuple(d for d in dtypes.ALL_DTYPES if dtypes.is_integer(d) and d not in SIGNED + UNSIGNED)
BOOL = np.dtype("bool")

_NARROW_FLOATS = tuple(d for d in FLOATS if d.itemsize < 4)
_NARROW_SIGNED = tuple(d for d in NARROW_INTEGERS if not dtypes.is_unsigned(d))
_KINDS = {  # kind -> (dtypes in which functions of several steps compute, dtypes for which they need a wider one)
    "floating": (FLOATS[:2], _NARROW_FLOATS),
    "complexfloating": (COMPLEXES, ()),
    "integer": (SIGNED + UNSIGNED, NARROW_INTEGERS),
    "signedinteger": (SIGNED, _NARROW_SIGNED),
    "bool": ((BOOL,), ()),
    "float32": (FLOATS[:1], ()),
    "float64": (FLOATS[1:2], ()),
}

# With the call, an operation over blocks is quicker than NumPy's function from so many elements on if it is dear: if it
# takes so many nanoseconds for an element of float32, or computes narrow floats.  Cheap ones are as quick, and quicker
# if an operand is a single number.
_FEWEST_OF_DEAR, _FEWEST_OF_CHEAP = 256, 4096
_DEAR = 0.2


class Kernel(dict):
    """A table from the first operand's dtype to a function.  `kinds` names the accepted kinds of dtypes in errors."""

    __slots__ = ("kinds",)

    def with_blocks(self, name):
        """The same table, in which an operation over blocks computes large arrays of floats, if there is one of a name
        that takes arrays alone."""
        operation, kernel = BLOCK_OPERATIONS.get(name), Kernel(self)
        kernel.kinds = self.kinds
        if operation and operation.signature in "UB":
            for dtype in operation.dtypes.keys() & self.keys() & set(FLOATS):
                is_dear = dtype.itemsize == 2 or operation.dtypes[dtype] >= _DEAR
                fewest = _FEWEST_OF_DEAR if is_dear else _FEWEST_OF_CHEAP
                kernel[dtype] = SizedKernel(self[dtype], BlockFunction(operation, dtype, self[dtype]), fewest)
        return kernel

    def simplest(self):
        """The form that a Primitive takes: the function itself if it is the same for all dtypes, else a plain
        dictionary."""
        functions = list(self.values())
        return functions[0] if all(f is functions[0] for f in functions) else dict(self)


def by_kind(**functions):
    """Makes the kernel that runs one function for each kind of dtype: `by_kind(floating=np.sin, integer=...)`."""
    kernel = Kernel()
    kernel.kinds = tuple(functions)
    for kind, function in functions.items():
        standard, narrow = _KINDS[kind]
        kernel.update(dict.fromkeys(standard, function))
        if narrow:
            kernel.update(dict.fromkeys(narrow, _narrow_function(function, narrow)))
    return kernel


def _narrow_function(function, dtypes_):
    """The function for narrow dtypes: a ufunc itself if it handles them (floats; comparisons of all), else a
    wrapper."""
    if isinstance(function, np.ufunc) and (dtypes_ is _NARROW_FLOATS or function in _COMPARISONS):
        return function
    return _compute_in(function, np.float32 if dtypes_ is _NARROW_FLOATS else np.int32)


def _compute_in(function, wide):
    """Wraps a function to compute in a wider dtype and to convert results of that dtype back."""
    wide = np.dtype(wide)

    def kernel(*xs, **params):
        out = function(*(x.astype(wide) for x in xs), **params)
        return cast(out, xs[0].dtype) if out.dtype == wide else out

    return kernel


_COMPARISONS = frozenset((np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal))


def accept_keys(kernel, function):
    """Makes a kernel accept arrays of random keys, whose buffers have a void dtype of the key's size."""
    for size in (4, 8, 16, 32):
        kernel[np.dtype(f"V{size}")] = function
    return kernel


# ---- one operand ----


def logistic(x):
    """1 / (1 + exp(-x)): relative error of a few ulp on both sides, since exp overflows only where the result is 0."""
    out = np.asarray(np.negative(x))  # all steps write to one buffer
    np.exp(out, out=out)
    np.add(out, x.dtype.type(1), out=out)
    return np.reciprocal(out, out=out)


def rsqrt(x):
    """One over the square root; -0 gives -inf."""
    out = np.asarray(np.sqrt(x))
    return np.reciprocal(out, out=out)


def exp2_complex(x):
    """2 ** x, which NumPy computes for real numbers only."""
    return np.exp(x * x.dtype.type(np.log(2.0)))


def sign_float(x):
    """NumPy's sign, except that the sign of a zero is preserved."""
    out = np.asarray(np.sign(x))
    return np.copysign(out, x, out=out)


def round_float(x, *, rounding_method):
    """Rounds to the nearest integer; halves go away from zero (method 0) or to even (1)."""
    if rounding_method == 1:
        return np.rint(x)
    whole = np.trunc(x)
    up = np.greater_equal(np.abs(x - whole), x.dtype.type(0.5))
    return np.copysign(np.abs(whole) + up.astype(x.dtype), x)


def _unsigned(x):
    return x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x


def population_count(x):
    """The number of bits that are set; NumPy's bitwise_count counts those of the absolute value."""
    return np.bitwise_count(_unsigned(x)).astype(x.dtype)


def leading_zeros(x):
    """The number of leading zero bits: the width minus the exponent of the value, whose halves float64 holds
    exactly."""
    u, width = _unsigned(x), x.dtype.itemsize * 8
    if width < 64:
        return (width - np.frexp(u.astype(np.float64))[1]).astype(x.dtype)
    high, low = u >> np.uint64(32), u & np.uint64(0xFFFFFFFF)
    of_high = 32 - np.frexp(high.astype(np.float64))[1]
    of_low = 64 - np.frexp(low.astype(np.float64))[1]
    return np.where(high != 0, of_high, of_low).astype(x.dtype)


def bits_narrow(count):
    """Makes a bit count for 2- and 4-bit integers: counts in a byte and leaves out the unused bits."""

    def kernel(x):
        width = dtypes.itemsize_bits(x.dtype)
        low = x.astype(np.int8).view(np.uint8) & np.uint8((1 << width) - 1)
        counts = count(low)
        if count is leading_zeros:
            counts = counts - np.uint8(8 - width)
        return cast(counts.astype(np.int32), x.dtype)

    return kernel


def bit_count(count):
    """Makes the kernel of a bit count for all integers."""
    kernel = by_kind(integer=count)
    for dtype in NARROW_INTEGERS:
        kernel[dtype] = bits_narrow(count)
    return kernel


def integer_pow(x, *, y):
    """x ** y by repeated squaring; integers wrap."""
    if y < 0:
        bottom = integer_pow(x, y=-y)
        return on_complex.divide(x.dtype.type(1), bottom) if x.dtype.kind == "c" else np.reciprocal(bottom)
    if y == 0:
        return np.ones_like(x)
    out = None
    while True:
        if y & 1:
            out = x if out is None else np.multiply(out, x)
        y >>= 1
        if not y:
            return out
        x = np.multiply(x, x)


def conj(x, *, input_dtype):
    """The complex conjugate; a real number becomes complex."""
    if x.dtype.kind == "c":
        return np.conjugate(x)
    return x.astype(np.complex64 if x.dtype.itemsize == 4 else np.complex128)


# ---- two operands ----


def divide_signed(x, y):
    """Divides and truncates toward zero; x / 0 is -1; the lowest value divided by -1 is itself."""
    out = np.floor_divide(x - np.fmod(x, y), y)
    zero = np.equal(y, 0)
    return np.where(zero, x.dtype.type(-1), out) if zero.any() else out


def divide_unsigned(x, y):
    """Divides; x / 0 is the largest value."""
    out, zero = np.floor_divide(x, y), np.equal(y, 0)
    return np.where(zero, np.invert(x.dtype.type(0)), out) if zero.any() else out


def remainder_integer(x, y):
    """The remainder with the sign of x; the remainder of division by 0 is x."""
    out, zero = np.fmod(x, y), np.equal(y, 0)
    return np.where(zero, x, out) if zero.any() else out


def division(float_function, signed, unsigned, **others):
    """Makes the kernel of a division from functions for floats, signed and unsigned integers."""
    kernel = by_kind(integer=signed, floating=float_function, **others)
    for dtype in UNSIGNED:
        kernel[dtype] = unsigned
    for dtype in NARROW_INTEGERS:
        if dtypes.is_unsigned(dtype):
            kernel[dtype] = _compute_in(unsigned, np.uint32)
    return kernel


def power(x, y):
    """x ** y; an integer exponent is exact in float64."""
    if x.dtype != y.dtype:
        return np.power(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)
    out = np.power(x, y)
    half = np.equal(y, 0.5)
    if x.dtype.kind == "f" and half.any():  # NumPy computes this one exponent by sqrt, which is NaN at -inf
        out = np.where(half & np.equal(x, -np.inf), x.dtype.type(np.inf), out)
    return out


def power_narrow(x, y):
    """`power` for narrow floats: in float32, rounded once."""
    wide = y.astype(np.float32) if y.dtype == x.dtype else y
    return power(x.astype(np.float32), wide).astype(x.dtype)


def power_kernel():
    """Makes the kernel of `pow`."""
    kernel = by_kind(floating=power, complexfloating=on_complex.power)
    for dtype in FLOATS:
        if dtype.itemsize < 4:
            kernel[dtype] = power_narrow
    return kernel


def atan2_complex(x, y):
    """-i log((y + i x) / sqrt(x^2 + y^2))."""
    i = x.dtype.type(1j)
    return -i * np.log((y + i * x) / np.sqrt(x * x + y * y))


def shift_right_logical(x, y):
    """Shifts in zeros from the left; a shift by the width or more, or by less than 0, gives 0."""
    return np.right_shift(_unsigned(x), _unsigned(y)).view(x.dtype)


def shift_right_arithmetic_unsigned(x, y):
    """Shifts in copies of the first bit from the left, also for an unsigned dtype."""
    signed = f"i{x.dtype.itemsize}"
    return np.right_shift(x.view(signed), np.minimum(y, x.dtype.itemsize * 8 - 1).view(signed)).view(x.dtype)


def shift(signed, unsigned):
    """Makes the kernel of a shift; NumPy has no shifts of 2- and 4-bit integers."""
    kernel = by_kind(integer=signed)
    for dtype in UNSIGNED:
        kernel[dtype] = unsigned
    for dtype in NARROW_INTEGERS:
        kernel[dtype] = _narrow_shift(signed)
    return kernel


def _narrow_shift(function):
    """Wraps a shift for 2- and 4-bit integers, which it computes in a byte with or without sign extension."""

    def kernel(x, y):
        width = dtypes.itemsize_bits(x.dtype)
        wide = x.astype(np.int32)
        if function is shift_right_logical:
            wide = wide & ((1 << width) - 1)
        elif function is np.right_shift and dtypes.is_unsigned(x.dtype):
            wide = np.where(wide >> (width - 1), wide - (1 << width), wide)
        by = y.astype(np.int32)
        by = np.where((by < 0) | (by >= width), 32, by)
        return cast(function(wide, by), x.dtype)

    return kernel


def make_complex(x, y):
    """The complex numbers with real parts x and imaginary parts y."""
    out = np.empty(np.broadcast(x, y).shape, np.complex64 if x.dtype.itemsize == 4 else np.complex128)
    out.real = x
    out.imag = y
    return out


# ---- choice ----


def select_n(which, *cases):
    """Selects cases[which] element by element; an index out of range is clamped."""
    shape = cases[0].shape
    if len(cases) == 2 and which.dtype is BOOL and which.shape == shape == cases[1].shape:
        return np.where(which, cases[1], cases[0])
    if any(c.shape != shape for c in cases) or (which.ndim and which.shape != shape):
        raise InvalidOperands  # NumPy would broadcast these shapes
    if which.ndim == 0:
        return cases[min(max(int(which), 0), len(cases) - 1)]
    if which.dtype == BOOL:
        return cases[0] if len(cases) == 1 else np.where(which, cases[1], cases[0])
    which = cast(which, np.dtype(np.int64)) if which.dtype.kind not in "iu" else which
    out = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        out = np.where(np.less_equal(which, i), cases[i], out)
    return out


def clamp(lowest, x, highest):
    """min(max(x, lowest), highest); NaN anywhere gives NaN."""
    if (lowest.ndim and lowest.shape != x.shape) or (highest.ndim and highest.shape != x.shape):
        raise InvalidOperands  # NumPy would broadcast these shapes
    if x.dtype.kind == "c":
        return on_complex.minimum(on_complex.maximum(lowest, x), highest)
    if x.dtype in NARROW_INTEGERS:
        return clamp(lowest.astype(np.int32), x.astype(np.int32), highest.astype(np.int32)).astype(x.dtype)
    return np.minimum(np.maximum(lowest, x), highest)
