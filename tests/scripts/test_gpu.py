"""The proof on a CUDA device (scripts/gpu): its own logic, tried without one; nothing here says anything about CUDA."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "scripts" / "gpu"


@pytest.fixture
def scripts(monkeypatch):
    """The modules of scripts/gpu, importable by their names."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("recording", "report", "environment", "workloads", "timing", "correctness", "run")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import recording
    import report
    import run

    yield SimpleNamespace(recording=recording, report=report, run=run)
    for name in names:
        sys.modules.pop(name, None)


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


def test_a_failing_item_leaves_the_others_alone(tmp_path, scripts):
    def fail():
        raise ValueError("wrong by 3")

    def skip():
        raise scripts.recording.Skip("not here")

    path = tmp_path / "stage.json"
    stage = [("a", lambda: None), ("b", fail), ("c", skip), ("d", lambda: {"n": 2})]
    scripts.recording.Recording(path).run(stage, 60)
    found = json.loads(path.read_text())
    assert found["finished"] and found["current"] is None
    assert found["items"]["a"] == {"passed": True} and found["items"]["d"] == {"passed": True, "numbers": {"n": 2}}
    assert "wrong by 3" in found["items"]["b"]["failed"] and found["items"]["c"] == {"skipped": "not here"}


def test_items_past_the_time_are_skipped(tmp_path, scripts):
    path = tmp_path / "stage.json"
    scripts.recording.Recording(path).run([("a", lambda: None)], -1)
    assert "time" in json.loads(path.read_text())["items"]["a"]["skipped"]


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


def test_a_new_report_keeps_the_review(tmp_path, scripts):
    path = tmp_path / "gpu.md"
    facts = {
        "environment": {"device": "X1", "packages": {}, "libraries": {}},
        "stand_in": False,
        "stages": {},
        "benchmark": None,
    }
    path.write_text("old numbers\n\n## Reviewed against the C API\n\n| call |\n")
    for _ in range(2):
        scripts.report.write_report(path, facts)
        text = path.read_text()
        assert "old numbers" not in text and "X1" in text and text.count("## Reviewed") == 1
        assert text.endswith("## Reviewed against the C API\n\n| call |\n")


def test_the_report_shows_failures_and_missing_peers(scripts):
    facts = {"device": "X1", "missing": None, "packages": {"onax": "1"}, "libraries": {}}
    stages = {"laws": {"items": {"sin": {"failed": "off by one"}, "cos": {"passed": True}}, "finished": False}}
    timed = {"onax-cuda": {"matmul": {"seconds": 2e-3, "work": 4e12}, "peak": 2**20}, "jax": {"missing": "no module"}}
    text = scripts.report.text({"environment": facts, "stand_in": False, "stages": stages, "benchmark": timed})
    for part in (
        "X1",
        "| laws | 1 | 1 | 0 | no |",
        "### laws: sin",
        "off by one",
        "2000.0 TFLOP/s",
        "JAX: not measured",
    ):
        assert part in text
