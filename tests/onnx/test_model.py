"""A loaded model is a function: called, jitted, differentiated, batched, exported again."""

import inspect

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper, parser

import onax as jax
import onax.numpy as jnp
from onnx_nodes import constant, floats, integers, model_of

MLP = """
<ir_version: 8, opset_import: ["" : 18]>
mlp (float[n, 3] x) => (float[n, 2] y)
<float[3, 4] w, float[4] b, float[4, 2] v> {
  h = MatMul (x, w)
  i = Add (h, b)
  j = Tanh (i)
  y = MatMul (j, v)
}
"""


def mlp():
    message = parser.parse_model(MLP)
    del message.graph.initializer[:]
    for name, shape in (("w", (3, 4)), ("b", (4,)), ("v", (4, 2))):
        message.graph.initializer.append(numpy_helper.from_array(floats(*shape), name))
    return message


def test_attributes():
    model = jax.onnx.load(mlp())
    assert list(model.params) == ["w", "b", "v"] and all(isinstance(p, jax.Array) for p in model.params.values())
    assert [(v.name, v.dtype, v.shape) for v in model.inputs] == [("x", np.float32, ("n", 3))]
    assert [v.name for v in model.outputs] == ["y"] and model.static_inputs == ()
    assert repr(model) == "<onax.onnx.Model 'mlp' (x: float32[n,3]) -> (y: float32[n,2]), 3 parameters>"


def test_transformations():
    message = mlp()
    model, x = jax.onnx.load(message), floats(5, 3)
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {"x": x})
    np.testing.assert_allclose(np.asarray(model(model.params, x)), answer, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(jax.jit(model)(model.params, x=x)), answer, rtol=1e-5)
    rows = jax.vmap(lambda row: model(model.params, row[None])[0])(x)
    np.testing.assert_allclose(np.asarray(rows), answer, rtol=1e-5)

    def loss(params):
        return jnp.mean(model(params, x) ** 2)

    jax.test_util.check_grads(loss, (model.params,), order=1, modes=["rev"], atol=1e-2, rtol=1e-2)
    hand = jnp.tanh(x @ model.params["w"] + model.params["b"]) @ model.params["v"]
    np.testing.assert_allclose(np.asarray(hand), answer, rtol=1e-5)
    steps = jax.value_and_grad(loss)
    params = model.params
    for _ in range(30):
        _, grads = steps(params)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    assert loss(params) < 0.8 * loss(model.params)


def test_exported_again():
    model, x = jax.onnx.load(mlp()), floats(5, 3)
    again = jax.export.export(jax.jit(lambda x: model(model.params, x)))(x)
    session = onnxruntime.InferenceSession(again.onnx_model_serialized, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(np.asarray(model(model.params, x)), answer, rtol=1e-5)


def test_sources(tmp_path):
    message, x = mlp(), floats(2, 3)
    path = tmp_path / "mlp.onnx"
    path.write_bytes(message.SerializeToString())
    results = []
    for source in (str(path), path, message.SerializeToString(), message):
        model = jax.onnx.load(source)
        results.append(np.asarray(model(model.params, x)))
    assert all(np.array_equal(result, results[0]) for result in results)
    with pytest.raises(TypeError, match="a path, bytes or a ModelProto, not int"):
        jax.onnx.load(3)


@pytest.mark.parametrize(
    "args, kwargs, error, text",
    [
        ((), {}, TypeError, "needs a value for its inputs x"),
        ((1, 2), {}, TypeError, "takes 1 inputs"),
        ((floats(2, 3),), {"z": 1}, TypeError, "has no input 'z'"),
        ((floats(2, 3),), {"x": 1}, TypeError, "several values"),
        ((floats(2, 4),), {}, ValueError, r"float32\[n,3\] with n=2; an array of shape \(2, 4\)"),
        ((floats(2, 3).astype(complex),), {}, TypeError, "has the dtype float32; complex"),
    ],
)
def test_wrong_inputs(args, kwargs, error, text):
    model = jax.onnx.load(mlp())
    with pytest.raises(error, match=text):
        model(model.params, *args, **kwargs)


def test_wrong_parameters():
    model = jax.onnx.load(mlp())
    with pytest.raises(ValueError, match="the parameters v are missing"):
        model({name: model.params[name] for name in ("w", "b")}, floats(2, 3))
    with pytest.raises(ValueError, match="no parameters other"):
        model({**model.params, "other": 1}, floats(2, 3))
    with pytest.raises(TypeError, match=r"dict of weights.*got ndarray"):
        model(floats(2, 3))


def test_declared_dtypes_hold():
    model = jax.onnx.load(model_of("Add", [integers(3), integers(3)]))
    y = model({}, [2**40, 1, 2], np.array([1, 2, 3]))
    assert y.dtype == np.int64 and list(np.asarray(y)) == [2**40 + 1, 3, 5]
    assert jnp.zeros(3).dtype == np.float32
    wide = jax.onnx.load(model_of("Exp", [floats(3, dtype=np.float64)]))
    assert wide({}, floats(3)).dtype == np.float64


def test_which_constants_are_parameters():
    x = floats(2, 6)
    message = model_of("Reshape", [x, constant(3, 4)], initializers=(1,))
    assert jax.onnx.load(message).params == {}
    scaled = model_of("Mul", [x, floats()], initializers=(1,))
    assert list(jax.onnx.load(scaled).params) == []
    assert list(jax.onnx.load(scaled, params=lambda name, array: True).params) == ["x1"]
    assert list(jax.onnx.load(mlp(), params=lambda name, array: name == "w").params) == ["w"]


def test_static_inputs():
    model = jax.onnx.load(model_of("Reshape", [floats(2, 6), constant(3, 4)]))
    assert model.static_inputs == ("x1",)
    x = floats(2, 6)
    call = jax.jit(lambda x, shape: model({}, x, shape), static_argnames="shape")
    assert call(x, shape=(3, 4)).shape == (3, 4) and call(x, shape=(4, 3)).shape == (4, 3)
    with pytest.raises(jax.errors.OperatorError, match=r"model\.static_inputs"):
        jax.jit(model)({}, x, np.array([3, 4]))


def test_apply_is_for_inputs_named_like_options():
    node = helper.make_node("Add", ["key", "training"], ["y"])
    ports = [helper.make_tensor_value_info(name, 1, [2]) for name in ("key", "training", "y")]
    graph = helper.make_graph([node], "g", ports[:2], ports[2:])
    model = jax.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    x = np.ones(2, np.float32)
    assert np.array_equal(model({}, key=x, training=x), [2, 2])
    assert np.array_equal(model.apply({}, (x, x), key=jax.random.key(0)), [2, 2])


def test_constants_at_one_place_of_a_file_are_one_parameter(tmp_path):
    weights = floats(4, 4)
    (tmp_path / "weights.bin").write_bytes(weights.tobytes() * 2)
    tensors = []
    for name, offset in (("embedding", 0), ("head", 0), ("other", weights.nbytes)):
        tensor = onnx.TensorProto(name=name, data_type=1, dims=weights.shape, data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", "weights.bin"), ("offset", offset), ("length", weights.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
    ports = [helper.make_tensor_value_info(name, 1, [2, 4]) for name in "xy"]
    names = ["x", "embedding", "head", "other"]
    nodes = [helper.make_node("MatMul", [f"h{i}" if i else "x", names[i + 1]], ["y" if i == 2 else f"h{i + 1}"])
             for i in range(3)]  # fmt: skip
    graph = helper.make_graph(nodes, "tied", ports[:1], ports[1:], tensors)
    path = tmp_path / "tied.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    model, x = jax.onnx.load(path), floats(2, 4)
    assert sorted(model.params) == ["embedding", "other"] and not model.constants
    np.testing.assert_allclose(np.asarray(model(model.params, x)), x @ weights @ weights @ weights, rtol=1e-4)
    changed = {**model.params, "embedding": 2 * model.params["embedding"]}
    np.testing.assert_allclose(np.asarray(model(changed, x)), 4 * (x @ weights @ weights @ weights), rtol=1e-4)
    kept = jax.onnx.load(path, params=lambda name, array: name != "head")
    assert sorted(kept.params) == ["embedding", "other"] and list(kept.constants) == ["head"]


DOUBLES = """
<ir_version: 8, opset_import: ["" : 20]>
g (double[2, 3] x) => (double[a, b] y) <double[3] w = {1.0, 2.0, 3.0}, double power = {2.5}> { u = Mul (x, w) y = NODE }
"""
NODES = (
    "Sigmoid Erf Sqrt Tanh Gelu Softmax Abs Reciprocal Elu Softplus Mish ReduceProd ReduceLogSumExp ReduceL2".split()
)


@pytest.mark.parametrize("node", [*(f"{name} (u)" for name in NODES), "Pow (u, power)", "LayerNormalization (u, w)"])
def test_derivatives_in_64_bits_while_these_are_off(node):
    """Gradients eagerly, under jit and of a checkpoint are those with 64-bit dtypes on."""
    assert not jax.config.jax_enable_x64
    model = jax.onnx.load(parser.parse_model(DOUBLES.replace("NODE", node)))
    x = np.array([[1 / 3, 0.1, 0.7], [0.2, 0.9, 1e-3]])

    def gradient(params, function=lambda params: model(params, x)):
        y, pullback = jax.vjp(function, params)
        return pullback(y)[0]["w"]

    with jax.enable_x64(True):
        wanted = np.asarray(gradient(model.params))
    saved = jax.checkpoint(lambda params: model(params, x))
    for got in (gradient(model.params), jax.jit(gradient)(model.params), gradient(model.params, saved)):
        assert got.dtype == np.float64
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12, atol=1e-15)


def test_two_names_with_one_array_are_tied():
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[3] x) => (float[3] y) <float[3] embedding = {1.0, 2.0, 3.0}, float[3] head = {1.0, 2.0, 3.0}> {
      u = Mul (x, embedding) y = Mul (u, head) }"""
    model, x = jax.onnx.load(parser.parse_model(text)), np.array([1.0, 2.0, 3.0], np.float32)
    assert sorted(model.params) == ["embedding", "head"]

    def loss(params):
        return jnp.sum(model({**params, "head": params["embedding"]}, x))

    w = {"embedding": model.params["embedding"]}
    np.testing.assert_allclose(np.asarray(jax.grad(loss)(w)["embedding"]), 2 * x * np.asarray(w["embedding"]))


def test_metadata():
    message = model_of("Neg", [floats(3)])
    message.producer_name, message.producer_version, message.doc_string = "trainer", "2.1", "what it is"
    message.metadata_props.add(key="licence", value="MIT")
    told = {"producer_name": "trainer", "producer_version": "2.1", "doc_string": "what it is", "licence": "MIT"}
    assert jax.onnx.load(message).metadata == told
    message.metadata_props.add(key="doc_string", value="an entry of the file")
    assert jax.onnx.load(message).metadata == {**told, "doc_string": "an entry of the file"}


def test_signature():
    """By it `jit` finds static arguments that are given in order, and exported files have the names of inputs."""
    model = jax.onnx.load(model_of("Reshape", [floats(2, 6), constant(3, 4)]))
    assert str(inspect.signature(model)) == "(params, /, x0, x1, *, key=None, training=False)"
    x = floats(2, 6)
    assert jax.jit(model, static_argnames=("x1",))(model.params, x, (4, 3)).shape == (4, 3)
    again = jax.export.export(jax.jit(mlp_model := jax.onnx.load(mlp())))(mlp_model.params, floats(2, 3))
    assert again.in_names[-1] == mlp_model.inputs[0].name
    text = '<ir_version: 8, opset_import: ["" : 18]> g (float[3] NAME) => (float[3] y) { y = Neg (NAME) }'
    for name in ("in", "params"):
        odd = jax.onnx.load(parser.parse_model(text.replace("NAME", name)))
        assert str(inspect.signature(odd)) == "(params, /, *args, **kwargs)"
        assert jax.jit(odd)({}, **{name: np.ones(3, np.float32)}).tolist() == [-1, -1, -1]
    keyed = jax.onnx.load(parser.parse_model(text.replace("NAME", "key")))
    assert str(inspect.signature(keyed)) == "(params, /, key, *, training=False)"
