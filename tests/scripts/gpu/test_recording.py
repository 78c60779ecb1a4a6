"""What a stage writes down: passed, failed, skipped and unfinished items."""

import json

import pytest

import script_modules


@pytest.fixture
def scripts():
    with script_modules.imported("gpu", "recording") as modules:
        yield modules


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


def test_a_recording_goes_on_where_it_stopped(tmp_path, scripts):
    path, calls = tmp_path / "stage.json", []
    scripts.recording.write_json(path, {"items": {"a": {"passed": True}}, "current": "b", "finished": False})
    stage = [(name, lambda name=name: calls.append(name)) for name in "abc"]
    scripts.recording.Recording(path).run(stage, 60)
    assert calls == ["b", "c"] and list(json.loads(path.read_text())["items"]) == ["a", "b", "c"]


def test_the_file_is_whole_at_every_moment(tmp_path, scripts):
    path = tmp_path / "stage.json"
    assert scripts.recording.read_json(path) is None
    seen = []

    def item():
        seen.append(scripts.recording.read_json(path)["current"])

    scripts.recording.Recording(path).run([("a", item)], 60)
    assert seen == ["a"] and [f.name for f in tmp_path.iterdir()] == ["stage.json"]
