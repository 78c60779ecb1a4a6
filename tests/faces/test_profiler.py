"""onax.profiler: what a profile holds, and what is refused."""

import gzip
import json
import threading

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import profiler

X = np.ones((20, 20), np.float32)


def written(folder, pattern="*.trace.json.gz"):
    """The spans of the one profile below a folder: {name: [(begin, end, metadata, thread)]}."""
    (path,) = folder.glob(f"plugins/profile/*/{pattern}")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    spans = {}
    for e in events:
        if e["ph"] == "X":
            spans.setdefault(e["name"], []).append((e["ts"], e["ts"] + e["dur"], e.get("args", {}), e["tid"]))
    return spans


def compiled():
    """A function that needs a session, under a name of its own."""

    def layer(x):
        return jnp.sin(x) @ x

    return onax.jit(layer)


def users_helper(x):
    return jnp.cos(x) + 1


def test_calls_and_annotations(tmp_path):
    f = compiled()
    f(X)
    with profiler.trace(tmp_path):
        with profiler.TraceAnnotation("mine", size=20) as mine:
            mine.set_metadata(more="yes")
            f(X)
        for i in range(3):
            with profiler.StepTraceAnnotation("step", step_num=i):
                f(X)
        assert profiler.TraceAnnotation.is_enabled()
    assert not profiler.TraceAnnotation.is_enabled()
    spans = written(tmp_path)
    calls, runs = spans["PjitFunction(layer)"], spans["jit_layer"]
    assert len(calls) == len(runs) == 4 and "trace layer" not in spans and "compile jit(layer)" not in spans
    for (begin, end, _, _), (inner_begin, inner_end, _, _) in zip(calls, runs):
        assert begin <= inner_begin <= inner_end <= end
    ((begin, end, metadata, _),) = spans["mine"]
    assert begin <= calls[0][0] and calls[0][1] <= end and metadata == {"size": "20", "more": "yes"}
    assert [m["step_num"] for _, _, m, _ in spans["step"]] == ["0", "1", "2"]


def test_what_is_compiled_meanwhile(tmp_path):
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        compiled()(X)
    spans = written(tmp_path)
    assert all(len(spans[name]) == 1 for name in ("trace layer", "lower jit(layer)", "compile jit(layer)", "jit_layer"))
    assert written(tmp_path, "perfetto_trace.json.gz") == spans


def test_functions_of_python_and_threads(tmp_path):
    annotated = profiler.annotate_function(users_helper, name="known", k=2)
    with profiler.trace(tmp_path):
        annotated(X)
        thread = threading.Thread(target=annotated, args=(X,))
        thread.start()
        thread.join()
    spans = written(tmp_path)
    assert [m for _, _, m, _ in spans["known"]] == [{"k": "2"}] * 2
    assert len({thread for *_, thread in spans["known"]}) == 2
    helpers = [name for name in spans if name.endswith(" users_helper")]
    assert len(helpers) == 1 and helpers[0].startswith("$test_profiler.py:") and len(spans[helpers[0]]) == 2
    assert any(name.endswith(" cos") for name in spans)
    assert not any("threading.py" in name or "profiler.py" == name[1:12] for name in spans)


@pytest.mark.parametrize(
    ("levels", "names"),
    [
        ({"python_tracer_level": 0}, {"mine", "PjitFunction(layer)", "jit_layer"}),
        ({"python_tracer_level": 0, "host_tracer_level": 1}, {"mine"}),
        ({"python_tracer_level": 0, "host_tracer_level": 0}, set()),
    ],
)
def test_options(tmp_path, levels, names):
    f = compiled()
    f(X)
    options = profiler.ProfileOptions()
    for name, level in levels.items():
        setattr(options, name, level)
    with profiler.trace(tmp_path, profiler_options=options), profiler.TraceAnnotation("mine"):
        f(X)
    assert set(written(tmp_path)) == names
    with pytest.raises(AttributeError):
        options.enable_hlo_proto = False


def test_calls_are_direct_again(tmp_path):
    traces = []

    @onax.jit
    def f(x):
        traces.append(1)
        return x * 2

    f(X)
    with profiler.trace(tmp_path):
        f(X)
    f(X)
    assert len(traces) == 1 and len(f.cache) == 1


def test_one_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()
    profiler.start_trace(tmp_path)
    with pytest.raises(RuntimeError, match="already been started"):
        profiler.start_trace(tmp_path)
    profiler.stop_trace()
    with pytest.raises(ZeroDivisionError), profiler.trace(tmp_path / "failing"):
        raise ZeroDivisionError
    assert list((tmp_path / "failing").rglob("*.trace.json.gz"))


def test_sessions(tmp_path):
    f = compiled()
    f(X)
    session = profiler.ProfileSession()
    assert not session.is_running and session.profile_data is None
    for call in (session.stop, lambda: profiler.export_profile_data(session, tmp_path)):
        with pytest.raises(RuntimeError, match="No profile"):
            call()
    with session:
        assert session.is_running
        f(X)
        with pytest.raises(RuntimeError, match="already been started"):
            profiler.ProfileSession().start()
        with pytest.raises(RuntimeError, match="Cannot export a ProfileSession while it is running"):
            session.export_profile_data(tmp_path)
    lines = session.profile_data.find_plane_with_name("/host:CPU").lines
    assert "jit_layer" in {event.name for line in lines for event in line.events}
    assert not list(tmp_path.iterdir())  # no folder was given
    session.export_profile_data(tmp_path, session_id="first")
    assert "jit_layer" in written(tmp_path) and (tmp_path / "plugins" / "profile" / "first").is_dir()
    with pytest.raises(TypeError, match="Expected ProfileData or ProfileSession, got int"):
        profiler.export_profile_data(3, tmp_path)
    with profiler.ProfileSession(tmp_path / "other", create_perfetto_trace=True) as session:
        assert session.stop().planes is not None and not session.is_running
    assert len(list((tmp_path / "other").rglob("*.json.gz"))) == 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: profiler.start_trace("x", create_perfetto_link=True), NotImplementedError),
        (lambda: profiler.start_server(9999), NotImplementedError),
        (lambda: profiler.stop_server(), ValueError),
        (lambda: profiler.TraceAnnotation(3), TypeError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()


def test_profiles_are_read(tmp_path):
    with profiler.trace(tmp_path), profiler.TraceAnnotation("outer", k=3):
        with profiler.TraceAnnotation("inner"):
            jnp.sin(X)
    (path,) = tmp_path.glob("plugins/profile/*/*.trace.json.gz")
    data = profiler.ProfileData.from_file(path)
    plane = data.find_plane_with_name("/host:CPU")
    assert data.planes == (plane,) and data.find_plane_with_name("/device:GPU:0") is None
    events = {e.name: e for line in plane.lines for e in line.events}
    outer, inner = events["outer"], events["inner"]
    assert outer.start_ns <= inner.start_ns <= inner.end_ns <= outer.end_ns
    assert dict(outer.stats) == {"k": "3"} and outer.duration_ns > 0
    with pytest.raises(NotImplementedError, match="format of XLA"):
        profiler.ProfileData.from_file("host.xplane.pb")


def test_memory_profiles(tmp_path):
    x = jnp.ones((123, 7), jnp.float32)
    path = tmp_path / "memory.prof"
    profiler.save_device_memory_profile(path)
    data = gzip.decompress(path.read_bytes())
    assert all(text in data for text in (b"allocations", b"space", b"bytes", b"float32[123,7]", b"cpu:0")) and x.size
