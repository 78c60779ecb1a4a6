"""Reads an ONNX file into records; everything that does not hold together is an ArtifactError."""

import os

import numpy as np

from onax._ground import lazy
from onax._ground.dtypes import ALL_DTYPES
from onax._ground.errors import ArtifactError
from onax.export.artifact import DAMAGE, parse, read_file
from onax.export.external import find_second_file
from onax.onnx.records import DEFAULT_DOMAINS, Function, Graph, ModelFile, Node, Reference, Value

OLDEST, LARGEST_RANK = 7, 64
_DESCRIBING = ("producer_name", "producer_version", "domain", "doc_string")  # what a model says of itself


def read_model(source):
    """The ModelFile of a path, of bytes, or of a ModelProto.

    Raises ArtifactError if the file is missing, damaged or inconsistent, or keeps weights outside of its own folder.
    """
    folder = None
    if isinstance(source, (str, os.PathLike)):
        folder = os.path.dirname(os.path.abspath(source))
        proto = parse(read_file(source))
    elif isinstance(source, (bytes, bytearray, memoryview)):
        proto = parse(bytes(source))
    elif isinstance(source, lazy.onnx.ModelProto):
        proto = source
    else:
        raise TypeError(f"load takes a path, bytes or a ModelProto, not {type(source).__name__}")
    try:
        return _Reader(folder).model(proto)
    except ArtifactError:
        raise
    except DAMAGE as error:
        raise ArtifactError(f"this ONNX model is damaged: {str(error)[:200] or type(error).__name__}") from error


def _check_unchanged(graph, version):
    """Checks that each operator of an old model means what it means since the oldest version that onax reads."""
    for node in graph.node:
        try:
            since = lazy.onnx_defs.get_schema(node.op_type, OLDEST, node.domain).since_version
        except lazy.onnx_defs.SchemaError:
            since = OLDEST
        if since > version:
            raise ArtifactError(
                f"this ONNX model uses opset {version}, in which {_text(node.op_type)} is another operator; "
                f"onax reads opsets from {OLDEST} on"
            )


def _all_nodes(nodes):
    """The nodes, and those of graphs that they hold."""
    for node in nodes:
        yield node
        for graph in node.graphs.values():
            yield from _all_nodes(graph.nodes)


def _check_versions(nodes, opsets, functions):
    """Checks that the version of each operator that is no function of the model is said, and is one that exists."""
    newest = lazy.onnx_defs.onnx_opset_version()
    if opsets.get("", 0) > newest:
        raise ArtifactError(
            f"this ONNX model uses opset {opsets['']}; the newest that the onnx package has is {newest}"
        )
    for node in _all_nodes(nodes):
        if node.domain not in opsets and (node.domain, node.op_type, node.overload) not in functions:
            raise ArtifactError(
                f"{node}: the model does not say which version of the domain {node.domain or 'ai.onnx'!r} it uses"
            )


def _check_calls(functions):
    """Checks that no function of a model calls itself, which ONNX does not allow."""
    calls = {
        key: {(node.domain, node.op_type, node.overload) for node in _all_nodes(function.nodes)} & functions.keys()
        for key, function in functions.items()
    }
    while leaves := [key for key, called in calls.items() if not called & calls.keys()]:
        for key in leaves:
            del calls[key]
    if calls:
        raise ArtifactError(
            f"functions of this ONNX model call themselves: {', '.join(sorted(key[1] for key in calls))}"
        )


def read_function(proto):
    """The Function of a FunctionProto."""
    return _Reader(None).function(proto)


def _text(value):
    """A string of a message; ArtifactError if its bytes are not UTF-8, which protobuf hands on as bytes."""
    if isinstance(value, str):
        return value
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError("a name in this ONNX model is not UTF-8 text") from error


def normalize_domain(domain):
    """The name of a domain; "" for ONNX's own."""
    domain = _text(domain)
    return "" if domain in DEFAULT_DOMAINS else domain


class _Reader:
    """Converts messages to records; `folder` is where external data lies, None for models without a file."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def model(self, proto):
        opsets = {normalize_domain(entry.domain): entry.version for entry in proto.opset_import}
        if not opsets:
            raise ArtifactError("this ONNX model does not say which version of the operators it uses (opset_import)")
        if opsets.get("", OLDEST) < OLDEST:
            _check_unchanged(proto.graph, opsets[""])
        functions = {}
        for function in proto.functions:
            key = (normalize_domain(function.domain), _text(function.name), _text(function.overload))
            if key in functions:
                raise ArtifactError(f"this ONNX model defines the function {key[1]!r} twice")
            functions[key] = self.function(function)
        metadata = {name: _text(getattr(proto, name)) for name in _DESCRIBING if getattr(proto, name)}
        metadata.update((_text(entry.key), _text(entry.value)) for entry in proto.metadata_props)
        graph = self.graph(proto.graph, frozenset())
        _check_versions(graph.nodes, opsets, functions)
        for function in functions.values():
            _check_versions(function.nodes, function.opsets, functions)
        _check_calls(functions)
        return ModelFile(graph, opsets, functions, metadata)

    def function(self, proto):
        defaults = {_text(a.name): self.attribute(a, frozenset()) for a in proto.attribute_proto}
        inputs = tuple(_text(name) for name in proto.input)
        nodes = self.nodes(proto.node, set(inputs))
        outputs = tuple(_text(name) for name in proto.output)
        required = tuple(_text(name) for name in proto.attribute)
        opsets = {normalize_domain(entry.domain): entry.version for entry in proto.opset_import}
        return Function(_text(proto.name), inputs, outputs, required, defaults, nodes, opsets)

    def graph(self, proto, outer):
        constants = {}
        for tensor in proto.initializer:
            constants[_text(tensor.name)] = self.tensor(tensor)
        for sparse in proto.sparse_initializer:
            constants[_text(sparse.values.name)] = self.sparse_tensor(sparse)
        if len(constants) < len(proto.initializer) + len(proto.sparse_initializer):
            raise ArtifactError("two initializers of a graph in this ONNX model have the same name")
        inputs = tuple(self.value(value) for value in proto.input)
        names = [value.name for value in inputs]
        if len(set(names)) < len(names) or "" in names:
            raise ArtifactError("the inputs of a graph in this ONNX model do not have distinct names")
        known = {*outer, *names, *constants}
        nodes = self.nodes(proto.node, known)
        outputs = tuple(self.value(value) for value in proto.output)
        for value in outputs:
            if value.name not in known:
                raise ArtifactError(f"nothing in this ONNX model computes the output {value.name!r}")
        return Graph(_text(proto.name), inputs, outputs, constants, nodes, proto if outer else None)

    def nodes(self, protos, known):
        """The nodes; adds to `known` what they compute."""
        result = []
        for proto in protos:
            node = self.node(proto, known)
            for name in node.inputs:
                if name and name not in known:
                    raise ArtifactError(f"{node} reads {name!r}, which nothing before it computes")
            for name in node.outputs:
                if name and name in known:
                    raise ArtifactError(f"{node} computes {name!r}, which stands for another value already")
            known.update(name for name in node.outputs if name)
            result.append(node)
        return tuple(result)

    def node(self, proto, known):
        attributes = {}
        for attribute in proto.attribute:
            name = _text(attribute.name)
            if name in attributes:
                raise ArtifactError(f"a node {proto.op_type} in this ONNX model has the attribute {name!r} twice")
            attributes[name] = self.attribute(attribute, known)
        return Node(
            _text(proto.name),
            _text(proto.op_type),
            normalize_domain(proto.domain),
            _text(proto.overload),
            tuple(_text(name) for name in proto.input),
            tuple(_text(name) for name in proto.output),
            attributes,
        )

    def attribute(self, proto, known):
        """The value of an attribute: a number, text, bytes that are no text, an array, a graph, or a tuple."""
        kinds = lazy.onnx.AttributeProto
        if proto.ref_attr_name:
            return Reference(_text(proto.ref_attr_name))
        one = {kinds.INT: "i", kinds.FLOAT: "f", kinds.STRING: "s"}
        many = {kinds.INTS: "ints", kinds.FLOATS: "floats", kinds.STRINGS: "strings"}
        if proto.type in one:
            return _plain(getattr(proto, one[proto.type]))
        if proto.type in many:
            return tuple(_plain(value) for value in getattr(proto, many[proto.type]))
        if proto.type == kinds.TENSOR:
            return self.tensor(proto.t)
        if proto.type == kinds.SPARSE_TENSOR:
            return self.sparse_tensor(proto.sparse_tensor)
        if proto.type == kinds.GRAPH:
            return self.graph(proto.g, frozenset(known))
        if proto.type == kinds.GRAPHS:
            return tuple(self.graph(graph, frozenset(known)) for graph in proto.graphs)
        if proto.type in (kinds.TYPE_PROTO, kinds.TYPE_PROTOS):
            return None  # the type of a sequence or of an optional value, whose operators are refused
        raise ArtifactError(f"the attribute {_text(proto.name)!r} in this ONNX model has no value that ONNX knows")

    def value(self, proto):
        """A Value; its dtype is None where the type is not declared, or is not that of a tensor."""
        name = _text(proto.name)
        kind, optional = proto.type, proto.type.WhichOneof("value") == "optional_type"
        if optional:
            kind = kind.optional_type.elem_type
        if kind.WhichOneof("value") != "tensor_type":
            return Value(name, None, None)
        tensor = kind.tensor_type
        dtype = dtype_of(tensor.elem_type) if tensor.elem_type else None
        if not tensor.HasField("shape"):
            return Value(name, dtype, None, optional)
        shape = []
        for dim in tensor.shape.dim:
            kind = dim.WhichOneof("value")
            size = dim.dim_value if kind == "dim_value" else _text(dim.dim_param) or None
            if isinstance(size, int) and size < 0:
                size = None
            shape.append(size)
        return Value(name, dtype, tuple(shape), optional)

    def tensor(self, proto):
        """The array of a tensor; one of an external file is mapped into memory, not read."""
        if len(proto.dims) > LARGEST_RANK or any(size < 0 for size in proto.dims):
            raise ArtifactError(f"the tensor {_text(proto.name)!r} has the shape {tuple(proto.dims)[:8]}")
        if proto.data_location == lazy.onnx.TensorProto.EXTERNAL:
            return self.external_tensor(proto)
        return _decode(proto)

    def sparse_tensor(self, proto):
        """The dense array of a sparse tensor."""
        values, indices, shape = _decode(proto.values), _decode(proto.indices), tuple(proto.dims)
        if any(size < 0 for size in shape) or indices.dtype != np.int64:
            raise ArtifactError("a sparse tensor in this ONNX model has a wrong shape or wrong indices")
        result = np.zeros(shape, values.dtype)
        if indices.ndim == 1:
            result.reshape(-1)[indices] = values
        else:
            result[tuple(indices.T)] = values
        return result

    def external_tensor(self, proto):
        name = _text(proto.name)
        if self.folder is None:
            raise ArtifactError(f"the tensor {name!r} lies in a second file: load the model by its path")
        fields = {_text(entry.key): _text(entry.value) for entry in proto.external_data}
        path = find_second_file(self.folder, fields.get("location", ""), subfolders=True)
        if path not in self.files:
            self.files[path] = np.memmap(path, np.uint8, "r") if os.path.getsize(path) else np.zeros(0, np.uint8)
        data = self.files[path]
        dtype, shape = dtype_of(proto.data_type), tuple(proto.dims)
        packed = _BITS.get(proto.data_type)
        count = int(np.prod(shape, dtype=object))
        size = -(-count * packed // 8) if packed else count * dtype.itemsize
        offset = int(fields.get("offset", 0))
        length = int(fields.get("length", size))
        if offset < 0 or length != size or offset + length > len(data):
            raise ArtifactError(f"the offset or length of {name!r} in {fields['location']} does not fit its size")
        part = data[offset : offset + length]
        if packed:
            copy = lazy.onnx.TensorProto(data_type=proto.data_type, dims=shape, raw_data=part.tobytes())
            return _decode(copy)
        return part.view(dtype).reshape(shape)


def _plain(value):
    """A number as it is; bytes as text where they are UTF-8."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def dtype_of(element_type):
    """The dtype of a number in ONNX's enumeration of element types; ArtifactError for one that it does not have."""
    try:
        dtype = np.dtype(lazy.onnx_helper.tensor_dtype_to_np_dtype(element_type))
    except (KeyError, ValueError, TypeError) as error:
        raise ArtifactError(f"this ONNX model has a tensor of element type {element_type}, which is unknown") from error
    return dtype


_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}  # of element types that are packed: uint4, int4, float4e2m1, uint2, int2


def _decode(proto):
    """The array in a tensor's own bytes."""
    dtype = dtype_of(proto.data_type)
    count = int(np.prod(proto.dims, dtype=object))
    packed = _BITS.get(proto.data_type)
    size = -(-count * packed // 8) if packed else count * dtype.itemsize
    if dtype.kind != "O" and proto.raw_data and len(proto.raw_data) != size:
        raise ArtifactError(f"the tensor {_text(proto.name)!r} has {len(proto.raw_data)} bytes; its shape needs {size}")
    array = np.asarray(lazy.onnx_numpy_helper.to_array(proto))
    if array.dtype != object and array.dtype not in ALL_DTYPES:
        raise ArtifactError(f"the tensor {_text(proto.name)!r} has the dtype {array.dtype}, which onax does not have")
    if array.dtype == object and proto.data_type != lazy.onnx.TensorProto.STRING:
        raise ArtifactError(f"the tensor {_text(proto.name)!r} cannot be read")
    array.flags.writeable = False
    return array
