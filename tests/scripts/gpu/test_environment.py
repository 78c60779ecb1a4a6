"""What the proof finds out about the machine: versions, answers of nvidia-smi, reasons for a missing device."""

from types import SimpleNamespace

import numpy
import pytest

import script_modules


@pytest.fixture
def environment():
    with script_modules.imported("gpu", "environment") as modules:
        yield modules.environment


def answer(monkeypatch, environment, text, returncode=0):
    done = SimpleNamespace(stdout=text, stderr="", returncode=returncode)
    monkeypatch.setattr(environment.shutil, "which", lambda _: "/bin/nvidia-smi")
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: done)


def test_a_device(environment, monkeypatch):
    answer(monkeypatch, environment, "X1, 600.1, 80000, 9.0\nX2, 600.1, 80000, 9.0\n")
    found = environment.describe()
    assert (found["device"], found["driver"], found["memory"]) == ("X1", "600.1", "80000 MiB")
    assert found["compute capability"] == "9.0" and found["missing"] is None
    assert found["packages"]["numpy"] == numpy.__version__ and "cupy" not in found["packages"]


@pytest.mark.parametrize("text, wanted", [("3.5\n", int(3.5 * 2**20)), ("[N/A]\n", None), ("", None)])
def test_memory_in_use(environment, monkeypatch, text, wanted):
    answer(monkeypatch, environment, text)
    assert environment.device_memory_used() == wanted


def test_without_the_program_or_the_driver(environment, monkeypatch):
    answer(monkeypatch, environment, "no driver\n", returncode=9)
    assert environment.device_memory_used() is None
    monkeypatch.setattr(environment.shutil, "which", lambda _: None)
    assert environment.device_memory_used() is None


@pytest.mark.parametrize("stderr, wanted", [("Traceback\nno device\n", "no device"), ("", "status 3")])
def test_the_reason_is_the_last_line(environment, monkeypatch, stderr, wanted):
    done = SimpleNamespace(stdout="", stderr=stderr, returncode=3)
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: done)
    assert environment._missing() == wanted
