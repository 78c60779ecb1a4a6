"""The proof on a CUDA device as a program: stages, crashes, and that nothing is written without a device."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

import script_modules

FOLDER = script_modules.SCRIPTS / "gpu"


@pytest.fixture
def scripts():
    with script_modules.imported("gpu", "recording", "run") as modules:
        yield modules


def test_stages_run_against_the_stand_in(tmp_path):
    command = [
        sys.executable, str(FOLDER / "run.py"), "--stand-in", "--at-most", "3", "--out", str(tmp_path), "--jobs", "2",
        "--stages", "laws", "nests", "device_arrays", "sharded", "divergence", "benchmark",
        "--peers", "onax-cuda", "onax-cuda-host", "onax-cpu", "--only", "scan of 1000 steps, f32[16]",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing was proven: a stand-in took the place of the device." in done.stdout
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert found["stand_in"] and set(found["stages"]) == {"laws", "nests", "device_arrays", "sharded", "divergence"}
    for name, results in found["stages"].items():
        assert results["finished"] and len(results["items"]) == 3, name
        assert all("passed" in item for item in results["items"].values()), results
    for peer in ("onax-cuda", "onax-cuda-host", "onax-cpu"):
        assert found["benchmark"][peer]["scan of 1000 steps, f32[16]"]["seconds"] > 0
    text = (tmp_path / "gpu.md").read_text()
    assert "**Nothing was proven" in text and "| laws | 3 | 0 | 0 | yes |" in text


def test_without_a_device_nothing_is_written(tmp_path, scripts):
    if scripts.run.describe()["missing"] is None:
        pytest.skip("there is a CUDA device")
    command = [sys.executable, str(FOLDER / "run.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.startswith("Nothing was proven: ")
    assert not list(tmp_path.iterdir())


def test_a_stage_goes_on_behind_the_item_that_ended_its_process(tmp_path, scripts, monkeypatch):
    path, calls = tmp_path / "stage.json", []

    def process(command, **_):
        calls.append(command)
        recording = scripts.recording.Recording(path)
        if len(calls) == 1:
            recording.items["a"], recording.current = {"passed": True}, "b"
            recording.save()
            return SimpleNamespace(returncode=-11, stderr="Segmentation fault")
        assert set(recording.items) == {"a", "b"}
        recording.run([("a", None), ("b", None), ("c", lambda: None)], 60)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(scripts.run.subprocess, "run", process)
    options = SimpleNamespace(stand_in=False, at_most=0)
    found = scripts.run.run_stage("laws", path, 60, options)
    assert len(calls) == 2 and found["finished"]
    assert "status -11" in found["items"]["b"]["failed"] and found["items"]["c"] == {"passed": True}
