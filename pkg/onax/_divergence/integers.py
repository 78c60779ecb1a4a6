"""Integer arithmetic on which processors disagree: division by zero, shifts by too many bits, overflow."""

import operator

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._divergence.case import INTEGERS, Case, Family, is_wide, wrap


def _edges(dtype):
    info = np.iinfo(dtype)
    return sorted({0, 1, 2, 3, 7, int(info.max), int(info.max) - 1, int(info.min), max(int(info.min), -1)})


def _pairs(dtype, second=None):
    """All pairs of edge values, as two arrays."""
    edges = _edges(dtype)
    second = edges if second is None else second
    x = np.array([a for a in edges for _ in second], dtype)
    y = np.array([b for _ in edges for b in second], dtype)
    return x, y


def _truncating_division(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _div(a, b, dtype):
    return -1 if b == 0 else _truncating_division(a, b)  # -1 is all ones, the largest unsigned number


def _rem(a, b, dtype):
    return a if b == 0 else a - b * _truncating_division(a, b)


def _floor_divide(a, b, dtype):
    """jnp.floor_divide uses lax.div: the truncated quotient, less one if the signs differ and a remainder is left."""
    q = _div(a, b, dtype)
    signed = np.iinfo(dtype).min < 0
    sign = (a > 0) - (a < 0) != (b > 0) - (b < 0)
    return q - 1 if signed and sign and _rem(a, b, dtype) != 0 else q


def _remainder(a, b, dtype):
    """jnp.remainder defines x modulo 0 as 0 for integers."""
    return 0 if b == 0 else a - b * (a // b)


_DIVISIONS = {
    "lax.div": (lax.div, lambda x, y: (x / y).astype(x.dtype), _div),
    "lax.rem": (lax.rem, np.fmod, _rem),
    "jnp.floor_divide": (jnp.floor_divide, np.floor_divide, _floor_divide),
    "jnp.remainder": (jnp.remainder, np.remainder, _remainder),
}


def _apply_exactly(rule, x, y):
    """The rule on exact integers, stored in x's dtype."""
    return wrap([rule(int(a), int(b), x.dtype) for a, b in zip(x, y)], x.dtype)


def _divisions():
    for dtype in INTEGERS:
        x, y = _pairs(dtype)
        for name, (onax, numpy, rule) in _DIVISIONS.items():
            yield _case(name, numpy, onax, x, y, _apply_exactly(rule, x, y))


def _case(name, numpy, onax, x, y, documented):
    return Case(name, numpy, onax, (x, y), documented, dtype=x.dtype.name, shape=str(x.shape), x64=is_wide(x.dtype))


def _shift_left(a, b, dtype):
    return a << b if 0 <= b < 8 * dtype.itemsize else 0


def _shift_right_logical(a, b, dtype):
    bits = 8 * dtype.itemsize
    return (a & ((1 << bits) - 1)) >> b if 0 <= b < bits else 0


def _shift_right_arithmetic(a, b, dtype):
    bits = 8 * dtype.itemsize
    signed = (
        a - (1 << bits) if a >> (bits - 1) & 1 and a > 0 else a
    )  # the highest bit is copied, of unsigned numbers too
    return signed >> (b if 0 <= b < bits else bits - 1)


_SHIFTS = {
    "lax.shift_left": (lax.shift_left, np.left_shift, _shift_left),
    "lax.shift_right_logical": (lax.shift_right_logical, np.right_shift, _shift_right_logical),
    "lax.shift_right_arithmetic": (lax.shift_right_arithmetic, np.right_shift, _shift_right_arithmetic),
}


def _shifts():
    for dtype in INTEGERS:
        bits = 8 * dtype.itemsize
        counts = [0, 1, bits - 1, bits, bits + 1, 127] + ([-1] if dtype.kind == "i" else [])
        x, y = _pairs(dtype, counts)
        for name, (onax, numpy, rule) in _SHIFTS.items():
            yield _case(name, numpy, onax, x, y, _apply_exactly(rule, x, y))


_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _overflows():
    for dtype in INTEGERS:
        x, y = _pairs(dtype)
        for name, operation in _ARITHMETIC.items():
            documented = wrap([operation(int(a), int(b)) for a, b in zip(x, y)], dtype)
            yield _case(f"x {name} y", operation, operation, x, y, documented)
        edges = np.array(_edges(dtype), dtype)
        for name, numpy, onax, rule in _UNARY:
            documented = wrap([rule(int(a)) for a in edges], dtype)
            yield Case(name, numpy, onax, (edges,), documented, dtype=dtype.name, shape=str(edges.shape),
                       x64=is_wide(dtype))  # fmt: skip
        yield Case("x ** 3", lambda x: x**3, _cube, (edges,), wrap([int(a) ** 3 for a in edges], dtype),
                   dtype=dtype.name, shape=str(edges.shape), x64=is_wide(dtype))  # fmt: skip


def _cube(x):
    return x**3


_UNARY = (("-x", np.negative, jnp.negative, operator.neg), ("abs(x)", np.abs, jnp.abs, abs))


def _small_integer_sums():
    """Sums of narrow integers: NumPy computes them in 64 bits, onax in 32."""
    for dtype in INTEGERS:
        if is_wide(dtype):
            continue
        info = np.iinfo(dtype)
        x = np.full(1000, info.max, dtype)
        wide = np.dtype(np.int32 if dtype.kind == "i" else np.uint32)
        for name, numpy, onax, exact in (
            ("sum of 1000 largest values", np.sum, jnp.sum, 1000 * int(info.max)),
            ("product of 3 largest values", _numpy_product, _onax_product, int(info.max) ** 3),
        ):
            yield Case(name, numpy, onax, (x,), wrap(exact, wide), dtype=dtype.name, shape="(1000,)")
        yield Case("cumulative sum", np.cumsum, jnp.cumsum, (x[:5],), _cumulative(x[:5]), dtype=dtype.name,
                   shape="(5,)")  # fmt: skip


def _cumulative(x):
    """jnp.cumsum keeps the operand's dtype."""
    return wrap(np.cumsum(x.astype(object)), x.dtype)


def _numpy_product(x):
    return np.prod(x[:3])


def _onax_product(x):
    return jnp.prod(x[:3])


FAMILIES = (
    Family(
        "division",
        "Integer division and remainder by zero",
        "x / 0 is -1 (unsigned: the largest number), x rem 0 is x, jnp.remainder(x, 0) is 0, and the least integer "
        "over -1 is itself. Nothing raises an error. NumPy warns and gives 0.",
        "Guard the divisor: jnp.where(y == 0, default, x // jnp.where(y == 0, 1, y)).",
        _divisions,
    ),
    Family(
        "shifts",
        "Shifts by too many bits",
        "A shift by a negative number, or by the width or more, gives 0; shift_right_arithmetic gives copies of the "
        "sign bit. In C, and so in some of NumPy's loops, this is undefined.",
        "Keep the count in range: jnp.left_shift(x, jnp.clip(n, 0, bits - 1)), or mask it.",
        _shifts,
    ),
    Family(
        "overflow",
        "Integer overflow",
        "Integers wrap modulo their width, silently, in scalars too. NumPy's arrays wrap as well, its scalars warn.",
        "Compute in a wider dtype, or run the function under onax.strict(overflow=True) to find where it wraps.",
        _overflows,
    ),
    Family(
        "small-int-sums",
        "Sums of small integers",
        "sum and prod of integers of at most 32 bits are computed and returned in 32 bits; cumsum keeps the dtype. "
        "NumPy sums in 64 bits.",
        "State the dtype: jnp.sum(x, dtype=...), with 64-bit dtypes enabled if the sum needs them.",
        _small_integer_sums,
    ),
)
