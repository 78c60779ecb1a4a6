"""The encoder of ModelProto, read back with the onnx package."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onax._native.protobuf import ELEMENT_TYPES, model_bytes

RNG = np.random.default_rng(0)


class Aval:
    def __init__(self, shape, dtype=np.float32):
        self.shape, self.dtype = shape, np.dtype(dtype)


class Value:
    def __init__(self, name, shape=(), dtype=np.float32, const=None):
        self.name, self.aval, self.const = name, Aval(shape, dtype), const


class Node:
    def __init__(self, op_type, inputs, outputs, attributes=None, domain="", name="n", location=None):
        self.op_type, self.inputs, self.outputs, self.domain = op_type, inputs, outputs, domain
        self.attributes, self.name, self.location = attributes or {}, name, location


class Graph:
    def __init__(self, inputs=(), nodes=(), outputs=(), initializers=None):
        self.inputs, self.nodes, self.outputs = inputs, nodes, outputs
        self.initializers = initializers or {}


def encode(graph, **options):
    data, shared = model_bytes(graph, **{"ir_version": 10, "opsets": [("", 21)]} | options)
    return onnx.load_from_string(data), shared


def test_a_whole_model():
    x, y, z = Value("x", (2, "batch")), Value("y", (2, "batch")), Value("z", (2, "2*batch + 1"))
    c = Value("c", const=np.ones(2, np.float32))
    nodes = [Node("Add", [x, None, c], [y], name="add_1", location="p"), Node("Host", [y], [z], domain="onax")]
    model, shared = encode(
        Graph([x], nodes, [z], {"c": c}), opsets=[("", 21), ("onax", 1)], name="g", stated=[y], doc="text",
        metadata={"a": "1", "b": "ü"}, producer="me", producer_version="3", location_text=lambda p: f"from {p}",
    )  # fmt: skip
    assert shared == {}
    assert (model.ir_version, model.producer_name, model.producer_version, model.doc_string) == (10, "me", "3", "text")
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 21), ("onax", 1)]
    assert {p.key: p.value for p in model.metadata_props} == {"a": "1", "b": "ü"}
    add, host = model.graph.node
    assert (add.op_type, list(add.input), list(add.output), add.name) == ("Add", ["x", "", "c"], ["y"], "add_1")
    assert (add.doc_string, host.doc_string, host.domain) == ("from p", "", "onax")
    assert model.graph.name == "g" and [v.name for v in model.graph.value_info] == ["y"]
    dims = [(d.dim_value, d.dim_param) for d in model.graph.output[0].type.tensor_type.shape.dim]
    assert dims == [(2, ""), (0, "2*batch + 1")]
    np.testing.assert_array_equal(numpy_helper.to_array(model.graph.initializer[0]), np.ones(2))


ATTRIBUTES = {
    "int": 3, "negative": -1, "long": 2**62, "least": -(2**63), "bool": True, "numpy int": np.int64(5), "float": 0.5,
    "numpy float": np.float32(0.25), "text": "æ", "bytes": b"\xff\0", "ints": [1, -2, 3], "floats": (0.5, 1.5),
    "mixed": [1, 0.5], "texts": ["a", "b"], "none": [],
}  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name):
    want = ATTRIBUTES[name]
    model, _ = encode(Graph([], [Node("Op", [], [], {"a": want, "left_out": None})]))
    (attribute,) = model.graph.node[0].attribute
    got = onnx.helper.get_attribute_value(attribute)
    if isinstance(want, (list, tuple)):
        assert [g.decode() if isinstance(g, bytes) else g for g in got] == list(want)
    else:
        assert got == (want.encode() if isinstance(want, str) else want)
    assert onnx.helper.make_attribute("a", [1] if name == "none" else want).type == attribute.type


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 2), (2, 3, 200)], ids=str)
def test_tensors(dtype, shape):
    x = RNG.integers(0, 2, shape).astype(dtype) if shape else np.ones(shape, dtype)
    inner = Value("w", const=x)
    model, _ = encode(Graph([], [Node("Constant", [], [], {"value": x, "many": [x, x]})], [], {"w": inner}))
    value, many = model.graph.node[0].attribute
    for tensor in (value.t, *many.tensors, model.graph.initializer[0]):
        assert tensor.data_type == ELEMENT_TYPES[dtype] == onnx.helper.np_dtype_to_tensor_dtype(dtype)
        assert tuple(tensor.dims) == shape and tensor.raw_data == x.tobytes()
        np.testing.assert_array_equal(numpy_helper.to_array(tensor).astype(float), x.astype(float))


def test_large_constants_may_stay_outside():
    small, large = np.ones(4, np.float32), np.ones((5, 100), np.float32)
    initializers = {"s": Value("s", const=small), "l": Value("l", const=large)}
    model, shared = encode(Graph(initializers=initializers), share_over=16)
    assert list(shared) == ["l"] and shared["l"] is large
    outside = model.graph.initializer[1]
    assert outside.data_location == onnx.TensorProto.EXTERNAL and tuple(outside.dims) == (5, 100)
    assert len(model.SerializeToString()) < 200


def test_subgraphs():
    inner = Graph([Value("i", (), np.int64)], [Node("Neg", [Value("i")], [Value("o")])], [Value("o", (), np.int64)])
    model, _ = encode(Graph([], [Node("Loop", [], [], {"body": inner, "all": [inner, inner]})]))
    body, many = model.graph.node[0].attribute
    assert body.g.node[0].op_type == "Neg" and body.g.input[0].type.tensor_type.elem_type == 7
    assert [g.output[0].name for g in many.graphs] == ["o", "o"]


def test_a_type_without_shape():
    model, _ = encode(Graph([Value("x", None)], [], [Value("y", ())]))
    assert not model.graph.input[0].type.tensor_type.HasField("shape")
    assert model.graph.output[0].type.tensor_type.HasField("shape")


@pytest.mark.parametrize("size", [1, 100, 126, 127, 128, 129, 16_383, 16_384, 3_000_000])
def test_lengths(size):
    """Messages around the sizes at which their length takes one byte more."""
    model, _ = encode(Graph([], [Node("Op", [], [], {"a": "x" * size, "t": np.zeros(size, np.uint8)})]), doc="d" * size)
    text, tensor = model.graph.node[0].attribute
    assert text.s == b"x" * size and len(tensor.t.raw_data) == size and len(model.doc_string) == size
    again, _ = model_bytes(Graph(), ir_version=1, opsets=[])
    assert onnx.load_from_string(again).ir_version == 1


@pytest.mark.parametrize(
    "attributes",
    [{"a": object()}, {"a": [1, "x"]}, {"a": {}}, {"a": np.zeros(2, np.complex64)}],
    ids=["object", "mixed list", "dict", "complex"],
)
def test_what_an_attribute_cannot_hold(attributes):
    with pytest.raises(TypeError):
        encode(Graph([], [Node("Op", [], [], attributes)]))


def test_a_dtype_without_element_type():
    with pytest.raises(TypeError, match="no element type for complex64"):
        encode(Graph([Value("x", (), np.complex64)]))
