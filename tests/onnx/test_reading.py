"""What is no ONNX model, or none that holds together, is an ArtifactError."""

import random
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onax as jax
import onax.numpy as jnp
from onax.errors import ArtifactError
from onnx_nodes import floats, model_of, mutated


def changed(change):
    message = model_of("Add", [floats(2), floats(2)], initializers=(1,))
    change(message)
    return message


CHANGES = {
    "nothing before it computes": lambda m: m.graph.node[0].input.__setitem__(0, "z"),
    "stands for another value": lambda m: m.graph.node.append(m.graph.node[0]),
    "computes the output 'z'": lambda m: setattr(m.graph.output[0], "name", "z"),
    "distinct names": lambda m: m.graph.input.append(m.graph.input[0]),
    "opset_import": lambda m: m.ClearField("opset_import"),
    "reads opsets from 7 on": lambda m: setattr(m.opset_import[0], "version", 6),
    "its shape needs 24": lambda m: m.graph.initializer[0].dims.append(3),
    "element type 99": lambda m: setattr(m.graph.initializer[0], "data_type", 99),
    "has the shape": lambda m: m.graph.initializer[0].dims.__setitem__(0, -2),
    "initializers of a graph in this ONNX model have the same name": lambda m: m.graph.initializer.append(
        m.graph.initializer[0]
    ),
    "does not say which version of the domain 'ai.onnx'": lambda m: setattr(m.opset_import[0], "domain", "other"),
    "the newest that the onnx package has": lambda m: setattr(m.opset_import[0], "version", 10**6),
    "the attribute 'a' twice": lambda m: m.graph.node[0].attribute.extend([helper.make_attribute("a", 1)] * 2),
}


@pytest.mark.parametrize("text", CHANGES)
def test_inconsistent(text):
    with pytest.raises(ArtifactError, match=text):
        jax.onnx.load(changed(CHANGES[text]))


def test_functions_that_call_themselves():
    text = """<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
    g (float[3] x) => (float[3] y) { y = own.f (x) }
    <opset_import: ["" : 18, "own" : 1], domain: "own"> f (x) => (y) { z = own.h (x) y = own.f2 (z) }
    <opset_import: ["" : 18, "own" : 1], domain: "own"> f2 (x) => (y) { y = own.f (x) }
    <opset_import: ["" : 18, "own" : 1], domain: "own"> h (x) => (y) { y = Sin (x) }"""
    with pytest.raises(ArtifactError, match="call themselves: f, f2"):
        jax.onnx.load(onnx.parser.parse_model(text))


@pytest.mark.parametrize("raw", [b"", b"abc", b"\x00" * 50, onnx.ModelProto().SerializeToString()])
def test_no_model(raw):
    with pytest.raises(ArtifactError, match="not an ONNX model, or it is truncated"):
        jax.onnx.load(raw)


def test_missing_file(tmp_path):
    with pytest.raises(ArtifactError, match="No such file"):
        jax.onnx.load(tmp_path / "none.onnx")


def external(tmp_path, location, **fields):
    """A model whose weights are said to lie in a second file; the file is there."""
    w = floats(300)
    (tmp_path / "weights.bin").write_bytes(w.tobytes())
    message = model_of("Add", [floats(300), w], initializers=(1,))
    tensor = message.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": 0, "length": 1200, **fields}.items():
        tensor.external_data.add(key=key, value=str(value))
    (tmp_path / "model.onnx").write_bytes(message.SerializeToString())
    return w


def test_external_data_is_mapped(tmp_path):
    w = external(tmp_path, "weights.bin")
    model = jax.onnx.load(tmp_path / "model.onnx")
    assert np.array_equal(model.params["x1"], w)
    raw = (tmp_path / "model.onnx").read_bytes()
    with pytest.raises(ArtifactError, match="load the model by its path"):
        jax.onnx.load(raw)


def test_external_data_in_the_folder_or_below(tmp_path):
    for location in ("./weights.bin", "below/weights.bin", "linked/weights.bin", "./linked.bin"):
        w = external(tmp_path, location)
        (tmp_path / "below").mkdir(exist_ok=True)
        (tmp_path / "below/weights.bin").write_bytes(w.tobytes())
        for name, target in (("linked", "below"), ("linked.bin", "weights.bin")):
            if not (tmp_path / name).is_symlink():
                (tmp_path / name).symlink_to(target)
        assert np.array_equal(jax.onnx.load(tmp_path / "model.onnx").params["x1"], w)


def resident():
    """The bytes of this process that lie in memory."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def test_weights_are_not_read_before_they_are_used(tmp_path):
    count = 125_000_000  # 500 MB, with holes
    with open(tmp_path / "weights.bin", "wb") as file:
        file.truncate(4 * count)
        file.seek(4 * (count - 1))
        file.write(np.float32(7).tobytes())
    message = model_of("Gather", [floats(2), np.array([0, 1])])
    message.graph.initializer.append(TensorProto(name="x0", data_type=TensorProto.FLOAT, dims=[count]))
    del message.graph.input[0]
    tensor = message.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    (tmp_path / "model.onnx").write_bytes(message.SerializeToString())
    before = resident()
    model = jax.onnx.load(tmp_path / "model.onnx")
    for call in (model, jax.jit(model)):
        assert np.asarray(call(model.params, np.array([0, count - 1]))).tolist() == [0, 7]
    assert resident() - before < 100_000_000


@pytest.mark.parametrize(
    "location, fields, text",
    [
        ("../weights.bin", {}, "only files in the folder"),
        ("/etc/passwd", {}, "only files in the folder"),
        ("", {}, "only files in the folder"),
        (".", {}, "only files in the folder"),
        ("below/../weights.bin", {}, "only files in the folder"),
        ("out.bin", {}, "a link out of the model's folder"),
        ("other.bin", {}, "missing"),
        ("weights.bin", {"offset": 8}, "does not fit"),
        ("weights.bin", {"length": 8}, "does not fit"),
        ("weights.bin", {"offset": "x"}, "damaged"),
    ],
)
def test_external_data_elsewhere(tmp_path, location, fields, text):
    (tmp_path / "inner").mkdir()
    external(tmp_path / "inner", location, **fields)
    (tmp_path / "weights.bin").write_bytes(bytes(1200))
    (tmp_path / "inner" / "out.bin").symlink_to("../weights.bin")
    with pytest.raises(ArtifactError, match=text):
        jax.onnx.load(tmp_path / "inner" / "model.onnx")


def test_sparse_and_small_tensors():
    values = numpy_helper.from_array(np.array([1.5, 2.5], np.float32), "x1")
    indices = numpy_helper.from_array(np.array([1, 3]), "i")
    message = model_of("Add", [floats(4), floats(4)], initializers=(1,))
    del message.graph.initializer[:]
    message.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    assert np.array_equal(jax.onnx.load(message).params["x1"], [0, 1.5, 0, 2.5])


def exported():
    """An exported function with a loop."""

    def step(x):
        return jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ jnp.ones((4, 4))), x).sum()

    return jax.export.export(jax.jit(jax.grad(step)))(jnp.ones((2, 4))).onnx_model_serialized


FOREIGN = """<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
g (bool c, float[n, 3] x) => (float[n, 3] y, float[k] z) <int64 n0 = {4}, float[3] w = {1.0, 2.0, 3.0}> {
  a = own.scaled <by = 2.0> (x)
  y = If (c) <then_branch = one () => (float[n, 3] p) { p = Add (a, w) },
              else_branch = two () => (float[n, 3] q) { q = Neg (x) }>
  e, z = Loop (n0, c, w) <body = step (int64 i, bool d, float[3] v) => (bool f, float[3] u, float h) {
    f = Identity (d) u = Mul (v, w) h = ReduceSum <keepdims = 0> (u)
  }>
}
<opset_import: ["" : 18], domain: "own">
scaled <by : float = 1.0> (x) => (y) { k = Constant <value_float : float = @by> () y = Mul (x, k) }"""


def quantized():
    """A model with packed and sparse tensors, as other programs write."""
    message = model_of("DequantizeLinear", [floats(4), np.float32(0.5)])
    message.graph.initializer.append(helper.make_tensor("x0", TensorProto.INT4, [4], [1, -2, 3, -4]))
    values = numpy_helper.from_array(np.array([1.5, 2.5], np.float32), "s")
    indices = numpy_helper.from_array(np.array([1, 3]), "i")
    message.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    del message.graph.input[0]
    return message.SerializeToString()


def check_mutations(count, seed):
    sources = [
        exported(),
        model_of("Conv", [floats(1, 2, 5, 5), floats(3, 2, 3, 3)], group=1).SerializeToString(),
        onnx.parser.parse_model(FOREIGN).SerializeToString(),
        quantized(),
    ]
    for raw in sources:
        jax.onnx.load(raw)
    generator, refused = random.Random(seed), 0
    for _ in range(count):
        raw = mutated(generator.choice(sources), generator)
        try:
            jax.onnx.load(raw)
        except ArtifactError:
            refused += 1
    assert refused > count / 4


def test_damaged_files():
    check_mutations(300, 0)


@pytest.mark.slow
def test_many_damaged_files():
    check_mutations(20_000, 1)
