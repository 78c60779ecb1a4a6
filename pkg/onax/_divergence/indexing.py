"""Indices beyond the ends: reads clamp or fill, writes are dropped, slices are moved inside."""

import functools

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._divergence.case import Case, Family

_DTYPES = tuple(map(np.dtype, (np.float32, np.int32, np.uint8, np.bool_, np.complex64, np.float16)))
_INDICES = np.array([0, 4, 5, 7, 2**31 - 1, -1, -5, -6, -100, -(2**31)], np.int32)
_LENGTH = 5


def _operand(dtype, shape=(_LENGTH,)):
    values = np.arange(1, 1 + int(np.prod(shape)))
    return (values % 2 == 1 if dtype.kind == "b" else values).astype(dtype).reshape(shape)


def _fill(dtype):
    """The result of an out-of-bounds read in mode "fill": NaN, the least or the largest integer, True."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return {"b": True, "c": complex(np.nan, 0.0)}.get(dtype.kind, np.nan)


def _read(x, indices, mode):
    """The documented read of x along its first axis."""
    length, out = len(x), []
    for index in map(int, indices):
        if mode == "wrap":
            out.append(x[index % length])
            continue
        position = index + length if index < 0 else index
        if mode == "fill" and not 0 <= position < length:
            out.append(np.full(x.shape[1:], _fill(x.dtype), x.dtype))
        else:
            out.append(x[min(max(position, 0), length - 1)])
    return np.array(out, x.dtype)


def _numpy_read(x, indices):
    return x[indices]


def _reads():
    for dtype in _DTYPES:
        for shape in ((_LENGTH,), (_LENGTH, 2)):
            x = _operand(dtype, shape)
            for index in _INDICES:
                one = np.array([index], np.int32)
                for mode, read in _READS.items():
                    documented = _read(x, one, "clip" if mode == "x[i]" else mode)
                    yield Case(f"{mode}, i = {index}", _numpy_read, read, (x, one), documented,
                               dtype=dtype.name, shape=str(shape))  # fmt: skip


_READS = {
    "x[i]": lambda x, i: x[i],
    "clip": lambda x, i: x.at[i].get(mode="clip"),
    "fill": lambda x, i: x.at[i].get(mode="fill"),
    "wrap": lambda x, i: jnp.take(x, i, axis=0, mode="wrap"),
}


def _write(x, indices, operation, mode):
    """x after the documented write: an index outside is dropped, or clamped with mode "clip"."""
    out, length = x.copy(), len(x)
    for index in map(int, indices):
        position = index + length if index < 0 else index
        if mode == "clip":
            position = min(max(position, 0), length - 1)
        if 0 <= position < length:
            out[position] = operation(out[position], x.dtype.type(3))
    return out


@functools.cache
def _numpy_write(name):
    def write(x, i):
        out = x.copy()
        if name == "set":
            out[i] = x.dtype.type(3)
        else:
            _UFUNCS[name].at(out, i, x.dtype.type(3))
        return out

    return write


_UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
_OPERATIONS = {"set": lambda a, b: b} | _UFUNCS


@functools.cache
def _onax_write(name, mode):
    def write(x, i):
        return getattr(x.at[i], name)(jnp.asarray(3, x.dtype), mode=mode)

    return write


def _writes():
    for dtype in map(np.dtype, (np.float32, np.int32, np.uint8)):
        for shape in ((_LENGTH,), (_LENGTH, 2)):
            x = _operand(dtype, shape)
            for index in _INDICES:
                one = np.array([index], np.int32)
                for name, operation in _OPERATIONS.items():
                    for mode in (None, "clip"):
                        title = f".at[i].{name}{'' if mode is None else ', mode=clip'}, i = {index}"
                        yield Case(title, _numpy_write(name), _onax_write(name, mode), (x, one),
                                   _write(x, one, operation, mode), dtype=dtype.name, shape=str(shape))  # fmt: skip


_SIZE = 3


def _numpy_slice(x, start):
    first = int(start)
    return x[first : first + _SIZE]


def _numpy_update(x, update, start):
    out = x.copy()
    first = int(start)
    out[first : first + len(update)] = update
    return out


def _onax_slice(x, start):
    return lax.dynamic_slice(x, (start,), (_SIZE,))


def _onax_update(x, update, start):
    return lax.dynamic_update_slice(x, update, (start,))


def _slices():
    starts = (0, 2, 3, 4, 5, 100, 2**31 - 1, -1, -2, -5, -6, -(2**31))
    for dtype in map(np.dtype, (np.float32, np.int32, np.bool_)):
        x = _operand(dtype)
        update = _operand(dtype, (_SIZE,))[::-1].copy()
        for first in starts:
            start = np.array(first, np.int32)
            inside = min(max(first + _LENGTH if first < 0 else first, 0), _LENGTH - _SIZE)
            yield Case(f"dynamic_slice, start {first}, size {_SIZE}", _numpy_slice, _onax_slice, (x, start),
                       x[inside : inside + _SIZE], dtype=dtype.name, shape=f"({_LENGTH},)")  # fmt: skip
            after = x.copy()
            after[inside : inside + _SIZE] = update
            yield Case(f"dynamic_update_slice, start {first}, size {_SIZE}", _numpy_update, _onax_update,
                       (x, update, start), after, dtype=dtype.name, shape=f"({_LENGTH},)")  # fmt: skip


FAMILIES = (
    Family(
        "oob-reads",
        "Reading beyond the ends",
        "A read beyond the ends of the array gives the nearest element (x[i], mode=clip), a fill value (mode=fill: NaN,"
        " the least integer, the largest unsigned one, True) or the element at i modulo the length (mode=wrap). "
        "NumPy raises IndexError.",
        "Check indices first, or choose the mode: x.at[i].get(mode='fill', fill_value=...).",
        _reads,
    ),
    Family(
        "oob-writes",
        "Writing beyond the ends",
        "A write beyond the ends of the array is dropped; mode=clip moves it to the nearest element. NumPy raises "
        "IndexError.",
        "Check indices first, or use x.at[i].set(v, mode='clip') where the nearest element is meant.",
        _writes,
    ),
    Family(
        "slices",
        "Dynamic slices that do not fit",
        "The start of dynamic_slice and dynamic_update_slice is moved so that the whole slice lies inside; a negative "
        "start counts from the end. NumPy returns a shorter slice.",
        "Keep starts in range, or use static slices x[a:b], which become shorter as in NumPy.",
        _slices,
    ),
)
