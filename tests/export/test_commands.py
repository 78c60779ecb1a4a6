"""The command line's other commands and options: check, inspect, run, weights from files, smaller forms."""

import json
import os
import sys

import numpy as np
import onnx
import pytest

from onax._commands import export_main as main
from onax.export import checks, load, targets
from onax.export.cli import EXIT_DIFFERENT, EXIT_FAILED
from onax.export.report import Comparison

NET = """
import jax_like
import onax as jax
import onax.numpy as jnp

def predict(params, x):
    for layer in params["layers"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x

def updated(params, x):
    return {"w": params["w"] - 0.1 * x}

def two(x, y):
    return {"sum": x + y, "product": x * y}

def counts(x):
    return jnp.cumsum(x), (x * 2).astype(jnp.int32)

def grow(x):
    return jax.lax.fori_loop(0, 3, lambda i, v: v + jnp.sin(v), x)

CALLS = []

def impure(x):
    CALLS.append(x)
    y = jnp.sin(x)
    return y + 1 if len(CALLS) == 1 else jnp.cos(y)
""".replace("import jax_like\n", "")

RNG = np.random.default_rng(0)
WEIGHTS = {
    "layers.0.w": RNG.normal(size=(8, 256)).astype(np.float32),
    "layers.0.b": np.zeros(256, np.float32),
    "layers.1.w": RNG.normal(size=(256, 4)).astype(np.float32),
    "layers.1.b": np.ones(4, np.float32),
}
X = RNG.normal(size=(5, 8)).astype(np.float32)


def wanted(x):
    for i in range(2):
        x = np.tanh(x @ WEIGHTS[f"layers.{i}.w"] + WEIGHTS[f"layers.{i}.b"])
    return x


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(NET)
    np.savez(tmp_path / "weights.npz", **WEIGHTS)
    np.savez(tmp_path / "inputs.npz", X)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    yield tmp_path
    sys.modules.pop("net", None)


def made(*arguments):
    assert main(["export", "net.py:predict", *arguments, "--quiet", "-o", "p.onnx"]) == 0
    return load("p.onnx")


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_weights_from_a_file(project, kind):
    if kind == "safetensors":
        numpy = pytest.importorskip("safetensors.numpy")
        numpy.save_file(WEIGHTS, "weights.safetensors")
    exported = made("--params", f"weights.{kind}", "--example", "inputs.npz", "--check")
    assert exported.in_names == ("x",)
    assert len(exported.onnx_model.graph.initializer) >= 4
    np.testing.assert_allclose(np.asarray(exported.call(X)), wanted(X), rtol=1e-5, atol=1e-6)


def test_weights_as_inputs(project):
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--weights", "inputs")
    assert exported.in_names[:2] == ("params.layers.0.b", "params.layers.0.w")
    np.testing.assert_allclose(
        np.asarray(exported.call(targets.unflatten_names(WEIGHTS), X)), wanted(X), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("dynamic", ["batch", "0:0=batch"])
def test_dynamic_dimensions(project, dynamic):
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", dynamic, "--check")
    assert str(exported.in_avals[0].shape[0]) == "batch"
    assert exported.call(X[:2]).shape == (2, 4)


@pytest.mark.parametrize("dtype, stored", [("float16", 10), ("bfloat16", 16), ("int8", 3)])
def test_smaller_forms(project, dtype, stored):
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--dtype", dtype, "--check")
    assert stored in {t.data_type for t in exported.onnx_model.graph.initializer if len(t.dims) == 2}
    plain = made("--params", "weights.npz", "--example", "inputs.npz")
    assert len(exported.onnx_model_serialized) < 0.75 * len(plain.onnx_model_serialized)
    assert exported.in_avals[0].dtype == np.float32
    np.testing.assert_allclose(np.asarray(exported.call(X)), wanted(X), atol=0.1)
    onnx.checker.check_model(exported.onnx_model, full_check=True)


def test_bfloat16_parameters_as_inputs(project):
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--weights", "inputs", "--dtype", "bfloat16")
    assert [a.dtype.name for a in exported.in_avals] == ["bfloat16"] * 4 + ["float32"]
    assert exported.out_avals[0].dtype == np.float32


def test_bfloat16_parameters_as_results_too(project):
    specs = "--arg", "{w: f32[5]}", "--arg", "f32[5]"
    assert main(["export", "net.py:updated", *specs, "--dtype", "bfloat16", "--check", "--quiet", "-o", "u.onnx"]) == 0
    assert [a.dtype.name for a in load("u.onnx").in_avals] == ["bfloat16", "float32"]


def test_optimised(project):
    plain = made("--params", "weights.npz", "--example", "inputs.npz")
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--optimize", "--check")
    assert len(exported.onnx_model.graph.node) <= len(plain.onnx_model.graph.node)
    assert {o.domain for o in exported.onnx_model.opset_import} == {""}
    np.testing.assert_allclose(np.asarray(exported.call(X)), wanted(X), rtol=1e-5, atol=1e-6)


def test_external_data(project):
    exported = made("--params", "weights.npz", "--example", "inputs.npz", "--external-data")
    assert os.path.getsize("p.onnx.data") > 3000
    np.testing.assert_allclose(np.asarray(exported.call(X)), wanted(X), rtol=1e-5, atol=1e-6)


def test_check_compares_every_way(project, capsys):
    assert main(["check", "net.py:grow", "--arg", "f32[4]"]) == 0
    said = capsys.readouterr().out
    for way in ("jit", *checks.LEVELS, "reference"):
        assert f"\n{way}" in said
    assert "DIFFERS" not in said and "max ulp" in said


def test_check_as_json(project, capsys):
    assert main(["check", "net.py:two", "--arg", "f32[3]", "--arg", "f32[3]", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {r["name"] for r in data["rows"]} == {"sum", "product"} and all(r["is_close"] for r in data["rows"])


def test_check_finds_the_first_departure(project, capsys):
    assert main(["check", "net.py:impure", "--arg", "f32[3]"]) == EXIT_DIFFERENT
    assert "DIFFERS" in capsys.readouterr().out


def test_a_departure_names_equation_and_line(monkeypatch):
    import onax.numpy as jnp

    def f(x):
        y = jnp.sin(x)
        return jnp.exp(y)

    x = jnp.ones(3)
    assert checks.first_difference(f, (x,)) is None
    compare = checks.report.compare
    monkeypatch.setattr(
        checks.report, "compare", lambda n, g, w, r: Comparison(n, 1, 1, False) if n == "exp" else compare(n, g, w, r)
    )
    found = checks.first_difference(f, (x,))
    assert " exp " in found.equation and "test_commands.py" in found.line


def test_check_a_file(project, capsys):
    made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["check", "p.onnx", "--example", "inputs.npz"]) == 0
    said = capsys.readouterr().out
    assert "against ort-0" in said and "reference" in said


def test_inspect(project, capsys):
    made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["inspect", "p.onnx"]) == 0
    said = capsys.readouterr().out
    for part in (
        "x  f32[batch,8]",
        "symbolic dimensions  batch",
        "MatMul",
        "parameters  3,332",
        "source  predict at " + os.path.join(str(project), "net.py"),
        "net.py:7",
        "opset 21",
    ):
        assert part in said, part
    assert main(["inspect", "p.onnx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == 3332


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_drawing(project, capsys, kind):
    pytest.importorskip("pygraphviz")
    made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["inspect", "p.onnx", "--draw", f"p.{kind}", "--quiet"]) == 0
    with open(f"p.{kind}", encoding="utf-8") as file:
        text = file.read()
    assert "<svg" in text and "MatMul" in text and "net.py:7" in text and "batch,8" in text
    assert main(["inspect", "p.onnx", "--draw", "p.gif"]) == EXIT_FAILED
    assert "must end with" in capsys.readouterr().err


def test_run(project, capsys):
    made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["run", "p.onnx", "--example", "inputs.npz", "-o", "results.npz"]) == 0
    with np.load("results.npz") as stored:
        np.testing.assert_allclose(stored["out"], wanted(X), rtol=1e-5, atol=1e-6)
    assert "out  float32[5, 4]" in capsys.readouterr().out
    assert main(["run", "p.onnx"]) == 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["inspect", "net.py"], "not an ONNX model"),
        (["run", "none.onnx"], "cannot read none.onnx"),
        (["check", "none.onnx"], "cannot read none.onnx"),
        (["export", "net.py:predict", "--params", "none.npz"], "none.npz cannot be read"),
        (["export", "net.py:predict", "--params", "none.safetensors"], "there is no file none.safetensors"),
        (["export", "net.py:predict", "--example", "net.py"], "net.py cannot be read"),
        (["export", "net.py:counts", "--arg", "f32[3]", "--dynamic", "7:0=b"], "matches no argument"),
        (["export", "net.py:counts", "--arg", "f32[3]", "--dynamic", "x=b"], "neither NAME nor"),
    ],
)
def test_errors(project, capsys, arguments, message):
    before = sorted(os.listdir())
    assert main(arguments) == EXIT_FAILED
    assert message in capsys.readouterr().err
    assert [n for n in sorted(os.listdir()) if n not in before and n != "__pycache__"] == []


def test_wrong_number_of_example_arrays(project, capsys):
    made("--params", "weights.npz", "--example", "inputs.npz")
    np.savez("more.npz", X, X)
    assert main(["run", "p.onnx", "--example", "more.npz"]) == EXIT_FAILED
    assert "holds 2 arrays" in capsys.readouterr().err


def test_pickled_arrays_are_refused(project, capsys):
    np.savez("evil.npz", np.array([{}], dtype=object))
    assert main(["export", "net.py:predict", "--params", "evil.npz"]) == EXIT_FAILED
    assert "evil.npz cannot be read" in capsys.readouterr().err


def test_nested_names():
    assert targets.unflatten_names({"a.0": 1, "a.1": 2, "b.x": 3}) == {"a": [1, 2], "b": {"x": 3}}
    with pytest.raises(targets.ExportError, match="conflict"):
        targets.unflatten_names({"a": 1, "a.b": 2})


@pytest.mark.parametrize(
    "got, want, ulp",
    [(1 + 2**-23, 1.0, 1), (1.0, 1.0, 0), (np.nan, np.nan, 0), (np.inf, 1.0, np.inf), (2 - 2**-23, 2.0, 0.5)],
)
def test_ulps(got, want, ulp):
    assert checks.largest_ulp(np.array(got, np.float32), np.array(want, np.float32)) == ulp
