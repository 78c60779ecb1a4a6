"""Smaller forms of artefacts: float16, bfloat16, int8, and what ONNX Runtime folds."""

import numpy as np
import onnx
import pytest

import command_line
from onax._commands import export_main as main
from onax.export import load


@pytest.fixture
def project(tmp_path, monkeypatch):
    yield from command_line.in_project(tmp_path, monkeypatch)


@pytest.mark.parametrize("dtype, stored", [("float16", 10), ("bfloat16", 16), ("int8", 3)])
def test_smaller_forms(project, dtype, stored):
    exported = command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dtype", dtype, "--check")
    assert stored in {t.data_type for t in exported.onnx_model.graph.initializer if len(t.dims) == 2}
    plain = command_line.made("--params", "weights.npz", "--example", "inputs.npz")
    assert len(exported.onnx_model_serialized) < 0.75 * len(plain.onnx_model_serialized)
    assert exported.in_avals[0].dtype == np.float32
    np.testing.assert_allclose(np.asarray(exported.call(command_line.X)), command_line.wanted(command_line.X), atol=0.1)
    onnx.checker.check_model(exported.onnx_model, full_check=True)


def test_bfloat16_parameters_as_inputs(project):
    exported = command_line.made(
        "--params", "weights.npz", "--example", "inputs.npz", "--weights", "inputs", "--dtype", "bfloat16"
    )
    assert [a.dtype.name for a in exported.in_avals] == ["bfloat16"] * 4 + ["float32"]
    assert exported.out_avals[0].dtype == np.float32


def test_bfloat16_parameters_as_results_too(project):
    specs = "--arg", "{w: f32[5]}", "--arg", "f32[5]"
    assert main(["export", "net.py:updated", *specs, "--dtype", "bfloat16", "--check", "--quiet", "-o", "u.onnx"]) == 0
    assert [a.dtype.name for a in load("u.onnx").in_avals] == ["bfloat16", "float32"]


def test_optimised(project):
    plain = command_line.made("--params", "weights.npz", "--example", "inputs.npz")
    exported = command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--optimize", "--check")
    assert len(exported.onnx_model.graph.node) <= len(plain.onnx_model.graph.node)
    assert {o.domain for o in exported.onnx_model.opset_import} == {""}
    np.testing.assert_allclose(
        np.asarray(exported.call(command_line.X)), command_line.wanted(command_line.X), rtol=1e-5, atol=1e-6
    )
