"""Handles that import on first use."""

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
