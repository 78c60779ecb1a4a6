"""The programs of the gallery run; each ends with assertions about what it computed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
PROGRAMS = sorted(path.name for path in GALLERY.glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    pytest.importorskip("matplotlib")
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, str(GALLERY / name)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nassert " in (GALLERY / name).read_text(), "a program of the gallery ends with what must hold"
