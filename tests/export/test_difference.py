"""The command `diff`: types, operators, constants and results of two files."""

import json
import random

import numpy as np
import onnx
import pytest
from onnx import parser

import onax.numpy as jnp
from onax._commands import export_main as main
from onax.export import export
from onnx_nodes import mutated

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
BASE = "net (float[n, 2] x) => (float[n, 2] y) <float[2] w = {1, 2}> { z = Mul (x, w) y = Tanh (z) }"
CASES = {
    "the same": (BASE, 0, ["nodes  2", "0 changed", "y  agrees"]),
    "another order": (BASE.replace("Mul (x, w)", "Mul (w, x)"), 0, ["y  agrees"]),
    "another operator": (BASE.replace("Tanh", "Sin"), 1, ["Sin: 0 -> 1", "Tanh: 1 -> 0", "y  DIFFERS"]),
    "another constant": (BASE.replace("{1, 2}", "{1, 3}"), 1, ["1 changed", "  w", "y  DIFFERS"]),
    "another type": (BASE.replace("float[n, 2]", "float[2, 2]"), 1, ["input  x: f32[n,2] -> f32[2,2]", "y  agrees"]),
    "another name": (
        BASE.replace("(float[n, 2] y)", "(float[n, 2] r)").replace("y =", "r ="),
        1,
        ["y: f32[n,2] -> nothing", "y -> r  agrees"],
    ),
    "other names and results": (
        BASE.replace("y", "r").replace("x", "v").replace("n,", "rows,").replace("Tanh", "Sin"),
        1,
        ["input  x: f32[n,2] -> nothing", "input  v: nothing -> f32[rows,2]", "y -> r  DIFFERS"],
    ),
    "a size of its own": (BASE.replace("float[n, 2]", "float[5, 2]"), 1, ["x: f32[n,2] -> f32[5,2]", "y  agrees"]),
    "other sizes": (
        "net (float[n, 3] x) => (float[n, 3] y) { y = Tanh (x) }",
        1,
        ["input  x: f32[n,2] -> f32[n,3]", "Mul: 1 -> 0"],
    ),
    "two outputs": (
        BASE.replace("=> (float[n, 2] y)", "=> (float[n, 2] y, float[n, 2] z)"),
        1,
        ["output  z: nothing -> f32[n,2]"],
    ),
    "no run": (
        "net (float[n, 2] v) => (float[n, 2] y) { y = Unheard (v) }",
        1,
        ["input  v: nothing -> f32[n,2]", "Unheard: 0 -> 1"],
    ),
}


@pytest.mark.parametrize("text, code, said", CASES.values(), ids=CASES)
def test_diff(tmp_path, capsys, text, code, said):
    paths = []
    for name, source in (("a", BASE), ("b", text)):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(parser.parse_model(HEAD + source).SerializeToString())
        paths.append(str(path))
    assert main(["diff", *paths]) == code
    out = capsys.readouterr().out
    for part in said:
        assert part in out, out
    assert main(["diff", *paths, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["same"] == (code == 0)


NOT_RUN = {
    "strings": ("net (string[2] x) => (string[2] y) { y = Identity (x) }", "an input holds strings"),
    "a sequence": (
        "net (seq(float[2]) x) => (float[2] y) { i = Constant <value_int = 0> () y = SequenceAt (x, i) }",
        "'x' is not a tensor",
    ),
    "an unknown operator": ("net (float[2] x) => (float[2] y) { y = Unheard (x) }", "ONNX Runtime refused"),
}


@pytest.mark.parametrize("text, reason", NOT_RUN.values(), ids=NOT_RUN)
def test_graphs_are_compared_where_models_cannot_be_run(tmp_path, capsys, text, reason):
    paths = []
    changed = text.replace(") {", ") { c = Constant <value_float = 1.0> () t = Abs (c)")
    for name, source in (("a", text), ("b", changed)):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(parser.parse_model(HEAD + source).SerializeToString())
        paths.append(str(path))
    assert main(["diff", *paths]) == 2
    out, err = capsys.readouterr()
    assert "Abs: 0 -> 1" in out and reason in err and "not compared" in err
    assert main(["diff", *paths, "--json"]) == 2
    data = json.loads(capsys.readouterr().out)
    assert data["same"] is None and reason in data["not_run"] and data["operators"]["Abs"] == [0, 1]


def test_an_input_of_no_element_type(tmp_path, capsys):
    model = parser.parse_model(HEAD + BASE)
    model.graph.input[0].type.tensor_type.elem_type = 0
    path = tmp_path / "a.onnx"
    path.write_bytes(model.SerializeToString())
    assert main(["diff", str(path), str(path)]) == 2
    assert "element type 0" in capsys.readouterr().err


def test_no_model(tmp_path, capsys):
    (tmp_path / "a.onnx").write_bytes(b"abc")
    assert main(["diff", str(tmp_path / "a.onnx"), str(tmp_path / "none.onnx")]) == 2
    assert "not an ONNX model" in capsys.readouterr().err


def test_constants_in_second_files(tmp_path, capsys):
    """Models with constants in files beside them are compared with each other and with one that has them inside."""
    weights = np.arange(600.0, dtype=np.float32).reshape(2, 300)
    paths = []
    for name, factor, outside in (("inside", 1, False), ("outside", 1, True), ("other", 2, True)):
        exported = export(lambda x, w=weights * factor: jnp.abs(x @ w))(np.ones((3, 2), np.float32))
        paths.append(str(tmp_path / f"{name}.onnx"))
        exported.save(paths[-1], external_data=outside)
    assert main(["diff", paths[0], paths[1]]) == 0 and "0 changed" in capsys.readouterr().out
    assert main(["diff", paths[1], paths[2]]) == 1 and "1 changed" in capsys.readouterr().out
    with open(paths[2] + ".data", "r+b") as file:
        file.truncate(100)
    assert main(["diff", paths[1], paths[2]]) == 2 and "too short" in capsys.readouterr().err


WRONG_PLACES = [
    ("offset", "-1", "negative"),
    ("offset", "9" * 30, "too short"),
    ("length", "9" * 30, "too short"),
    ("length", "x", "cannot be read"),
    ("location", "a\0b", "only files in the folder"),
    ("location", "a" * 5000, "missing"),
]


@pytest.mark.parametrize("key, value, said", WRONG_PLACES, ids=[f"{k} {v[:4]!r}" for k, v, _ in WRONG_PLACES])
def test_constants_at_wrong_places(tmp_path, capsys, key, value, said):
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for name, text in {"location": "w.bin", key: value}.items():
        tensor.external_data.add(key=name, value=text)
    (tmp_path / "w.bin").write_bytes(bytes(8))
    model = parser.parse_model(HEAD + BASE)
    model.graph.initializer[0].CopyFrom(tensor)
    path = tmp_path / "a.onnx"
    path.write_bytes(model.SerializeToString())
    assert main(["diff", str(path), str(path)]) == 2
    err = capsys.readouterr().err
    assert said in err and len(err) < 500


@pytest.mark.parametrize("count", [50, pytest.param(2_000, marks=pytest.mark.slow)])
def test_damaged_files(tmp_path, capsys, count):
    """The command ends with an exit code, whatever a file holds."""
    raw, generator = parser.parse_model(HEAD + BASE).SerializeToString(), random.Random(3)
    whole, damaged = tmp_path / "a.onnx", tmp_path / "b.onnx"
    whole.write_bytes(raw)
    codes = set()
    for _ in range(count):
        damaged.write_bytes(mutated(raw, generator))
        codes.add(main(["diff", str(whole), str(damaged)]))
        capsys.readouterr()
    assert codes == {0, 1, 2}
