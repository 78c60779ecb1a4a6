"""The tests on other versions of Python: which Python is found, and what is said where there is none."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("python_versions", ROOT / "scripts" / "python_versions.py")
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)
VERSION = "{}.{}".format(*sys.version_info)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with an empty PATH and without pyenv: a folder on PATH, and pyenv's folder of versions."""
    programs, versions = tmp_path / "bin", tmp_path / "pyenv" / "versions"
    programs.mkdir()
    versions.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("PYENV_ROOT", str(versions.parent))
    return programs, versions


def link(path):
    """A program that runs this Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def test_the_one_on_path_comes_first(machine):
    programs, versions = machine
    assert script.find(VERSION) is None
    of_pyenv = link(versions / f"{VERSION}.2" / "bin" / "python")
    assert script.find(VERSION) == of_pyenv
    on_path = link(programs / f"python{VERSION}")
    assert script.find(VERSION) == on_path


def test_pyenvs_newest_is_taken(machine):
    _, versions = machine
    for patch in ("9", "10", "2-dev"):
        link(versions / f"{VERSION}.{patch}" / "bin" / "python")
    assert script.find(VERSION) == str(versions / f"{VERSION}.10" / "bin" / "python")


def test_another_version_under_the_name_is_refused(machine):
    programs, _ = machine
    link(programs / "python3.99")
    assert script.find("3.99") is None


@pytest.mark.usefixtures("machine")
def test_what_is_missing_is_said(capsys):
    assert script.main(["--short", "3.98", "3.99"]) == 0
    shown = capsys.readouterr().out
    assert "!!! Python 3.98: NOT RUN" in shown and "!!! Python 3.99: NOT RUN" in shown


def test_failures_are_reported(machine, monkeypatch, capsys):
    programs, _ = machine
    link(programs / f"python{VERSION}")
    monkeypatch.setattr(script, "build", lambda version, executable: sys.executable)
    monkeypatch.setenv("PYTEST_ADDOPTS", "")
    missing = os.fspath(ROOT / "tests" / "no_such_folder")
    assert script.main([VERSION, "--", missing]) == 1
    assert f"!!! Python {VERSION}: the tests failed with status 4" in capsys.readouterr().out
    assert script.main([VERSION, "--", "--version"]) == 0


def test_the_folders_of_the_short_half_exist():
    assert all((ROOT / "tests" / folder).is_dir() for folder in script.SHORT)
