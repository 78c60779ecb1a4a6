"""scripts/export.py as a program, and its file in a process that has only ONNX Runtime and NumPy."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "export.py"

NET = """
import numpy as np
from onax import lax

W = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)

def predict(x):
    return lax.tanh(lax.dot(x, W))
"""

REPLAY = """
import sys
import numpy as np
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
W = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)
for n in (1, 3):
    x = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
    (y,) = session.run(["out"], {"x": x})
    np.testing.assert_allclose(y, np.tanh(x @ W), rtol=1e-5, atol=1e-6)
assert "onax" not in sys.modules
"""


def run(*command, cwd):
    return subprocess.run([sys.executable, *map(str, command)], cwd=cwd, capture_output=True, text=True)


def test_export_and_replay(tmp_path):
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "replay.py").write_text(REPLAY)
    done = run(SCRIPT, "net.py:predict", "--arg", "f32[batch,8]", "-o", "p.onnx", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "check with batch" in done.stdout and done.stderr == ""
    replayed = run("replay.py", "p.onnx", cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stderr


@pytest.mark.parametrize(
    "arguments, code, part",
    [
        (["export", "--help"], 0, "--arg SPEC"),
        (["--help"], 0, "export,check,inspect,run"),
        ([], 2, "the following arguments are required"),
        (["net.py:predict", "--arg", "f32[2,"], 2, "\n       ^"),
    ],
)
def test_exit_codes(tmp_path, arguments, code, part):
    (tmp_path / "net.py").write_text(NET)
    done = run(SCRIPT, *arguments, cwd=tmp_path)
    assert done.returncode == code and part in done.stdout + done.stderr
