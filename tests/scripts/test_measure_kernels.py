"""Measuring which operators a provider runs: the committed table again, and the refusal where there is no device."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import onax
import script_modules
from onax._ground import onnx_runtime
from onax.export.graph import kernels


def test_measuring_again_gives_what_the_file_says(tmp_path):
    """scripts/measure_kernels.py, run as a program, on a few operators."""
    out = tmp_path / "kernels.json"
    names = ["Add", "Where", "Pad:edge", "CumProd"]
    script = script_modules.SCRIPTS / "measure_kernels.py"
    subprocess.run([sys.executable, script, "--out", out, *names], check=True, capture_output=True)
    got = json.loads(out.read_text())
    assert got["runtime"] == onnx_runtime.find_runtime().version and sorted(got["ops"]) == sorted(names)
    committed = json.loads(Path(kernels.__file__).with_name("kernels.json").read_text())
    assert got["ops"] == {name: committed["ops"][name] for name in names}


@pytest.mark.skipif(any(d.platform == "gpu" for d in onax.devices()), reason="there is a CUDA device")
def test_without_a_device_nothing_is_measured_for_cuda(tmp_path):
    script = script_modules.SCRIPTS / "measure_kernels.py"
    command = [sys.executable, script, "--provider", "cuda", "--out", tmp_path / "kernels.json", "Add"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "nothing was measured, nothing is written" in done.stderr
    assert not list(tmp_path.iterdir())
