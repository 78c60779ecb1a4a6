"""Casts at the ends of the range of every dtype, and requests for 64-bit dtypes while they are disabled."""

import functools
import math

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._divergence.case import FLOATS, INTEGERS, Case, Family, is_float, is_wide, wrap

_BOOL = np.dtype(np.bool_)
_ALL = (_BOOL, *INTEGERS, *FLOATS)


def boundary_values(dtype):
    """The values of a dtype at which casts differ, as an array of that dtype.

    They are the ends of the ranges of all integer dtypes, the numbers just beyond them, -1, NaN, inf and subnormals.
    """
    if dtype == _BOOL:
        return np.array([False, True])
    if not is_float(dtype):
        info = np.iinfo(dtype)
        ends = {0, 1, 2, -1, -2}
        for other in INTEGERS:
            limits = np.iinfo(other)
            ends |= {int(limits.min) - 1, int(limits.min), int(limits.max), int(limits.max) + 1}
        return np.array(sorted(v for v in ends if info.min <= v <= info.max), dtype)
    tiny = {2: 6e-8, 4: 1e-45, 8: 5e-324}[dtype.itemsize]
    values = [0.0, -0.0, 0.5, 0.9, 1.5, 2.5, -0.5, -0.9, -1.0, -1.5, math.nan, math.inf, -math.inf, tiny]
    for other in INTEGERS:
        limits = np.iinfo(other)
        values += [float(limits.min), float(limits.min) * 1.5, float(limits.max), float(limits.max) * 1.5]
    values += [65504.0, 65536.0, 3.4e38]
    if dtype.itemsize == 8:
        values += [1e-40, 1e40, 1.7e308, 2.0**53 + 2, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50]
    with np.errstate(all="ignore"):
        return np.unique(np.array(values, np.float64).astype(dtype).view(f"u{dtype.itemsize}")).view(dtype)


def documented_cast(x, to):
    """x in dtype `to` by the documented rule, computed with exact numbers."""
    if to == _BOOL:
        return np.array([bool(v != 0) for v in x])
    if is_float(to) or x.dtype == _BOOL:
        with np.errstate(all="ignore"):
            return x.astype(to)  # IEEE 754: to nearest, ties to even, overflow to infinity
    if not is_float(x.dtype):
        return wrap(x.astype(object), to)
    info, out = np.iinfo(to), []
    for v in map(float, x):
        out.append(0 if math.isnan(v) else info.max if v > info.max else info.min if v < info.min else math.trunc(v))
    return np.array(out, object).astype(to)


@functools.cache
def _onax_cast(to):
    return lambda x: lax.convert_element_type(x, to)


def _casts():
    for source in _ALL:
        x = boundary_values(source)
        for to in _ALL:
            documented = documented_cast(x, to)
            with np.errstate(all="ignore"):
                numpy = x.astype(to)
            same = int(np.sum(_equal(numpy, documented)))
            yield Case(
                f"{source.name} to {to.name}",
                lambda x, to=to: x.astype(to),
                _onax_cast(to),
                (x,),
                documented,
                dtype=source.name,
                shape=str(x.shape),
                x64=is_wide(source) or is_wide(to),
                cell=(source.name, to.name, "" if same == len(x) else str(len(x) - same)),
            )


def _equal(a, b):
    both_nan = np.array([v != v for v in a]) & np.array([v != v for v in b])
    return (a == b) | both_nan


_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


@functools.cache
def _onax_request(wide):
    return lambda x: lax.convert_element_type(x, np.dtype(wide))


def _truncations():
    for wide, narrow in _NARROW.items():
        x = np.array([0, 1, 100], np.int32)
        yield Case(
            f"astype({wide})",
            lambda x, wide=wide: x.astype(wide),
            _onax_request(wide),
            (x,),
            x.astype(narrow),
            dtype=wide,
            shape="(3,)",
        )
        big = {"float64": [1.1, 1e40], "int64": [2**40 + 7, -1], "uint64": [2**63 + 5, 3], "complex128": [1.1 + 2.2j]}
        value = np.array(big[wide], wide)
        integer = wide in ("int64", "uint64")
        with np.errstate(all="ignore"):
            documented = wrap(value.astype(object), np.dtype(narrow)) if integer else value.astype(narrow)
        yield Case(
            f"a NumPy array of {wide} as argument",
            lambda x: x,
            _onax_identity,
            (value,),
            documented,
            dtype=wide,
            shape=str(value.shape),
        )


def _onax_identity(x):
    return jnp.asarray(x)


_SAFE = "Clip before the cast, jnp.clip(x, info.min, info.max).astype(dtype), and decide what NaN should become."

FAMILIES = (
    Family(
        "casts",
        "Casts that lose the value",
        "A float becomes an integer by truncation toward zero, saturates at the ends of the range, and NaN gives 0; "
        "integers wrap; floats round to nearest even and overflow to infinity. In NumPy the cast of a float beyond the "
        "range of the integer is undefined: it depends on the processor.",
        _SAFE,
        _casts,
        table=("from", "to"),
    ),
    Family(
        "truncation",
        "64-bit dtypes are disabled by default",
        "Without jax_enable_x64 every 64-bit dtype becomes the 32-bit one of its kind: int64 wraps to int32, float64 "
        "rounds to float32. NumPy computes in 64 bits by default.",
        "Enable 64 bits at the start, onax.config.update('jax_enable_x64', True), or use 32-bit dtypes.",
        _truncations,
    ),
)
