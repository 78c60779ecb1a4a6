"""Finding ONNX Runtime without importing it."""

import os
import sys

import pytest

from onax._ground import lazy, onnx_runtime


def test_runtime_is_found():
    found = onnx_runtime.find_runtime()
    assert os.path.isfile(found.library) and found.distribution.startswith("onnxruntime")
    assert found.providers[-1] == "CPUExecutionProvider" and found.version in found.library


@pytest.mark.parametrize(
    "files, message",
    [
        (["onnxruntime-1.31.1", "onnxruntime_gpu-1.31.1"], "pip uninstall -y onnxruntime onnxruntime-gpu"),
        (["onnxruntime_gpu-1.31.1"], "onnxruntime-gpu 1.31.1 is installed, but its library"),
        (["onnx-1.0"], "was not installed by pip"),
    ],
)
def test_bad_installations(files, message, tmp_path):
    (tmp_path / "onnxruntime" / "capi").mkdir(parents=True)
    for name in files:
        (tmp_path / f"{name}.dist-info").mkdir()
    with pytest.raises(ImportError, match=message):
        onnx_runtime._describe(str(tmp_path / "onnxruntime"))


def test_no_installation(monkeypatch):
    monkeypatch.setattr(lazy, "importlib_util", type("Nothing", (), {"find_spec": lambda name: None}))
    monkeypatch.setattr(onnx_runtime, "_found", None)
    with pytest.raises(ImportError, match="onax needs ONNX Runtime"):
        onnx_runtime.find_runtime()


def test_found_providers(tmp_path):
    (tmp_path / "onnxruntime" / "capi").mkdir(parents=True)
    (tmp_path / "onnxruntime_gpu-1.2.3.dist-info").mkdir()
    library = onnx_runtime._LIBRARY.get(sys.platform, "libonnxruntime.so.{version}").format(version="1.2.3")
    for name in (library, "libonnxruntime_providers_cuda.so"):
        (tmp_path / "onnxruntime" / "capi" / name).touch()
    found = onnx_runtime._describe(str(tmp_path / "onnxruntime"))
    assert found.providers == ("CUDAExecutionProvider", "CPUExecutionProvider") and found.version == "1.2.3"
