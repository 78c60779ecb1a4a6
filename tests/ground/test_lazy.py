"""Handles that import on first use, and finding ONNX Runtime without importing it."""

import os
import subprocess
import sys

import pytest

from onax._ground import lazy


def test_nothing_is_loaded_by_import():
    program = (
        "import sys, onax._ground.lazy, onax._ground.devices\n"
        "print([m for m in ('onnx', 'onnxruntime', 'scipy', 'importlib.metadata', 'inspect2') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_first_use_imports():
    handle = lazy.LazyModule("colorsys")
    assert handle.rgb_to_hsv(0, 0, 0) == (0, 0, 0) and "colorsys" in sys.modules
    with pytest.raises(AttributeError):
        _ = handle.nothing


def test_missing_package_names_itself():
    with pytest.raises(ImportError, match="pip install fruit"):
        _ = lazy.LazyModule("fruit_of_no_kind", "fruit").apple


def test_runtime_is_found():
    found = lazy.find_runtime()
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
        lazy._describe(str(tmp_path / "onnxruntime"))


def test_no_installation(monkeypatch):
    monkeypatch.setattr(lazy, "importlib_util", type("Nothing", (), {"find_spec": lambda name: None}))
    monkeypatch.setattr(lazy, "_found", None)
    with pytest.raises(ImportError, match="onax needs ONNX Runtime"):
        lazy.find_runtime()


def test_found_providers(tmp_path):
    (tmp_path / "onnxruntime" / "capi").mkdir(parents=True)
    (tmp_path / "onnxruntime_gpu-1.2.3.dist-info").mkdir()
    library = lazy._LIBRARY.get(sys.platform, "libonnxruntime.so.{version}").format(version="1.2.3")
    for name in (library, "libonnxruntime_providers_cuda.so"):
        (tmp_path / "onnxruntime" / "capi" / name).touch()
    found = lazy._describe(str(tmp_path / "onnxruntime"))
    assert found.providers == ("CUDAExecutionProvider", "CPUExecutionProvider") and found.version == "1.2.3"
