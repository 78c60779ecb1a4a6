"""Exported functions: names, types, calls, refusals."""

import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import onnx.checker
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._ground.errors import ExportError, LoweringError
from onax._native.dispatch import Primitive
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import DisabledSafetyCheck, deserialize, export, report, symbolic_shape
from onax.export.api import argument_names, result_names

F32 = np.float32
Pair = namedtuple("Pair", "left right")


def spec(*shape, dtype=F32):
    return ShapeDtypeStruct(shape, dtype)


def takes(params, x, *rest, scale=1.0, **more):
    return params


@pytest.mark.parametrize(
    "args, kwargs, wanted",
    [
        ((1, 2), {}, ["params", "x"]),
        (({"w": 1, "b": 2}, [3, (4,)]), {}, ["params.b", "params.w", "x.0", "x.1.0"]),
        ((1, 2, 3, (4, 5)), {}, ["params", "x", "rest.0", "rest.1.0", "rest.1.1"]),
        ((1, 2), {"scale": 3, "other": {"z": 1}}, ["params", "x", "other.z", "scale"]),
        ((Pair(1, 2), {"a b": 1, "a/b": 2}), {}, None),
    ],
)
def test_argument_names(args, kwargs, wanted):
    names = argument_names(takes, args, kwargs)
    assert names == (wanted or ["params.left", "params.right", "x.a_b", "x.a_b_2"])


def test_argument_names_without_a_signature():
    assert argument_names(max, (1, 2), {}) == ["args.0", "args.1"]


@pytest.mark.parametrize(
    "result, taken, wanted",
    [
        (1, [], ["out"]),
        ((1, 2), [], ["out.0", "out.1"]),
        (({"w": 1}, 2), [], ["out.0.w", "out.1"]),
        ({"loss": 1, "p": {"w": 2}}, [], ["loss", "p.w"]),
        ({"loss": 1, "x": 2}, ["x"], ["out.loss", "out.x"]),
        (Pair(1, 2), [], ["left", "right"]),
        ([1], ["out.0"], ["out.0_2"]),
        ((), [], []),
    ],
)
def test_result_names(result, taken, wanted):
    assert result_names(result, taken) == wanted


def layer(params, x, *, scale):
    return {"y": lax.tanh(lax.dot(x, params["w"])) * scale, "x": lax.neg(x)}


@pytest.fixture(scope="module")
def exported():
    (b,) = symbolic_shape("b")
    return export(layer)({"w": spec(3, 4)}, spec(b, 3), scale=spec())


X = np.linspace(-1, 1, 6, dtype=F32).reshape(2, 3)
W = np.linspace(0, 1, 12, dtype=F32).reshape(3, 4)


def test_description(exported):
    assert exported.fun_name == "layer" and repr(exported) == "Exported(fun_name=layer, ...)"
    assert exported.in_names == ("params.w", "x", "scale") and exported.out_names == ("out.x", "out.y")
    assert [a.str_short() for a in exported.in_avals] == ["float32[3,4]", "float32[b,3]", "float32[]"]
    assert [a.str_short() for a in exported.out_avals] == ["float32[b,3]", "float32[b,4]"]
    assert repr(exported.in_tree) == "PyTreeDef((({'w': *}, *), {'scale': *}))"
    assert repr(exported.out_tree) == "PyTreeDef({'x': *, 'y': *})"
    assert exported.platforms == ("cpu",) and exported.symbolic_dimensions == ("b",) and exported.opset == 21
    assert exported.module_kept_var_idx == (0, 1, 2)


def test_model(exported):
    model = exported.onnx_model
    assert [i.name for i in model.graph.input] == list(exported.in_names)
    assert [o.name for o in model.graph.output] == list(exported.out_names)
    assert (model.ir_version, model.opset_import[0].version) == (10, 21)
    assert {node.domain for node in model.graph.node} == {""}
    assert model.graph.input[1].type.tensor_type.shape.dim[0].dim_param == "b"


@pytest.mark.parametrize("size", [1, 2, 7])
def test_call(exported, size):
    x = np.resize(X, (size, 3))
    got = exported.call({"w": W}, x, scale=F32(2))
    np.testing.assert_allclose(got["y"], np.tanh(x @ W) * 2, rtol=1e-6)
    np.testing.assert_array_equal(got["x"], -x)
    assert isinstance(got["y"], onax.Array) and got["y"].dtype == F32


def test_bytes(exported):
    back = deserialize(exported.serialize())
    np.testing.assert_array_equal(back.call({"w": W}, X, scale=2.0)["y"], exported.call({"w": W}, X, scale=F32(2))["y"])


def test_derivatives():
    def scaled(x, i, *, k):
        return x * k["a"] * i, i + 1, jnp.sum(x) ** 2

    x, zero = np.ones((2, 3), F32), np.zeros((), onax.dtypes.float0)
    made = export(scaled)(x, np.int32(3), k={"a": F32(2)})
    stored = deserialize(made.serialize(vjp_order=2))
    assert not deserialize(made.serialize()).has_vjp() and stored.vjp().has_vjp()
    for exported in (made, stored):
        pulled = exported.vjp()
        assert [a.dtype.name for a in pulled.in_avals[:3]] == ["float32", "int32", "float32"]
        assert pulled.in_avals[4].dtype == pulled.out_avals[1].dtype == onax.dtypes.float0
        by_x, by_i, by_k = pulled.call(x, np.int32(3), F32(2), x, zero, F32(1))
        np.testing.assert_array_equal(by_x, np.full((2, 3), 18))
        assert by_i.dtype == onax.dtypes.float0 and by_k == 18
        last = lambda x, exported=exported: exported.call(x, np.int32(3), k={"a": F32(2)})[2]
        np.testing.assert_array_equal(onax.grad(last)(x), np.full((2, 3), 12))
    second = onax.grad(lambda x: onax.grad(lambda x: made.call(x, np.int32(3), k={"a": F32(2)})[2])(x).sum())
    np.testing.assert_array_equal(second(x), np.full((2, 3), 12))
    with pytest.raises(ValueError, match="No VJP is available"):
        deserialize(made.serialize()).vjp()


def test_derivatives_keep_formulas_where_the_export_does():
    operators = {}
    for exact in (False, True):
        pulled = export(onax.nn.standardize, exact=exact)(X).vjp()
        operators[exact] = {node.op_type for node in pulled.onnx_model.graph.node}
    assert "ReduceMean" in operators[False] and "ReduceMean" not in operators[True]


def test_derivatives_of_symbolic_shapes():
    (b,) = symbolic_shape("b")
    made = export(lambda x: jnp.sin(x).sum(axis=1))(spec(b, 3))
    pulled = deserialize(made.serialize(vjp_order=1)).vjp()
    assert [a.str_short() for a in pulled.in_avals] == ["float32[b,3]", "float32[b]"]
    (by_x,) = pulled.call(X, np.arange(2, dtype=F32))
    np.testing.assert_allclose(by_x, np.cos(X) * [[0], [1]], rtol=1e-6)


def test_checks_versions_and_shardings(exported):
    check = DisabledSafetyCheck.custom_call("f")
    assert (str(check), check.is_custom_call(), DisabledSafetyCheck.platform().is_custom_call()) == (
        "custom_call:f", "f", None
    )  # fmt: skip
    assert check == DisabledSafetyCheck.custom_call("f") != DisabledSafetyCheck.platform()
    assert export(lax.neg, disabled_checks=[check])(X).disabled_safety_checks == (check,)
    with pytest.raises(TypeError, match="disabled_checks"):
        export(lax.neg, disabled_checks=["f"])
    assert onax.export.minimum_supported_calling_convention_version == 9
    assert onax.export.maximum_supported_calling_convention_version == 10
    mesh = onax.make_mesh((1,), ("a",))
    assert exported.in_shardings_jax(mesh) == (None,) * 3 and exported.out_shardings_jax(mesh) == (None,) * 2


@pytest.mark.parametrize(
    "args, kwargs, parts",
    [
        (({"w": W[:, :2]}, X), {"scale": 1.0}, ["args[0]['w'].shape[1]", "expected (3, 4) and called with (3, 2)"]),
        (({"w": W}, X.astype(np.int32)), {"scale": 1.0}, ["args[1]", "expected float32 and called with int32"]),
        (({"w": W}, X[0]), {"scale": 1.0}, ["Rank mismatch for args[1]"]),
        (({"w": W}, X), {}, ["same pytree structure", "'layer'", "kwargs"]),
        (({"v": W}, X), {"scale": 1.0}, ["same pytree structure", "args[0]"]),
        ((W, X), {"scale": 1.0}, ["args[0]: a pytree leaf in the invocation and a <class 'dict'> when exported"]),
    ],
)
def test_wrong_calls(exported, args, kwargs, parts):
    with pytest.raises(ValueError) as caught:
        exported.call(*args, **kwargs)
    for part in parts:
        assert part in str(caught.value)


MODELS = {
    "mlp": (lambda p, x: onax.nn.relu(x @ p["w"] + p["b"]), lambda b: ({"w": spec(6, 4), "b": spec(4)}, spec(b, 6))),
    "gradient": (onax.grad(lambda w, x: jnp.mean(jnp.tanh(x @ w) ** 2)), lambda b: (spec(6, 4), spec(b, 6))),
    "attention": (lambda q, k: onax.nn.softmax(q @ k.T / 2.0) @ k, lambda b: (spec(b, 6), spec(b, 6))),
    "half": (lambda x: jnp.sum(x * 2, axis=0), lambda b: (spec(b, 6, dtype=np.float16),)),
    "integers": (lambda i: (i // 3, i % 3, onax.nn.one_hot(i, 5)), lambda b: (spec(b, dtype=np.int32),)),
    "bools": (lambda x: jnp.any(x > 0, axis=0) & True, lambda b: (spec(b, 6),)),
    "empty": (lambda x: jnp.concatenate([x, x[:0]]), lambda b: (spec(0, 6),)),
    "gather": (lambda x, i: x[i] + x.at[i].add(1.0).sum(), lambda b: (spec(b, 6), spec(3, dtype=np.int32))),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:ONNX cannot assert")
def test_models_are_standard_and_right(name):
    fun, make = MODELS[name]
    (b,) = symbolic_shape("b")
    exported = export(fun)(*make(b))
    onnx.checker.check_model(exported.onnx_model, full_check=True)
    comparisons, _ = report.check(exported, fun, np.random.default_rng(0))
    assert all(c.is_close for c in comparisons), [(c.name, c.relative) for c in comparisons]


def test_chosen_names():
    made = export(lax.sin, input_names=["angle"], output_names={"out": "sine"})(spec(3))
    assert made.in_names == ("angle",) and made.out_names == ("sine",)
    with pytest.raises(ExportError, match="no output named fruit"):
        export(lax.sin, output_names={"fruit": "sine"})(spec(3))
    with pytest.raises(ExportError, match="2 input names were given for 1"):
        export(lax.sin, input_names=["a", "b"])(spec(3))


@pytest.mark.parametrize(
    "names, fault",
    [({"output_names": ["x"]}, "two inputs or outputs have the name 'x'"), ({"input_names": [""]}, "not a valid name")],
)
def test_bad_names(names, fault):
    with pytest.raises(ExportError, match=fault):
        export(lambda x: lax.sin(x), **names)(spec(3))


def test_closed_over_arrays_are_initialisers():
    made = export(lambda x: lax.dot(x, lax.sin(W)))(spec(2, 3))
    assert len(made.in_names) == 1 and len(made.onnx_model.graph.initializer) >= 1
    np.testing.assert_allclose(made.call(X), X @ np.sin(W), rtol=1e-5)


def test_jitted_functions_keep_their_static_arguments():
    fun = onax.jit(lambda n, x, *, negate: lax.neg(x) * n if negate else x, static_argnums=0, static_argnames="negate")
    made = export(fun)(3, spec(2), negate=True)
    assert made.in_names == ("x",)
    np.testing.assert_array_equal(made.call(np.ones(2, F32)), [-3, -3])


def test_passing_through_and_doubling():
    made = export(lambda x: (x, x, 1.0, None))(spec(2))
    one, two, three, nothing = made.call(np.ones(2, F32))
    assert one.tolist() == two.tolist() == [1, 1] and float(three) == 1 and nothing is None


@pytest.mark.parametrize("opset", [18, 19, 20, 21, 22, 23, 24, 25, 26])
def test_opsets(opset):
    made = export(lambda x: lax.exp(x) * 2, opset=opset)(spec(2))
    model = made.onnx_model
    assert model.opset_import[0].version == made.opset == opset
    np.testing.assert_allclose(made.call(np.zeros(2, F32)), [2, 2])


@pytest.mark.parametrize("opset", [12, 17, 27])
def test_other_opsets(opset):
    with pytest.raises(ExportError, match=f"opset {opset} is not supported: choose one from 18 to 26"):
        export(lax.sin, opset=opset)


def test_refusals():
    with pytest.raises(ExportError, match="only functions"):
        export(3)
    b, t = symbolic_shape("b, t")
    with pytest.raises(ExportError, match="Cannot solve for values"):
        export(lax.sin)(spec(b * t))


def test_shared_dimensions_warn():
    (b,) = symbolic_shape("b")
    with pytest.warns(UserWarning, match="b: x, y"):
        made = export(lambda x, y: x + y)(spec(b), spec(b))
    with pytest.raises(ValueError, match=r"args\[1\].shape\[0\] \(= 1\) and the specification 'b' \(= 2\)"):
        made.call(np.zeros(2, F32), np.zeros(1, F32))


def test_calls_inside_of_traced_functions(exported):
    def twice(x):
        return onax.tree.map(lambda y: y * 2, exported.call({"w": W}, x, scale=F32(1)))

    jaxpr = onax.make_jaxpr(twice)(X)
    assert jaxpr.eqns[0].primitive.name == "custom_vjp_call" and "call_exported[" in str(jaxpr)
    for got, want in zip(onax.tree.leaves(onax.jit(twice)(X)), onax.tree.leaves(twice(X))):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    with pytest.raises(ValueError, match=r"Dtype mismatch for args\[1\]"):
        onax.jit(twice)(X.astype(np.int32))


def test_every_offending_operation_is_listed():
    fruit = Primitive("fruit", kernel=lambda x: x, abstract_eval=lambda x: x)
    tree = Primitive("tree", kernel=lambda x: x, abstract_eval=lambda x: x)

    def grows(x):
        return fruit.bind(tree.bind(x))

    with pytest.raises(LoweringError) as caught:
        export(grows)(spec(2))
    text = str(caught.value)
    assert "fruit" in text and "tree" in text and text.count("test_api.py") == 2


def test_files_are_the_same_in_every_process_folder_and_for_every_user(tmp_path):
    script = Path(__file__).parents[1] / "same_files.py"
    contents = set()
    for i, (seed, user) in enumerate((("0", "ann"), ("1", "bob"), ("77", "eve"))):
        home = tmp_path / user
        home.mkdir()
        copied = home / "same_files.py"
        copied.write_bytes(script.read_bytes())
        told = {"PYTHONHASHSEED": seed, "USER": user, "LOGNAME": user, "HOME": str(home)}
        where = home if i else tmp_path
        subprocess.run([sys.executable, copied, home / "m.onnx"], cwd=where, env={**os.environ, **told}, check=True)
        contents.add((home / "m.onnx").read_bytes())
    assert len(contents) == 1
    (content,) = contents
    assert str(tmp_path).encode() not in content and b"same_files.py" in content
