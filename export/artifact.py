"""The .onnx artefact: a model whose metadata says how to call it as a function of trees.

    onax.format      version of the entries below; a newer one is refused
    onax.version     version of onax that wrote the file
    onax.function    name of the function
    onax.source      its source location
    onax.signature   JSON: for arguments and results the tree, and each leaf's name, path, shape text, dtype, weak type;
                     constraints on symbolic dimensions; the options that were set
    onax.external    JSON: name, size and SHA-256 of the second file, if it holds large constants (see external)
    onax.vjp         the artefact of the vector-Jacobian product in base64, if it was asked for
    onax.digest      SHA-256 of the whole file with this value written as zeros

Loading unpickles nothing and looks up no class by its Python name.  A node class is written under the name with which
it was registered for serialization; a class that was not registered is written as a record and loaded as a named tuple
of the same name and fields (calls then compare arguments by key paths).
"""

import functools
import hashlib
import json
import os
import struct
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._core.paths import flatten_one_level_with_keys, skeleton
from onax._ground import dtypes, lazy
from onax._ground.dims import SymbolicScope, parse_dims
from onax._ground.errors import ArtifactError, ExportError
from onax._ground.protobuf_fields import write_field
from onax._ground.typing import Class
from onax._native.avals import ShapedArray
from onax._native.tree import PyTreeDef, is_tree_node
from onax._prims.random_generators import find_impl, key_dtype

FORMAT = 1
_ZEROS = "0" * 64
LIMIT = 2**31 - 1  # bytes of a protobuf message
_METADATA_FIELD = 14  # of ModelProto, a repeated StringStringEntryProto
# What decoding a damaged message raises, in protobuf's and onnx's own code.
DAMAGE = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    NotImplementedError,
    RecursionError,
    MemoryError,
    struct.error,
)

# --- trees as JSON ------------------------------------------------------------------------------------------------

_by_type: dict = {}  # class -> (name, data to bytes, None for a named tuple)
_by_name: dict = {}  # name -> (class, bytes to data, rebuild or None)


def register_pytree_node_serialization(
    nodetype: Class,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Any], Any] | None = None,
) -> Class:
    """Registers a class of containers, so that exports with it in their trees can be written.

    Args:
      nodetype: the class, a registered container.
      serialized_name: its name in files.
      serialize_auxdata: a function from the static data to bytes.
      deserialize_auxdata: a function from these bytes to the data.
      from_children: a function (data, children) -> container; default None, the class's own.

    Returns:
      The class.

    Raises:
      ValueError: the class or the name is registered already.

    Examples:
      >>> @onax.tree_util.register_pytree_node_class
      ... class Box:
      ...     def __init__(self, value):
      ...         self.value = value
      ...     def tree_flatten(self):
      ...         return (self.value,), None
      ...     @classmethod
      ...     def tree_unflatten(cls, data, children):
      ...         return cls(*children)
      >>> register = onax.export.register_pytree_node_serialization
      >>> options = {"serialize_auxdata": lambda data: b"", "deserialize_auxdata": lambda data: None}
      >>> register(Box, serialized_name="docs.Box", **options) is Box
      True
    """
    if from_children is None and not is_tree_node(nodetype):
        raise ValueError(
            "If `from_children` is not present, you must call first `jax.tree_util.register_pytree_node` for "
            f"`{nodetype}`"
        )
    _register(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children)
    return nodetype


def register_namedtuple_serialization(nodetype: Class, *, serialized_name: str) -> Class:
    """Registers a named tuple class, so that exports with it in their trees can be written.

    Args:
      nodetype: the class.
      serialized_name: its name in files.

    Returns:
      The class.

    Raises:
      ValueError: the class or the name is registered already.

    Examples:
      >>> import collections
      >>> Point = collections.namedtuple("Point", "x y")
      >>> onax.export.register_namedtuple_serialization(Point, serialized_name="docs.Point") is Point
      True
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(
            "Use `jax.export.register_pytree_node_serialization` for types other than `collections.namedtuple`."
        )
    _register(nodetype, serialized_name, None, None, None)
    return nodetype


def _register(nodetype, name, write, read, rebuild):
    if nodetype in _by_type:
        raise ValueError(
            f"Duplicate serialization registration for type `{nodetype}`. Previous registration was with "
            f"serialized_name `{_by_type[nodetype][0]}`."
        )
    if name in _by_name:
        raise ValueError(
            f"Duplicate serialization registration for serialized_name `{name}`. Previous registration was for type "
            f"`{_by_name[name][0]}`."
        )
    _by_type[nodetype] = (name, write)
    _by_name[name] = (nodetype, read, rebuild)


def tree_to_json(tree):
    """The structure of a tree as JSON values; leaves are "*".

    The leaves of `tree` are not read.  Raises ExportError for dictionary keys that JSON cannot represent.
    """
    kind = type(tree)
    if tree is None:
        return None
    try:
        pairs, data = flatten_one_level_with_keys(tree)
    except ValueError:
        return "*"
    children = [tree_to_json(child) for _, child in pairs]
    if kind in (tuple, list):
        return {kind.__name__: children}
    if kind in (dict, OrderedDict, defaultdict):
        keys = [_key_to_json(key.key) for key, _ in pairs]
        return {"OrderedDict" if kind is OrderedDict else "dict": [keys, children]}
    if kind in _by_type:
        name, write = _by_type[kind]
        return {"node": name, "data": "" if write is None else bytes(write(data)).hex(), "children": children}
    fields = [_field_name(key, i) for i, (key, _) in enumerate(pairs)]
    return {"record": kind.__name__, "fields": fields, "children": children}


def _key_to_json(key):
    if isinstance(key, (str, bool, int, float)) or key is None:
        return key
    if isinstance(key, tuple):
        return {"tuple": [_key_to_json(k) for k in key]}
    raise ExportError(f"the dictionary key {key!r} cannot be written to a file: use strings or integers")


def _key_from_json(key):
    return tuple(map(_key_from_json, key["tuple"])) if isinstance(key, dict) else key


def _field_name(key, i):
    name = str(key.value)
    return name if name.isidentifier() and not name.startswith("_") else f"field{i}"


_LEAF = PyTreeDef.from_node_data_and_children(None, None, ())


def tree_from_json(text):
    """The PyTreeDef that JSON values describe; ArtifactError for anything else."""
    if text is None:
        return _treedef(type(None), None, ())
    if text == "*":
        return _LEAF
    if isinstance(text, dict):
        if "children" in text:
            children = [tree_from_json(c) for c in text["children"]]
            return _record_from_json(text, children) if "record" in text else _node_from_json(text, children)
        (kind, content), *more = text.items()
        if not more and kind in ("tuple", "list"):
            return _treedef(tuple if kind == "tuple" else list, None, [tree_from_json(c) for c in content])
        if not more and kind in ("dict", "OrderedDict"):
            keys, children = content
            keys = [_key_from_json(k) for k in keys]
            data = tuple(keys) if kind == "OrderedDict" else keys
            own = OrderedDict if kind == "OrderedDict" else dict
            return _treedef(own, data, [tree_from_json(c) for c in children])
    raise ArtifactError(f"the description of a tree in the artefact cannot be read: {str(text)[:80]}")


def _treedef(kind, data, children):
    return PyTreeDef.from_node_data_and_children(None, (kind, data), list(children))


def _record_from_json(text, children):
    record = namedtuple(text["record"], text["fields"], rename=True)
    return _treedef(record, record, children)


def _node_from_json(text, children):
    name = text["node"]
    if name not in _by_name:
        raise ArtifactError(
            f"the artefact holds nodes of the class registered as {name!r}: register it first "
            "(register_pytree_node_serialization or register_namedtuple_serialization)"
        )
    kind, read, _ = _by_name[name]
    return _treedef(kind, kind if read is None else read(bytes.fromhex(text["data"])), children)


# --- types as JSON ------------------------------------------------------------------------------------------------


def aval_to_json(aval):
    """Shape text, dtype name and weak type of an aval."""
    return {"shape": ", ".join(map(str, aval.shape)), "dtype": _dtype_name(aval.dtype), "weak": aval.weak_type}


def _dtype_name(dtype):
    """The name of a dtype in JSON; a key dtype is named after its generator."""
    if dtype == dtypes.float0:
        return "float0"
    return f"key<{dtype._impl.name}>" if isinstance(dtype, dtypes.KeyType) else dtype.name


def aval_from_json(text, scope):
    """The type that JSON values describe; ArtifactError for an unknown dtype."""
    return ShapedArray(parse_dims(text["shape"], scope), _dtype_from_name(text["dtype"]), text["weak"])


def _dtype_from_name(name):
    if name.startswith("key<"):
        try:
            return key_dtype(find_impl(name[4:-1]))
        except ValueError as error:
            raise ArtifactError(
                f"the artefact uses a generator of keys that this onax does not know: {error}"
            ) from None
    if name == "float0":
        return dtypes.float0
    for dtype in dtypes.ALL_DTYPES:
        if dtype.name == name:
            return dtype
    raise ArtifactError(f"the artefact has values of dtype {name}, which this version of onax does not know")


@dataclass(slots=True, eq=False, repr=False)
class Leaf:
    """One argument or result: its `name` in the graph, its `path` as text, its `aval`."""

    name: str
    path: str
    aval: object

    def to_json(self):
        """As JSON values."""
        return {"name": self.name, "path": self.path, **aval_to_json(self.aval)}


class Signature:
    """How a model is called as a function: trees and leaves of arguments and results, constraints, options."""

    __slots__ = ("constraints", "in_leaves", "in_tree", "options", "out_leaves", "out_tree")

    def __init__(self, in_tree, in_leaves, out_tree, out_leaves, constraints=(), options=None):
        self.in_tree = in_tree
        self.in_leaves = tuple(in_leaves)
        self.out_tree = out_tree
        self.out_leaves = tuple(out_leaves)
        self.constraints = tuple(constraints)
        self.options = dict(options or {})

    def to_json(self):
        """As JSON text."""
        sides = {}
        for side, tree, leaves in (
            ("in", self.in_tree, self.in_leaves),
            ("out", self.out_tree, self.out_leaves),
        ):
            example = skeleton(tree)
            sides[side] = {"tree": tree_to_json(example), "leaves": [leaf.to_json() for leaf in leaves]}
        return json.dumps({**sides, "constraints": self.constraints, "options": self.options}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text):
        """From JSON text; ArtifactError if it does not hold a signature."""
        try:
            content = json.loads(text)
            scope = SymbolicScope(content["constraints"])
            sides = []
            for side in ("in", "out"):
                tree = tree_from_json(content[side]["tree"])
                leaves = [
                    Leaf(leaf["name"], leaf["path"], aval_from_json(leaf, scope)) for leaf in content[side]["leaves"]
                ]
                if tree.num_leaves != len(leaves):
                    raise ArtifactError("the artefact's signature is inconsistent")
                sides += [tree, leaves]
            return cls(*sides, content["constraints"], content["options"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            if isinstance(error, ArtifactError):
                raise
            raise ArtifactError(f"the artefact's signature cannot be read: {error}") from error


# --- bytes --------------------------------------------------------------------------------------------------------


def metadata_bytes(entries):
    """Metadata as protobuf fields, to be appended to the bytes of a ModelProto."""
    return b"".join(
        write_field(_METADATA_FIELD, write_field(1, key.encode()) + write_field(2, value.encode()))
        for key, value in entries.items()
    )


def seal(model, entries):
    """The artefact's bytes: the model, its metadata, and a digest of both.

    Raises ExportError for a model over 2 GB, which protobuf cannot hold in one message.
    """
    raw = model + metadata_bytes({"onax.format": str(FORMAT), **entries, "onax.digest": _ZEROS})
    if len(raw) >= LIMIT:
        raise ExportError(f"the model would have {len(raw):,} bytes; an ONNX message holds at most 2 GB")
    return raw[: -len(_ZEROS)] + hashlib.sha256(raw).hexdigest().encode()


def parse(raw):
    """The ModelProto in bytes; ArtifactError if they are none."""
    decode_error = lazy.protobuf_message.DecodeError
    try:
        model = lazy.onnx.load_model_from_string(raw)
    except (decode_error, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError("this is not an ONNX model, or it is truncated") from error
    if not raw or not model.HasField("graph"):
        raise ArtifactError("this is not an ONNX model, or it is truncated")
    return model


def check_texts(message):
    """Raises ArtifactError if a text in a message is not UTF-8; protobuf hands such texts on as bytes."""
    for field, value in message.ListFields():
        if field.type not in (field.TYPE_STRING, field.TYPE_MESSAGE):
            continue
        for item in (value,) if isinstance(value, (str, bytes, lazy.protobuf_message.Message)) else value:
            if isinstance(item, bytes):
                raise ArtifactError("a text in this ONNX model is not UTF-8")
            if field.type == field.TYPE_MESSAGE:
                check_texts(item)


def unseal(raw, verify=True):
    """(ModelProto, metadata) of an artefact's bytes.

    Raises ArtifactError for bytes that are not a model, were not written by onax, have a newer format, or, unless
    `verify` is false, have changed since they were written.
    """
    raw = bytes(raw)
    model = parse(raw)
    for message in model.metadata_props if verify else (model,):  # the digest is that of all other texts
        check_texts(message)
    entries = {entry.key: entry.value for entry in model.metadata_props}
    form = entries.get("onax.format")
    if form is None:
        raise ArtifactError("this ONNX model was not written by onax (it has no entry onax.format in its metadata)")
    if not form.isdigit() or int(form) > FORMAT:
        raise ArtifactError(
            f"this artefact has format {form}; onax reads formats up to {FORMAT}: a newer onax wrote it"
        )
    digest = entries.get("onax.digest", "")
    if verify and not _is_intact(raw, digest):
        raise ArtifactError(
            "this artefact was damaged or changed since onax wrote it (its digest differs); "
            "load it with verify=False if the change was meant"
        )
    return model, entries


def _is_intact(raw, digest):
    """Whether the digest fits the bytes in which zeros replace it."""
    mark = digest.encode()
    if len(mark) != len(_ZEROS) or not raw.endswith(mark):
        return False
    return hashlib.sha256(raw[: -len(_ZEROS)] + _ZEROS.encode()).hexdigest() == digest


# --- files --------------------------------------------------------------------------------------------------------


_PIECE = 1 << 24  # bytes that are written between two reports of progress


def _pieces(content):
    for chunk in (content,) if isinstance(content, (bytes, bytearray)) else content:
        view = memoryview(chunk)
        for start in range(0, len(view), _PIECE):
            yield view[start : start + _PIECE]


def write_atomically(path, content, progress=None):
    """Writes a file atomically: either completely or not at all.  Raises ExportError if it cannot be written.

    content    bytes, or an iterable of bytes
    progress   called with the number of bytes that are written, after each piece of at most 16 MB
    """
    path = os.fspath(path)
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            for piece in _pieces(content):
                file.write(piece)
                if progress is not None:
                    progress(file.tell())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def read_file(path):
    """A file's bytes; ArtifactError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ArtifactError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from error


# --- arrays at the boundary ---------------------------------------------------------------------------------------


_WITHOUT_ZERO = "float8_e8m0fnu"  # neither zero nor sign: float32 has numbers that it cannot come near to


@functools.lru_cache
def carrier(dtype):
    """The dtype that carries numbers of a narrow one; None for a dtype of ONNX Runtime, a complex or a key dtype."""
    if not isinstance(dtype, np.dtype) or dtypes.itemsize_bits(dtype) > 8 or dtype in (np.int8, np.uint8, np.bool_):
        return None
    if dtypes.is_float(dtype):
        return None if dtype.name == _WITHOUT_ZERO else np.dtype(np.float32)
    if dtypes.is_unsigned(dtype):
        return np.dtype(np.uint8)
    return np.dtype(np.int8) if dtypes.is_integer(dtype) else None


def to_boundary(array, aval):
    """An array as the graph takes it: complex numbers and keys become numbers with trailing axes, without a copy.

    Numbers of fewer than 8 bits become those of their carrier.
    """
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        element = aval.dtype
        return np.ascontiguousarray(array).view(element.element_dtype).reshape(array.shape + element.element_shape)
    if array.dtype.kind == "c":
        real = dtypes.real_dtype(array.dtype)
        return np.asarray(array, order="C").reshape(array.shape + (1,)).view(real)
    wide = carrier(aval.dtype)
    return array if wide is None else array.astype(wide)


def from_boundary(array, aval):
    """The inverse of `to_boundary`."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        shape = array.shape[: array.ndim - len(aval.dtype.element_shape)]
        return np.ascontiguousarray(array).reshape((*shape, -1)).view(aval.dtype.storage).reshape(shape)
    if aval.dtype == dtypes.float0:
        return np.zeros(array.shape, dtypes.float0)
    if dtypes.is_complex(aval.dtype):
        return np.ascontiguousarray(array).view(aval.dtype).reshape(array.shape[:-1])
    return array if carrier(aval.dtype) is None else array.astype(aval.dtype)


def boundary_type(aval):
    """(shape, dtype) of a value at the boundary of the graph."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return (*aval.shape, *aval.dtype.element_shape), aval.dtype.element_dtype
    if aval.dtype == dtypes.float0:
        return tuple(aval.shape), np.dtype(bool)
    if dtypes.is_complex(aval.dtype):
        return (*aval.shape, 2), dtypes.real_dtype(aval.dtype)
    return tuple(aval.shape), carrier(aval.dtype) or aval.dtype
