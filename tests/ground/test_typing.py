"""What mypy and pyright infer of programs of users."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "pkg"
PROGRAMS = TESTS.parent / "build" / "node" / "node_modules" / ".bin"  # of `make node`
PYRIGHT = shutil.which("pyright") or shutil.which("pyright", path=PROGRAMS)
MISTAKES = (TESTS / "typed_mistakes.py").read_text().count("  # ")


def mypy(path, folder):
    """The lines of mypy's report on a program."""
    options = ["--config-file", str(TESTS.parent / "pyproject.toml"), "--check-untyped-defs", "--no-implicit-reexport"]
    options += ["--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(TESTS.parent / ".mypy_cache"), str(path)]
    environment = os.environ | {"MYPYPATH": str(SOURCE)}
    done = subprocess.run(command, env=environment, cwd=TESTS, capture_output=True, text=True)
    assert not done.stderr
    return [line for line in done.stdout.splitlines() if path.name in line and ": error: " in line]


def pyright(path, folder):
    """The lines of pyright's report on a program."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": [path.name], "extraPaths": [str(SOURCE)]}))
    shutil.copy(path, folder)
    command = [PYRIGHT, "--pythonpath", sys.executable, "--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "No source files" not in done.stdout and not done.stderr, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if " - error: " in line]


CHECKERS = [
    mypy,
    pytest.param(pyright, marks=pytest.mark.skipif(PYRIGHT is None, reason="pyright is not there: make node")),
]


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs(checker, tmp_path):
    assert checker(TESTS / "typed_programs.py", tmp_path) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker, tmp_path):
    found = checker(TESTS / "typed_mistakes.py", tmp_path)
    assert len(found) == MISTAKES, "\n".join(found)
