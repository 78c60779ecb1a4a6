"""The command `inspect`: what it prints, draws and gives as JSON."""

import json
import random

import pytest
from onnx import parser

import command_line
from onax._commands import export_main as main
from onax.errors import ArtifactError
from onax.export import inspection
from onax.export.artifact import parse
from onax.export.cli import EXIT_FAILED
from onnx_nodes import mutated


@pytest.fixture
def project(tmp_path, monkeypatch):
    yield from command_line.in_project(tmp_path, monkeypatch)


def test_inspect(project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["inspect", "p.onnx"]) == 0
    said = capsys.readouterr().out
    for part in (
        "x  f32[batch,8]",
        "symbolic dimensions  batch",
        "Gemm",
        "parameters  3,332",
        "source  predict at net.py:5",
        "net.py:7",
        "opset 21",
    ):
        assert part in said, part
    assert main(["inspect", "p.onnx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == 3332


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_drawing(project, capsys, kind):
    pytest.importorskip("pygraphviz")
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["inspect", "p.onnx", "--draw", f"p.{kind}", "--quiet"]) == 0
    with open(f"p.{kind}", encoding="utf-8") as file:
        text = file.read()
    assert "<svg" in text and "Gemm" in text and "net.py:7" in text and "batch,8" in text
    assert main(["inspect", "p.onnx", "--draw", "p.gif"]) == EXIT_FAILED
    assert "must end with" in capsys.readouterr().err


FOREIGN = """
<ir_version: 8, opset_import: ["" : 18], producer_name: "someone", producer_version: "2">
net (float[batch, 3] x, bfloat16 s) => (double[batch, 4] y)
<float[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
  z = MatMul (x, w)
  y = Cast <to = 11> (z)
}
"""


def test_files_of_other_programs(tmp_path, capsys):
    path = tmp_path / "net.onnx"
    path.write_bytes(parser.parse_model(FOREIGN).SerializeToString())
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    for part in (
        "net  (opset 18, IR version 8, by someone 2)",
        "x  f32[batch,3]",
        "s  bf16[]",
        "y  f64[batch,4]",
        "symbolic dimensions  batch",
        "parameters  12 in 48 bytes",
        "MatMul",
    ):
        assert part in said, part
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["opsets"] == {"ai.onnx": 18}


SMALL = """
<ir_version: 8, opset_import: ["" : 18]>
small (bool c, float[n, 3] x) => (float[n, 3] y) <float[3] w = {1.0, 2.0, 3.0}> {
  y = If (c) <then_branch = one () => (float[n, 3] p) { p = Add (x, w) },
              else_branch = two () => (float[n, 3] q) { q = Neg (x) }>
}
"""


def test_texts_that_are_not_utf_8():
    """The name of an input of a node, of an operator, a key of the metadata: protobuf reads each as bytes."""
    model = parser.parse_model(SMALL)
    model.metadata_props.add(key="kept", value="text")
    raw = model.SerializeToString()
    for text in (b"Add", b"kept", b"p", b"then_branch"):
        at = raw.index(text)
        changed = raw[:at] + b"\xff" + raw[at + 1 :]
        with pytest.raises(ArtifactError, match="not UTF-8"):
            inspection.model_to_data(parse(changed), len(changed))


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_damaged_files(count):
    raw, generator, read = parser.parse_model(SMALL).SerializeToString(), random.Random(2), 0
    for _ in range(count):
        try:
            changed = mutated(raw, generator)
            inspection.model_to_data(parse(changed), len(changed))
            read += 1
        except ArtifactError as error:
            assert "ONNX" in str(error)
    assert count / 40 < read < count * 39 / 40
