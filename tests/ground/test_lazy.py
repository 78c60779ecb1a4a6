"""Handles that import on first use, and finding ONNX Runtime without importing it."""

import os
import subprocess
import sys

import pytest

from onax._ground import lazy

FAKE = """
class Distribution:
    def __init__(self, name):
        self.version, self.metadata, self.files = "1.31.1", {"Name": name}, []
    def locate_file(self, path):
        return path
"""


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
    assert os.path.isfile(found.library) and found.distribution in lazy.ORT_DISTRIBUTIONS
    assert found.providers[-1] == "CPUExecutionProvider" and found.version in found.library
    assert "onnxruntime" not in sys.modules or lazy.find_runtime() is found


@pytest.mark.parametrize(
    "names, message",
    [
        ((), "onax needs ONNX Runtime"),
        (("onnxruntime", "onnxruntime-gpu"), "pip uninstall -y onnxruntime onnxruntime-gpu"),
        (("onnxruntime-gpu",), "its library libonnxruntime"),
    ],
)
def test_bad_installations(names, message, monkeypatch):
    class Metadata:
        class PackageNotFoundError(Exception):
            pass

        @classmethod
        def distribution(cls, name):
            if name not in names:
                raise cls.PackageNotFoundError(name)
            space = {}
            exec(FAKE, space)
            return space["Distribution"](name)

    monkeypatch.setattr(lazy, "metadata", Metadata)
    monkeypatch.setattr(lazy, "_found", None)
    with pytest.raises(ImportError, match=message):
        lazy.find_runtime()
