"""One comparison: a function written for NumPy and for onax, its arguments, and the result that onax documents.

    Family    a rule in one sentence, the safe way to write it, and a function that yields its cases
    Case      one function on one set of arguments
    Outcome   the result: an array, or the class of an error

A family computes the documented result in plain Python or NumPy, never with onax, so that a backend that departs from
the rule is reported even if all backends agree with one another.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class Outcome:
    """An array, or the name of the class of the error that was raised, with its message."""

    value: np.ndarray | None = None
    error: str | None = None
    message: str = ""

    def text(self, limit=6):
        """The outcome in a few characters: the class of an error, or the leading elements and the dtype."""
        if self.error is not None:
            return self.error
        return f"{elements(self.value, limit)} {self.value.dtype.name}"


@dataclass(frozen=True, slots=True)
class Case:
    """One function on one set of arguments.

    numpy, onax     the function for each; `onax` can be traced
    args            NumPy arrays, passed to both
    documented      the array that onax documents, or the name(s) of the classes of errors, one of which is raised
    traced_documented   the same for backends that compile, if they raise an error where eager evaluation has a result
    ulp             how far a float may be from the documented value, in units in the last place
    x64             whether 64-bit dtypes are enabled
    """

    title: str
    numpy: Callable
    onax: Callable
    args: tuple
    documented: object
    traced_documented: object = None
    dtype: str = ""
    shape: str = ""
    ulp: int = 0
    x64: bool = False
    cell: tuple | None = None  # (row, column, text) of the family's table, where it has one

    def wanted(self, backend):
        """What is documented for a backend."""
        if backend != "eager" and self.traced_documented is not None:
            return self.traced_documented
        return self.documented


@dataclass(frozen=True, slots=True)
class Family:
    """Cases that share one rule."""

    name: str
    title: str
    rule: str
    safe: str
    cases: Callable[[], Iterable[Case]]
    table: tuple | None = None  # (heading of rows, heading of columns) where the cases fill a table
    measured: bool = False  # results depend on the machine: generated documents leave them out


def elements(value, limit=6):
    """The leading elements of an array, in full precision and few characters."""
    if value.dtype.names is not None or value.dtype.kind == "O":
        return str(value)
    if value.ndim == 0:
        return scalar_text(value[()])
    flat = [scalar_text(x) for x in value.reshape(-1)[:limit]]
    if value.size > limit:
        flat.append("...")
    text = "[" + " ".join(flat) + "]"
    return text if value.ndim == 1 else f"{text} of shape {value.shape}"


def scalar_text(x):
    """The shortest text that tells an element from its neighbours."""
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, np.complexfloating):
        return f"({scalar_text(x.real)}{'+' if not np.signbit(x.imag) else ''}{scalar_text(x.imag)}j)"
    if isinstance(x, np.integer):
        return str(int(x))
    if isinstance(x, np.floating):
        plain = x == 0 or 1e-4 <= abs(float(x)) < 1e7
        return np.format_float_positional(x, trim="-") if plain else str(x)
    return str(x)


def is_float(dtype):
    """Whether a dtype is a real floating one; the dtypes of ml_dtypes have kind V."""
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.names is None and dtype.itemsize <= 2)


def ulps_apart(actual, expected):
    """How many representable numbers lie between the elements of two arrays of one floating dtype; NaN equals NaN.

    A NaN, or an infinity, against anything else counts as 2**62.
    """
    bits = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[expected.dtype.itemsize]
    ordered = []
    for x in (actual, expected):
        i = np.ascontiguousarray(x).view(bits).astype(object)
        ordered.append(np.where(np.signbit(x.astype(np.float64)), -(i & np.iinfo(bits).max), i))
    distance = np.abs(ordered[0] - ordered[1])
    f, w = actual.astype(np.float64), expected.astype(np.float64)
    equal = (f == w) | (np.isnan(f) & np.isnan(w))
    finite = np.isfinite(f) & np.isfinite(w)
    return np.where(equal, 0, np.where(finite, distance, 1 << 62))


def agrees(outcome, expected, ulp=0):
    """Whether an outcome is the documented one: dtype and shape equal, values equal or within `ulp`."""
    if isinstance(expected, (str, frozenset)):
        names = {expected} if isinstance(expected, str) else expected
        return outcome.error in names
    if outcome.error is not None:
        return False
    return bool(np.all(matching(outcome.value, expected, ulp)))


def matching(actual, expected, ulp=0):
    """A mask of the elements that agree; a single False if dtype or shape differ."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return np.zeros((), bool)
    if is_float(expected.dtype):
        return ulps_apart(actual, expected) <= ulp
    if expected.dtype.kind == "c":
        parts = [(actual.real, expected.real), (actual.imag, expected.imag)]
        return np.logical_and(*(ulps_apart(f, w) <= ulp for f, w in parts))
    return actual == expected


FLOATS = tuple(map(np.dtype, (ml_dtypes.bfloat16, np.float16, np.float32, np.float64)))
SIGNED = tuple(map(np.dtype, (np.int8, np.int16, np.int32, np.int64)))
UNSIGNED = tuple(map(np.dtype, (np.uint8, np.uint16, np.uint32, np.uint64)))
INTEGERS = SIGNED + UNSIGNED


def is_wide(dtype):
    """Whether a dtype exists only with 64-bit dtypes enabled."""
    return dtype.itemsize == 8 and dtype.kind in "iuf"


def wrap(values, dtype):
    """Exact Python integers in a dtype, modulo its range."""
    bits = 8 * dtype.itemsize
    flat = [int(v) & ((1 << bits) - 1) for v in np.asarray(values, dtype=object).reshape(-1)]
    unsigned = np.array(flat, dtype=np.dtype(f"uint{bits}")).reshape(np.shape(values))
    return unsigned.view(dtype) if unsigned.ndim else unsigned.reshape(1).view(dtype).reshape(())
