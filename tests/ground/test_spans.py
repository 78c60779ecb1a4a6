"""Spans of a profile: which are recorded, their order and nesting, and the trace that they make."""

import json
import sys
import threading

import pytest

from onax._ground import spans


@pytest.fixture
def profile():
    """An active profile, without calls of Python."""
    spans.start(python_calls=False)
    yield spans._profile
    if spans.recording():
        spans.stop()


def names(profile):
    return [span[0] for span in profile.spans]


def test_nothing_is_recorded_without_a_profile():
    assert not spans.recording() and spans.span("a") is spans.span("b")
    with spans.annotation("a", {}):
        pass
    with pytest.raises(RuntimeError, match="No profile started"):
        spans.stop()


@pytest.mark.parametrize("level, wanted", [(0, []), (1, ["user's"]), (2, ["work", "user's"])])
def test_levels(level, wanted):
    spans.start(level, python_calls=False)
    with spans.annotation("user's", {}), spans.span("work"):
        pass
    assert names(spans.stop()) == wanted


def test_one_profile_at_a_time(profile):
    with pytest.raises(RuntimeError, match="Only one profile may be run at a time"):
        spans.start()


def test_spans_end_with_an_exception(profile):
    with pytest.raises(KeyError), spans.span("outer"), spans.span("inner"):
        raise KeyError
    assert names(profile) == ["inner", "outer"]


def test_the_trace(profile):
    def work():
        with spans.span("in a thread"):
            pass

    with spans.annotation("outer", {"step": 3}), spans.span("inner"):
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
    trace = json.loads(json.dumps(spans.chrome_trace(spans.stop().trace_events())))
    events = {event["name"]: event for event in trace["traceEvents"] if event["ph"] == "X"}
    assert list(events) == ["outer", "inner", "in a thread"] and events["outer"]["args"] == {"step": "3"}
    outer, inner = events["outer"], events["inner"]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    threads = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert (
        threads[events["in a thread"]["tid"]] == "worker"
        and inner["tid"] == outer["tid"] != events["in a thread"]["tid"]
    )


def test_calls_of_python_are_recorded_unless_another_profiler_is_active():
    def called():
        return json.dumps([1])  # the standard library is not shown

    previous = sys.getprofile()
    try:
        sys.setprofile(None)
        spans.start()
        called()
        found = names(spans.stop())
        assert found == [f"$test_spans.py:{called.__code__.co_firstlineno} called"]
        sys.setprofile(lambda *_: None)
        spans.start()
        called()
        assert names(spans.stop()) == []
    finally:
        sys.setprofile(previous)
