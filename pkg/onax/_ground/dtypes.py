"""Dtypes: the promotion lattice, canonical dtypes, classification, extended dtypes.

The lattice, smaller to larger (`*` marks weak types, those of Python scalars):

    bool < int* < uint8 < uint16 < uint32 < uint64 < float*
                  uint8 < int16,  uint16 < int32,  uint32 < int64
           int* < int8 < int16 < int32 < int64 < float*
    float* < bfloat16, float16 < float32 < float64
    float* < complex* < complex64 < complex128,   float32 < complex64,   float64 < complex128

`int*` is also below the 1-, 2- and 4-bit integers and `float*` below the 4-, 6- and 8-bit floats; nothing is above
those, so they promote with weak types only.  The common type of several types is their least upper bound.

With 64-bit dtypes off (the default) `canonicalize_dtype` maps each 64-bit dtype to the 32-bit dtype of its kind.
"""

import warnings
from typing import Any

import ml_dtypes
import numpy as np

from onax._ground import source
from onax._ground.config import STRICT_PROMOTION, X64, config
from onax._ground.errors import TruncatedDtypeError, TypePromotionError
from onax._native.array import Array
from onax._native.avals import OpaqueDType
from onax._native.context import option_word

bfloat16 = ml_dtypes.bfloat16
finfo, iinfo = ml_dtypes.finfo, ml_dtypes.iinfo  # these know ml_dtypes' types, too; NumPy's know NumPy's only
float0 = np.dtype([("float0", np.void, 0)])

_bool = np.dtype("bool")
_INTS = tuple(np.dtype(f"int{n}") for n in (8, 16, 32, 64))
_UINTS = tuple(np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
_bf16, _f16, _f32, _f64 = (np.dtype(t) for t in (bfloat16, "float16", "float32", "float64"))
_c64, _c128 = np.dtype("complex64"), np.dtype("complex128")


def _ml(*names):
    """Those of the named dtypes that the installed version of ml_dtypes has."""
    return tuple(np.dtype(getattr(ml_dtypes, name)) for name in names if name in ml_dtypes.__all__)


_SMALL_FLOATS = _ml(
    "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
)  # fmt: skip
_SMALL_INTS = _ml("int1", "int2", "int4")
_SMALL_UINTS = _ml("uint1", "uint2", "uint4")

_INT_SET = frozenset(_INTS + _SMALL_INTS)
_UINT_SET = frozenset(_UINTS + _SMALL_UINTS)
_FLOAT_SET = frozenset((_bf16, _f16, _f32, _f64, *_SMALL_FLOATS))
_COMPLEX_SET = frozenset((_c64, _c128))
ALL_DTYPES = frozenset((_bool, *_INT_SET, *_UINT_SET, *_FLOAT_SET, *_COMPLEX_SET))
_OWN_FLOATS = frozenset((_bf16, *_SMALL_FLOATS))  # their NumPy kind is void

# --- Python scalars -----------------------------------------------------------------------------------------

python_scalar_dtypes = {bool: _bool, int: _INTS[3], float: _f64, complex: _c128}
_DEFAULTS_32 = {bool: _bool, int: _INTS[2], float: _f32, complex: _c64}
_CANONICAL_32 = {_INTS[3]: _INTS[2], _UINTS[3]: _UINTS[2], _f64: _f32, _c128: _c64}
X64_DTYPES = frozenset(_CANONICAL_32)  # those that `jax_enable_x64` changes


def register_weak_scalar_type(type_, like):
    """Makes values of `type_` promote as Python scalars of type `like` (symbolic dimensions promote as integers)."""
    python_scalar_dtypes[type_] = python_scalar_dtypes[like]
    _DEFAULTS_32[type_] = _DEFAULTS_32[like]
    _WEAK_NODES[type_] = _WEAK_NODES[like]


def is_scalar_type(type_):
    """Whether values of a class are Python scalars; subclasses of int, float and complex are registered when met."""
    if type_ in python_scalar_dtypes:
        return True
    if issubclass(type_, np.generic):  # np.float64 is a float, too
        return False
    for like in (int, float, complex):
        if issubclass(type_, like):
            register_weak_scalar_type(type_, like)
            return True
    return False


def scalar_dtype(type_):
    """The dtype that a Python scalar of this type gets."""
    return (python_scalar_dtypes if option_word() & X64 else _DEFAULTS_32)[type_]


def int_dtype_for_dim(size):
    """The dtype of indices into an axis: int32 where every index fits, and the default integer for a symbolic size."""
    if not isinstance(size, int):
        return scalar_dtype(int)
    return np.dtype(np.int64 if size > np.iinfo(np.int32).max else np.int32)


# --- extended dtypes ----------------------------------------------------------------------------------------


class extended(np.generic):
    """The scalar type above those of all extended dtypes, for `issubdtype`."""

    __module__ = "onax.dtypes"


class prng_key(extended):
    """The scalar type of random-key dtypes, for `issubdtype`."""

    __module__ = "onax.dtypes"


class ExtendedDType(OpaqueDType):
    """A dtype whose elements are opaque: logically scalars, physically `element_shape` of `element_dtype`.

    An array of it is stored as a NumPy array of the logical shape whose dtype is `storage`, a void dtype of the
    element's size, so that kernels that only move data work on it unchanged.
    """

    __slots__ = ("element_dtype", "element_shape", "itemsize", "name", "storage")
    type = extended

    def __init__(self, name, element_shape, element_dtype):
        self.name = name
        self.element_shape = tuple(element_shape)
        self.element_dtype = np.dtype(element_dtype)
        count = 1
        for n in self.element_shape:
            count *= n
        self.itemsize = count * self.element_dtype.itemsize
        self.storage = np.dtype(f"V{self.itemsize}")

    def __repr__(self):
        return self.name


class KeyType(ExtendedDType):
    """The dtype of arrays of random keys of one generator.

    `impl` is the generator; this class reads its `tag` (three letters) and `key_shape` (of uint32).
    """

    __slots__ = ("_impl",)
    type = prng_key

    def __init__(self, impl):
        super().__init__(f"key<{impl.tag}>", impl.key_shape, np.uint32)
        self._impl = impl

    def __eq__(self, other):
        return type(other) is KeyType and self._impl == other._impl

    def __hash__(self):
        return hash((KeyType, self._impl))

    def __reduce__(self):
        return KeyType, (self._impl,)


# --- making and checking dtypes -----------------------------------------------------------------------------


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays have: 64-bit dtypes become 32-bit ones unless they are on."""
    if isinstance(dtype, ExtendedDType):
        if allow_extended_dtype:
            return dtype
        raise ValueError(f"canonicalize_dtype got the extended dtype {dtype}, which is not allowed here.")
    if type(dtype) is type and dtype in python_scalar_dtypes:
        return scalar_dtype(dtype)
    dtype = np.dtype(dtype)
    return dtype if option_word() & X64 else _CANONICAL_32.get(dtype, dtype)


def _check_array_dtype(dtype, value=None):
    """Returns the dtype; raises TypeError if arrays cannot have it."""
    if dtype in ALL_DTYPES or dtype is float0 or dtype == float0:
        return dtype
    if dtype.newbyteorder("=") in ALL_DTYPES:
        return dtype.newbyteorder("=")
    what = f"dtype {dtype}" if value is None else f"Value {value!r} with dtype {dtype}"
    raise TypeError(f"{what} is not a valid JAX array type. Only arrays of numeric types are supported by JAX.")


def float0_error(name, what=" array", comma=""):
    """The TypeError for a float0 operand of an operation."""
    return TypeError(
        f"Called {name} with a float0{what}. float0s do not support any operations by design{comma} because they are "
        "not compatible with non-trivial vector spaces. No implicit dtype conversion is done. You can use "
        "np.zeros_like(arr, dtype=np.float) to cast a float0 array to a regular zeros array."
    )


def check_user_dtype(dtype, function=None):
    """The canonical dtype for a user's argument `dtype=`; warns if it truncates a 64-bit dtype.

    Raises TypeError for a value that is not a numeric or bool dtype.
    """
    if isinstance(dtype, ExtendedDType):
        return dtype
    if type(dtype) is type and dtype in python_scalar_dtypes:
        return scalar_dtype(dtype)
    if isinstance(dtype, type) and issubclass(dtype, extended):
        raise TypeError(f"{dtype.__name__} is a family of dtypes; give the dtype of a particular key array.")
    if isinstance(dtype, Array):
        raise ValueError(
            "Passing an array as a dtype argument is no longer supported; instead of dtype=arr use dtype=arr.dtype."
        )
    where = "" if function is None else f" in {function}"
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype not in ALL_DTYPES:
        numpy_dtype = numpy_dtype.newbyteorder("=")
        if numpy_dtype not in ALL_DTYPES and numpy_dtype != float0:
            raise TypeError(f"JAX only supports number, bool, and string dtypes, got dtype {dtype}{where}")
    return _canonicalize_request(numpy_dtype, function)


def _canonicalize_request(numpy_dtype, function):
    """The canonical form of a dtype that the user names, or what `jax_explicit_x64_dtypes` says instead."""
    if option_word() & X64 or numpy_dtype not in _CANONICAL_32:
        return numpy_dtype
    canonical = _CANONICAL_32[numpy_dtype]
    mode = config.jax_explicit_x64_dtypes
    if mode == "allow":
        return numpy_dtype
    requested = "" if function is None else f" requested in {function}"
    text = f"Explicitly requested dtype {numpy_dtype.name}{requested} is not available"
    if mode == "strict":
        location = source.user_location()
        where = "" if location is None else f"\nIn {source.summarize(location)}."
        raise TruncatedDtypeError(f"strict: {text}: it would be truncated to {canonical.name}.{where}")
    if mode == "error":
        raise ValueError(
            f"{text}. To enable more dtypes, set the jax_enable_x64 or allow_explicit_x64_dtypes configuration options."
            " See https://github.com/jax-ml/jax#current-gotchas for more."
        )
    warnings.warn(
        f"{text}, and will be truncated to dtype {canonical.name}. To enable more dtypes, set the jax_enable_x64 "
        "configuration option or the JAX_ENABLE_X64 shell environment variable. "
        "See https://github.com/jax-ml/jax#current-gotchas for more.",
        stacklevel=source.stacklevel(),
    )
    return canonical


def dtype(x, *, canonicalize=True):
    """The dtype of a value, or that a type or name means; canonical unless told otherwise.

    Raises TypeError for a value without a dtype, and ValueError for None.
    """
    kind = type(x)
    if kind in python_scalar_dtypes:
        return scalar_dtype(kind) if canonicalize else python_scalar_dtypes[kind]
    if isinstance(x, ExtendedDType):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        result = _check_array_dtype(x.dtype, x if x.ndim == 0 else None)
    elif isinstance(x, (str, np.dtype, type)):
        if x in python_scalar_dtypes:
            return scalar_dtype(x) if canonicalize else python_scalar_dtypes[x]
        result = _check_array_dtype(np.dtype(x), x if isinstance(x, str) else None)
    elif x is None:
        raise ValueError("Invalid argument to dtype: None.")
    else:
        try:
            result = x.dtype
        except AttributeError:
            if is_scalar_type(kind):
                return dtype(x, canonicalize=canonicalize)
            raise TypeError(f"Cannot determine dtype of {x!r}") from None
        if isinstance(result, ExtendedDType):
            return result
        result = _check_array_dtype(np.dtype(result))
    return canonicalize_dtype(result) if canonicalize else result


def _names_dtype(x):
    """Whether this is a dtype, or names one: not a value, and no type of Python's scalars."""
    return isinstance(x, (str, np.dtype)) or (isinstance(x, type) and issubclass(x, np.generic))


def requested_dtype(x: Any) -> "np.dtype | ExtendedDType":
    """Returns the dtype of a value, or the dtype that a type or name means.

    Args:
      x: array, Python scalar, type, name or dtype.

    Returns:
      np.dtype.  Where x64 is off, a value and Python's own types have 32 bits; for a dtype of 64 bits it is the option
      `jax_explicit_x64_dtypes` that says whether it becomes one of 32 bits.

    Raises:
      TypeError: the value has no dtype.
      ValueError: the value is None, or a dtype of 64 bits that the option refuses.

    Examples:
      >>> lax.dtype(1.0), lax.dtype("int16")
      (dtype('float32'), dtype('int16'))
    """
    if _names_dtype(x):
        return _canonicalize_request(dtype(x, canonicalize=False), "dtype")
    return dtype(x)


def is_weakly_typed(x):
    """Whether the value is weakly typed: a Python scalar, or an array made from one."""
    if type(x) in python_scalar_dtypes:
        return type(x) is not bool
    if isinstance(x, (np.ndarray, np.generic)):
        return False
    weak = getattr(x, "weak_type", None)  # values of other libraries may lack it
    return is_scalar_type(type(x)) if weak is None else bool(weak)


# --- promotion ----------------------------------------------------------------------------------------------

_i, _f, _c = "int*", "float*", "complex*"
_WEAK_NODES = {bool: _bool, int: _i, float: _f, complex: _c}
_NODE_TYPES = {_i: int, _f: float, _c: complex}
_NODE_OF_KIND = {"b": _bool, "i": _i, "u": _i, "f": _f, "c": _c}

_LATTICE = {
    _bool: (_i,),
    _i: (_UINTS[0], _INTS[0], *_SMALL_INTS, *_SMALL_UINTS),
    _UINTS[0]: (_INTS[1], _UINTS[1]),
    _UINTS[1]: (_INTS[2], _UINTS[2]),
    _UINTS[2]: (_INTS[3], _UINTS[3]),
    _UINTS[3]: (_f,),
    _INTS[0]: (_INTS[1],),
    _INTS[1]: (_INTS[2],),
    _INTS[2]: (_INTS[3],),
    _INTS[3]: (_f,),
    _f: (*_SMALL_FLOATS, _bf16, _f16, _c),
    _bf16: (_f32,),
    _f16: (_f32,),
    _f32: (_f64, _c64),
    _f64: (_c128,),
    _c: (_c64,),
    _c64: (_c128,),
    **dict.fromkeys((_c128, *_SMALL_FLOATS, *_SMALL_INTS, *_SMALL_UINTS), ()),
}


def _upper_sets(edges):
    """For each node, the set of all nodes above it, itself included."""
    upper = {}

    def visit(node):
        if node not in upper:
            upper[node] = frozenset((node,)).union(*(visit(above) for above in edges[node]))
        return upper[node]

    for node in edges:
        visit(node)
    return upper


_UPPER = _upper_sets(_LATTICE)
# strict promotion has only the edges from weak types to all types of the same or a larger kind
_STRICT_EDGES = {
    _i: (_f, *_INTS, *_UINTS, *_SMALL_INTS, *_SMALL_UINTS),
    _f: (_c, _bf16, _f16, _f32, _f64, *_SMALL_FLOATS),
    _c: (_c64, _c128),
    **dict.fromkeys(ALL_DTYPES, ()),
}
_UPPER_STRICT = _upper_sets(_STRICT_EDGES)


def _label(node):
    """The node as an error shows it."""
    return str(_NODE_TYPES[node]) if node in _NODE_TYPES else node.name


def _join(nodes, strict):
    """The least upper bound of a set of nodes; raises TypePromotionError when there is none."""
    upper = _UPPER_STRICT if strict else _UPPER
    bounds = frozenset.intersection(*(upper[node] for node in nodes))
    for node in bounds:
        if upper[node] == bounds:
            return node
    labels = tuple(_label(node) for node in nodes)
    text = f"Input dtypes {labels} have no available implicit dtype promotion path"
    if strict:
        raise TypePromotionError(
            f"{text} when jax_numpy_dtype_promotion=strict. Try explicitly casting inputs to the desired output type, "
            "or set jax_numpy_dtype_promotion=standard."
        )
    small, example = _small_kind(nodes)
    raise TypePromotionError(
        f"{text}. To avoid unintended promotion, {small} do not support implicit promotion. If you'd like your "
        f"inputs to be promoted to another type, you can do so explicitly using e.g. x.astype('{example}')"
    )


def _small_kind(nodes):
    """The kind of small dtype that prevents promotion, and an example of a dtype to cast to."""
    floats = {ml_dtypes.finfo(n).bits for n in nodes if n in _SMALL_FLOATS}
    if floats:
        return f"{max(floats)}-bit floats", "float32"
    return "1-bit, 2-bit and 4-bit integers", "int32"


_join_cache = {False: {}, True: {}}


def _join_all(nodes, strict):
    """The least upper bound of nodes, cached by their order."""
    known = _join_cache[strict]
    result = known.get(nodes)
    if result is None:
        result = known[nodes] = nodes[0] if len(nodes) == 1 else _join(nodes, strict)
    return result


_pair_cache = ({}, {}, {}, {})  # pairs of dtypes -> join, by the two option bits that matter


def promote_types(a, b):
    """The dtype to which dtypes a and b promote.  A Python scalar type means its weak type.

    Unlike NumPy's: int32 with float32 gives float32, int64 with bfloat16 gives bfloat16.
    Raises TypePromotionError when there is none.
    """
    word = option_word()
    known = _pair_cache[word & (X64 | STRICT_PROMOTION)]
    try:
        return known[a, b]
    except (KeyError, TypeError):
        pass
    nodes = (_node_of_type(a), _node_of_type(b))
    unique = nodes if nodes[0] != nodes[1] else nodes[:1]
    joined = _join_all(unique, bool(word & STRICT_PROMOTION))
    result = python_scalar_dtypes[_NODE_TYPES[joined]] if joined in _NODE_TYPES else joined
    if joined is _INTS[3] and not word & X64 and result not in nodes:
        result = _INTS[2]  # int32 with uint32
    known[a, b] = result
    return result


def _node_of_type(dtype_like):
    """The lattice's node for a dtype or a Python scalar type."""
    if isinstance(dtype_like, type) and dtype_like in _WEAK_NODES:
        return _WEAK_NODES[dtype_like]
    node = np.dtype(dtype_like)
    if node not in _UPPER:
        raise ValueError(f"dtype={node!r} is not a valid dtype for JAX type promotion.")
    return node


def _node_of_value(x):
    """The lattice's node for a value, type or dtype."""
    kind = type(x)
    if kind in _WEAK_NODES:
        return _WEAK_NODES[kind]
    if isinstance(x, type) and x in _WEAK_NODES:
        return _WEAK_NODES[x]
    own = dtype(x)
    if isinstance(own, ExtendedDType):
        return own
    if own not in _UPPER:
        raise ValueError(f"dtype={own!r} is not a valid dtype for JAX type promotion.")
    if is_weakly_typed(x):
        return _NODE_OF_KIND[_kind_letter(own)]
    return own


def _kind_letter(dtype_):
    """b, i, u, f or c."""
    if dtype_ in _FLOAT_SET:
        return "f"
    if dtype_ in _INT_SET:
        return "i"
    return "u" if dtype_ in _UINT_SET else dtype_.kind


def lattice_result_type(*args):
    """The common dtype of the arguments and whether it is weak.

    Arguments are arrays, scalars, types or dtypes.  If all are weak and of one kind, their own dtype stays.
    """
    if len(args) == 1:
        return dtype(args[0]), is_weakly_typed(args[0])
    nodes = tuple(dict.fromkeys(_node_of_value(x) for x in args))
    if len(nodes) == 1 and nodes[0] in _NODE_TYPES and not option_word() & STRICT_PROMOTION:
        operand_dtypes = [dtype(x) for x in args]
        out = operand_dtypes[0]
        for other in operand_dtypes[1:]:
            out = out if out == other else promote_types(out, other)
        return out, True
    return _join_nodes(nodes)


def _join_nodes(nodes):
    """The dtype of the least upper bound of distinct nodes, and whether it is weak."""
    if len(nodes) == 1 and nodes[0] not in _NODE_TYPES:
        return nodes[0], False
    for node in nodes:
        if isinstance(node, ExtendedDType):
            others = ", ".join(n.name if not isinstance(n, str) else n for n in nodes)
            raise ValueError(f"dtype={node} is not a valid dtype for JAX type promotion.\nThe operands are {others}.")
    joined = _join_all(nodes, bool(option_word() & STRICT_PROMOTION))
    if joined in _NODE_TYPES:
        return scalar_dtype(_NODE_TYPES[joined]), True
    return joined, False


_results = (
    {},
    {},
    {},
    {},
)  # kinds of operands -> (dtype, weak type), by the two option bits that matter


def result_type(*args, return_weak_type_flag=False):
    """The canonical dtype to which arrays, scalars and dtypes promote; with the flag, also whether it is weak.

    Raises ValueError without arguments and TypePromotionError if there is no such dtype.
    """
    known = _results[option_word() & (X64 | STRICT_PROMOTION)]
    try:
        key = tuple([_kind_of(x) for x in args])
        result = known[key]
    except (AttributeError, KeyError) as error:
        if not args:
            raise ValueError("at least one array or dtype is required") from None
        dtype_, weak = lattice_result_type(*args)
        result = (canonicalize_dtype(dtype_, allow_extended_dtype=True), weak)
        if type(error) is KeyError:
            known[key] = result
    return result if return_weak_type_flag else result[0]


def requested_result_type(*args):
    """(dtype, whether it is weak) to which arrays, scalars, and dtypes that the user names, promote.

    A weak dtype is the default one of its kind, whatever arrays have.
    """
    if not any(map(_names_dtype, args)):
        dtype_, weak = result_type(*args, return_weak_type_flag=True)
    else:
        nodes = tuple(dict.fromkeys(requested_dtype(x) if _names_dtype(x) else _node_of_value(x) for x in args))
        dtype_, weak = _join_nodes(nodes)
        if config.jax_explicit_x64_dtypes != "allow":
            dtype_ = canonicalize_dtype(dtype_, allow_extended_dtype=True)
    if not weak or dtype_ == _bool:
        return dtype_, False
    if dtype_ in _UINT_SET:
        return canonicalize_dtype(_UINTS[3]), True
    return scalar_dtype(_NODE_TYPES[_NODE_OF_KIND[_kind_letter(dtype_)]]), True


def _kind_of(x):
    """The part of an operand that decides the result type; raises AttributeError for a type or dtype."""
    kind = type(x)
    if kind in _WEAK_NODES:
        return kind
    if kind is np.ndarray:
        return x.dtype
    return x.dtype, x.weak_type


# --- classification -----------------------------------------------------------------------------------------

_ABSTRACT_KINDS = {
    np.generic: ALL_DTYPES,
    np.number: ALL_DTYPES - {_bool},
    np.integer: _INT_SET | _UINT_SET,
    np.signedinteger: _INT_SET,
    np.unsignedinteger: _UINT_SET,
    np.inexact: _FLOAT_SET | _COMPLEX_SET,
    np.floating: _FLOAT_SET,
    np.complexfloating: _COMPLEX_SET,
    np.bool_: frozenset((_bool,)),
}


def issubdtype(a: Any, b: Any) -> bool:
    """Returns whether a dtype belongs to another, or to a kind.

    Unlike in NumPy bfloat16 and the small floats are floating, the small integers integers.

    Args:
      a: a dtype or a scalar type.
      b: a dtype, a scalar type such as `jnp.floating`, or `onax.dtypes.prng_key`.

    Returns:
      A bool.

    Examples:
      >>> jnp.issubdtype(jnp.bfloat16, jnp.floating)
      True
    """
    members = _ABSTRACT_KINDS.get(b) if isinstance(b, type) else None
    if members is not None and isinstance(a, np.dtype) and a in ALL_DTYPES:
        return a in members
    a_type = _scalar_type(a)
    b_type = _scalar_type(b)
    if isinstance(a, ExtendedDType) and isinstance(b, ExtendedDType):
        return a == b
    for x in (a_type, b_type):
        if issubclass(x, extended):
            return not isinstance(b, ExtendedDType) and issubclass(a_type, b_type)
    members = _ABSTRACT_KINDS.get(b_type)
    if members is not None and a_type not in _ABSTRACT_KINDS:
        own = np.dtype(a_type)
        if own in ALL_DTYPES:
            return own in members
    return np.issubdtype(a_type, b_type)


def _scalar_type(x):
    """The scalar type behind a dtype, a name or a type."""
    if isinstance(x, ExtendedDType):
        return x.type
    if isinstance(x, type) and issubclass(x, np.generic):
        return x
    return np.dtype(x).type


_ISDTYPE_KINDS = {
    "bool": frozenset((_bool,)),
    "signed integer": _INT_SET,
    "unsigned integer": _UINT_SET,
    "integral": _INT_SET | _UINT_SET,
    "real floating": _FLOAT_SET,
    "complex floating": _COMPLEX_SET,
    "numeric": ALL_DTYPES - {_bool},
}


_ABSTRACT_TYPES = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
    np.complexfloating, np.flexible, np.character,
)  # fmt: skip


def isdtype(dtype, kind):
    """Whether the dtype is of a kind of the array API ("bool", "integral", ...), a given dtype, or one of a tuple."""
    own = np.dtype(dtype)
    for item in kind if isinstance(kind, tuple) else (kind,):
        abstract = isinstance(item, type) and issubclass(item, np.generic) and item in _ABSTRACT_TYPES
        if abstract or isinstance(item, (int, float, complex, list, dict)):
            raise TypeError(f"Expected kind to be a dtype, string, or tuple; got kind={item!r}")
        if isinstance(item, str) and item in _ISDTYPE_KINDS:
            if own in _ISDTYPE_KINDS[item]:
                return True
            continue
        try:
            item_dtype = np.dtype(item)
        except TypeError:
            if not isinstance(item, (str, type)):
                raise TypeError(f"Expected kind to be a dtype, string, or tuple; got kind={item!r}") from None
            raise ValueError(
                f"Unrecognized kind={item!r} expected one of {list(_ISDTYPE_KINDS)}, or a compatible input "
                "for jnp.dtype()"
            ) from None
        if own == item_dtype:
            return True
    return False


def is_float(dtype_):
    """Whether this is a real floating dtype (quick; for np.dtype only)."""
    return dtype_ in _FLOAT_SET


def is_inexact(dtype_):
    """Whether this is a real or complex floating dtype (quick)."""
    return dtype_ in _FLOAT_SET or dtype_ in _COMPLEX_SET


def is_complex(dtype_):
    """Whether this is a complex dtype (quick)."""
    return dtype_ in _COMPLEX_SET


def is_integer(dtype_):
    """Whether this is a signed or unsigned integer dtype (quick)."""
    return dtype_ in _INT_SET or dtype_ in _UINT_SET


def is_unsigned(dtype_):
    """Whether this is an unsigned integer dtype (quick)."""
    return dtype_ in _UINT_SET


def is_extended(dtype_):
    """Whether this is an extended dtype."""
    return isinstance(dtype_, ExtendedDType)


def itemsize_bits(dtype):
    """Bits of an element's value: 4 for int4, although it is stored in a byte."""
    if isinstance(dtype, ExtendedDType):
        return dtype.itemsize * 8
    own = np.dtype(dtype)
    if own in _SMALL_INTS or own in _SMALL_UINTS:
        return ml_dtypes.iinfo(own).bits
    if own in _OWN_FLOATS:
        return ml_dtypes.finfo(own).bits
    return own.itemsize * 8


def scalar_type_of(x):
    """The Python scalar type (bool, int, float, complex) that matches the value's kind."""
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[_kind_letter(np.dtype(dtype(x)))]


def to_inexact_dtype(dtype_):
    """The floating dtype in which functions such as `sin` compute: 64-bit stays, else integers become float32."""
    if dtype_ in _FLOAT_SET or dtype_ in _COMPLEX_SET:
        return dtype_
    return _f64 if dtype_ in (_INTS[3], _UINTS[3]) else _f32


def to_numeric_dtype(dtype_):
    """The dtype, bool as int32 (also with 64-bit dtypes on, as in JAX)."""
    return np.dtype(np.int32) if dtype_ == _bool else dtype_


def to_complex_dtype(dtype_):
    """The complex dtype of at least this precision."""
    return _c128 if to_inexact_dtype(dtype_) in (_f64, _c128) else _c64


def real_dtype(dtype_):
    """The dtype of the real part."""
    return {_c64: _f32, _c128: _f64}.get(dtype_, dtype_)


_SHORT = {"bool": "bool", "bfloat16": "bf16", "float0": "float0"}


def short_name(dtype_):
    """The dtype as jaxprs print it: f32, i8, bf16, bool, key<fry>."""
    known = _SHORT.get(dtype_)
    if known is None:
        if isinstance(dtype_, ExtendedDType):
            return dtype_.name
        name = "float0" if dtype_ == float0 else dtype_.name
        short = _SHORT.get(name)
        if short is None:
            short = name.replace("complex", "c").replace("float", "f").replace("uint", "u").replace("int", "i")
        known = _SHORT[dtype_] = short
    return known


def primal_tangent_dtype(dtype_: Any) -> Any:
    """Returns the dtype of tangents of values of a dtype.

    Args:
      dtype_: a dtype.

    Returns:
      The dtype itself if it is inexact, else float0.

    Examples:
      >>> onax.experimental.primal_tangent_dtype(jnp.float32)
      dtype([('float0', 'V')])
    """
    return dtype_ if dtype_ in _FLOAT_SET or dtype_ in _COMPLEX_SET else float0
