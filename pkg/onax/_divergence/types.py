"""Types: promotion, weak types, lists, updates in place, shapes that depend on values."""

import functools

import ml_dtypes
import numpy as np

import onax.numpy as jnp
from onax._divergence.case import FLOATS, INTEGERS, Case, Family, is_wide

_BOOL = np.dtype(np.bool_)
_COMPLEX = tuple(map(np.dtype, (np.complex64, np.complex128)))
_ALL = (_BOOL, *INTEGERS, *FLOATS, *_COMPLEX)

# The documented lattice: a dtype, and those directly above it.  Two dtypes promote to their least upper bound.
_ABOVE = {
    "bool": ("weak int",),
    "weak int": ("uint8", "int8"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": ("weak float",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("weak float",),
    "weak float": ("bfloat16", "float16", "weak complex"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "weak complex": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}


@functools.cache
def _upper(name):
    """Everything at or above a dtype."""
    names = {name}
    for above in _ABOVE[name]:
        names |= _upper(above)
    return frozenset(names)


def promote(a, b):
    """The least upper bound of two names in the lattice."""
    common = _upper(a) & _upper(b)
    return next(name for name in common if common <= _upper(name))


def _add(x, y):
    return x + y


_WIDE_DEFAULT = {"weak int": "int64", "weak float": "float64", "weak complex": "complex128"}


def _dtype(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def _lattice():
    for a in _ALL:
        for b in _ALL:
            x, y = np.ones(2, a), np.ones(2, b)
            result_dtype = _dtype(_WIDE_DEFAULT.get(name := promote(a.name, b.name), name))
            total = np.ones(2, bool) if result_dtype == _BOOL else np.full(2, 2, result_dtype)
            numpy = _numpy_promotion(a, b)
            yield Case(
                f"{a.name} + {b.name}",
                _add,
                _add,
                (x, y),
                total,
                dtype=a.name,
                shape="(2,)",
                x64=any(is_wide(d) or d.itemsize == 16 for d in (a, b, result_dtype)),
                cell=(a.name, b.name, "" if numpy == result_dtype.name else f"{result_dtype.name}, NumPy {numpy}"),
            )


def _numpy_promotion(a, b):
    try:
        return np.promote_types(a, b).name
    except TypeError:
        return "none"


_SCALARS = {"1": 1, "1.5": 1.5, "1j": 1j, "True": True}
_OF_SCALAR = {"1": "weak int", "1.5": "weak float", "1j": "weak complex", "True": "bool"}
_DEFAULT = {"weak int": "int32", "weak float": "float32", "weak complex": "complex64"}


@functools.cache
def _plus(text):
    value = _SCALARS[text]
    return lambda x: x + value


def _weak():
    narrow = [d for d in _ALL if not is_wide(d) and d.itemsize != 16]
    for dtype in narrow:
        for text, value in _SCALARS.items():
            name = promote(dtype.name, _OF_SCALAR[text])
            name = _DEFAULT.get(name, name)
            if name == "float64":
                name = "float32"
            result_dtype = _dtype(name)
            x = np.ones(2, dtype)
            plain = x.astype(object) + value if result_dtype != _BOOL else np.ones(2, bool)
            total = np.array([complex(v) if result_dtype.kind == "c" else v for v in plain]).astype(result_dtype)
            yield Case(f"{dtype.name} array + {text}", _plus(text), _plus(text), (x,), total, dtype=dtype.name,
                       shape="(2,)", cell=(dtype.name, text, name))  # fmt: skip


def _lists():
    for name in ("sum", "mean", "max", "sin", "exp", "sort", "cumsum", "reshape", "transpose", "argmax"):
        extra = ((3,),) if name == "reshape" else ()
        for kind, value in (("list", [1.0, 2.0, 3.0]), ("tuple", (1.0, 2.0, 3.0))):
            yield Case(
                f"{name}({kind})",
                lambda name=name, value=value, extra=extra: getattr(np, name)(value, *extra),
                lambda name=name, value=value, extra=extra: getattr(jnp, name)(value, *extra),
                (),
                "TypeError",
                dtype="float32",
                shape="(3,)",
            )


def _mutate_item(x):
    x[0] = 1
    return x


def _mutate_slice(x):
    x[1:] = 0
    return x


def _mutate_by_out(x):
    return np.add(x, x, out=x) if isinstance(x, np.ndarray) else jnp.add(x, x, out=x)


def _mutate_in_sort(x):
    x.sort()
    return x


def _add_in_place(x):
    y = x
    y += 1
    return x


def _updates():
    x = np.array([3, 2, 1], np.float32)
    yield Case("x.at[0].set(1)", _on_a_copy(_mutate_item), lambda x: x.at[0].set(1), (x,),
               np.array([1, 2, 1], np.float32), dtype="float32", shape="(3,)")  # fmt: skip
    yield Case("x[0] = 1", _on_a_copy(_mutate_item), _mutate_item, (x,), "TypeError", dtype="float32", shape="(3,)")
    yield Case("x[1:] = 0", _on_a_copy(_mutate_slice), _mutate_slice, (x,), "TypeError", dtype="float32", shape="(3,)")
    yield Case("add(x, x, out=x)", _on_a_copy(_mutate_by_out), _mutate_by_out, (x,),
               frozenset({"TypeError", "NotImplementedError"}), dtype="float32", shape="(3,)")  # fmt: skip
    yield Case("x.sort() changes x", _on_a_copy(_mutate_in_sort), _mutate_in_sort, (x,), x, dtype="float32",
               shape="(3,)")  # fmt: skip
    yield Case(
        "y = x; y += 1 changes x", _on_a_copy(_add_in_place), _add_in_place, (x,), x, dtype="float32", shape="(3,)"
    )


def _on_a_copy(function):
    return lambda x: function(x.copy())


_NON_STATIC = frozenset({"NonConcreteBooleanIndexError", "ConcretizationTypeError", "TracerIntegerConversionError",
                         "TypeError"})  # fmt: skip


def _shapes():
    x = np.array([3, 0, 1, 0, 3], np.int32)
    for name, numpy, onax in (
        ("x[x > 0]", lambda x: x[x > 0], lambda x: x[x > 0]),
        ("nonzero(x)[0]", lambda x: np.nonzero(x)[0].astype(np.int32), lambda x: jnp.nonzero(x)[0]),
        ("unique(x)", np.unique, jnp.unique),
        ("arange(x[0])", lambda x: np.arange(x[0], dtype=np.int32), lambda x: jnp.arange(x[0])),
        ("zeros(x[0])", lambda x: np.zeros(x[0], np.float32), lambda x: jnp.zeros(x[0])),
        ("repeat(x, x)", lambda x: np.repeat(x, x), lambda x: jnp.repeat(x, x)),
    ):
        yield Case(name, numpy, onax, (x,), numpy(x), traced_documented=_NON_STATIC, dtype="int32", shape="(5,)")
    size = "nonzero(x, size=4, fill_value=9)[0]"
    yield Case(size, lambda x: np.append(np.nonzero(x)[0], 9).astype(np.int32),
               lambda x: jnp.nonzero(x, size=4, fill_value=9)[0], (x,), np.array([0, 2, 4, 9], np.int32),
               dtype="int32", shape="(5,)")  # fmt: skip


FAMILIES = (
    Family(
        "promotion",
        "Promotion of dtypes",
        "Two dtypes promote to their least upper bound in one lattice, the same for arrays and scalars of NumPy: "
        "an integer and a float give that float, int32 and uint32 give int64, float16 and bfloat16 give float32. "
        "NumPy widens an integer and a float to float64, and has no rules for bfloat16.",
        "Convert explicitly where the width matters: x.astype(jnp.float32) + y.",
        _lattice,
        table=("left", "right"),
    ),
    Family(
        "weak-types",
        "Python scalars are weak",
        "A Python scalar takes the dtype of the array it meets, if the kinds allow; bool and integer arrays with a "
        "float give float32. NumPy gives float64 there.",
        "Nothing is needed; x * 2.0 keeps float16 and bfloat16.",
        _weak,
        table=("array", "scalar"),
    ),
    Family(
        "lists",
        "Lists are not arrays",
        "jnp functions raise TypeError for lists and tuples, because each element would be traced separately. NumPy "
        "converts them.",
        "Convert once: jnp.sum(jnp.array(values)).",
        _lists,
    ),
    Family(
        "in-place",
        "Arrays do not change",
        "x[i] = v raises TypeError, out= is refused, x.sort() returns a new array and `y += 1` makes a new y. NumPy "
        "changes the array, and every array that shares its memory.",
        "Use x = x.at[i].set(v), and use the results of methods.",
        _updates,
    ),
    Family(
        "dynamic-shapes",
        "Shapes that depend on values",
        "Under jit, and so in an export, the shape of a result must not depend on values: boolean masks, nonzero, "
        "unique and arange of a traced number raise an error. Eagerly they give NumPy's result.",
        "Use jnp.where(mask, x, 0), or pass size=, or mark the argument as static.",
        _shapes,
    ),
)
