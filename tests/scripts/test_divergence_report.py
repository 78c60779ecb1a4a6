"""The report as a script."""

import subprocess
import sys

import script_modules


def test_a_small_report(tmp_path):
    script = script_modules.SCRIPTS / "divergence_report.py"
    out = tmp_path / "report.md"
    options = ["--backends", "eager", "--only", "random", "--format", "markdown", "-o", str(out)]
    done = subprocess.run([sys.executable, script, *options], capture_output=True, text=True)
    assert done.returncode == 0 and out.read_text().startswith("#"), done.stderr


def test_an_unknown_backend():
    script = script_modules.SCRIPTS / "divergence_report.py"
    done = subprocess.run([sys.executable, script, "--backends", "abacus"], capture_output=True, text=True)
    assert done.returncode != 0 and "abacus" in done.stderr
