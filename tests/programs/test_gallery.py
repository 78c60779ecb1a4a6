"""The programs of the gallery run; each ends with assertions about what it computed."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
LIBRARIES = {"equinox_spirals.py": ("equinox", "optax"), "flax_digits.py": ("flax", "optax", "sklearn")}
PROGRAMS = sorted(path.name for path in GALLERY.glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    pytest.importorskip("matplotlib")
    missing = [library for library in LIBRARIES.get(name, ()) if importlib.util.find_spec(library) is None]
    if missing:
        pytest.skip(f"{name} needs {', '.join(missing)} (docs/requirements-interop.txt, which `make docs` installs)")
    environment = os.environ | {"MPLBACKEND": "Agg"}
    command = [sys.executable, str(GALLERY / name)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nassert " in (GALLERY / name).read_text(), "a program of the gallery ends with what must hold"
