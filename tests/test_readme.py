"""What the README says runs: its Python block as a program, and its command line for exports."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def block(language):
    """The README's first block in a language that mentions `step`."""
    return next(b for b in re.findall(rf"```{language}\n(.*?)```", README, re.S) if "step" in b)


def run(command, folder):
    """What a command printed; it must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_runs(tmp_path):
    program = block("python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 30
    (tmp_path / "train.py").write_text(program)
    value, *rest = run([sys.executable, "train.py"], tmp_path).splitlines()
    assert 0 < float(value) < 0.02  # "about 0.01"
    assert any("sin" in line for line in rest) and (tmp_path / "step.onnx").stat().st_size > 500


def test_the_command_line_exports_it(tmp_path):
    (tmp_path / "train.py").write_text(block("python"))
    command = block("sh").replace("\\\n", " ").replace("python scripts", f"{sys.executable} {ROOT}/scripts")
    said = run(["bash", "-c", command], tmp_path)
    assert "step.onnx" in said and (tmp_path / "step.onnx").exists()
