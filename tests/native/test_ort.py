"""ONNX Runtime through its C API: every entry used, every element type, threads, lifetimes, faults."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from onax._ground import onnx_runtime
from onax._native import ort
from onax._native.protobuf import ELEMENT_TYPES
from onax.export.graph import proto
from onax.export.graph.value import Graph

pytestmark = pytest.mark.usefixtures("few_tracked_objects")

DTYPES = list(ELEMENT_TYPES)
NUMBER = ELEMENT_TYPES
F32 = np.dtype(np.float32)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    return ort.attach(onnx_runtime.find_runtime().library)


def session(build, *inputs, opset=21, options=None, share_over=None, outputs=None):
    """A Session of the graph that `build(graph, *values)` makes for inputs of these (shape, dtype)."""
    g = Graph(opset)
    values = [g.input(f"x{i}", spec) for i, spec in enumerate(inputs)]
    results = build(g, *values)
    for i, value in enumerate(results if isinstance(results, tuple) else (results,)):
        g.output(f"y{i}", value)
    data, ins, outs, shared = proto.to_session(g)
    return ort.Session(data, ins, outputs or outs, initializers=shared, options=options)


def identity(g, x):
    return g.node("Identity", x)


def sample(shape, dtype):
    return np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_every_element_type_and_shape_passes_unchanged(dtype, shape):
    x = sample(shape, dtype)
    (y,) = session(identity, (shape, dtype)).run([x])
    assert type(y) is np.ndarray and y.dtype == dtype and y.shape == shape
    assert y.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (300, 200)], ids=str)
def test_results_of_unknown_shape(dtype, shape):
    """The runtime allocates them: small ones are copied out, large ones adopted."""
    x = sample(shape, dtype)
    unknown = [("y0", NUMBER[dtype], tuple("d" * len(shape)) or ("d",))]
    s = session(identity, (shape, dtype), outputs=unknown)
    (y,) = s.run([x])
    del s
    gc.collect()
    assert y.dtype == dtype and y.shape == shape and y.tobytes() == x.tobytes()


def test_inputs_are_read_in_place_and_outputs_written_in_place():
    s = session(lambda g, x: g.node("Add", x, x), ((3,), F32))
    big = np.arange(7, dtype=np.float32)
    odd = np.frombuffer(b"\0" + big.tobytes(), np.float32, count=3, offset=1)  # not aligned
    assert not odd.flags.aligned
    np.testing.assert_array_equal(s.run([odd])[0], 2 * big[:3])
    np.testing.assert_array_equal(s.run([big[::2][:3]])[0], 2 * big[::2][:3])  # not contiguous: copied
    read_only = big[:3].copy()
    read_only.flags.writeable = False
    assert s.run([read_only])[0].flags.writeable


def test_many_ports():
    """More than fit on the stack."""
    s = session(lambda g, *xs: tuple(g.node("Neg", x) for x in xs), *[((2,), F32)] * 50)
    xs = [np.full(2, i, np.float32) for i in range(50)]
    for i, y in enumerate(s.run(xs)):
        np.testing.assert_array_equal(y, -xs[i])


@pytest.mark.parametrize("level", [0, 1, 2, 99])
def test_large_constants_are_shared(level):
    """The session reads our memory: it is not copied, and a change shows (only tests may make one)."""
    w = np.arange(1000, dtype=np.float32)
    s = session(
        lambda g, x: g.node("Add", g.const(w), x, out=((1000,), F32)), ((1,), F32), options={"optimization": level}
    )
    zero = np.zeros(1, np.float32)
    np.testing.assert_array_equal(s.run([zero])[0], w)
    w[0] = 7
    assert s.run([zero])[0][0] == 7


def test_large_constants_are_folded_rightly():
    w = np.arange(1000, dtype=np.float32)
    s = session(lambda g, x: g.node("Add", g.node("Neg", g.const(w)), x, out=((1000,), F32)), ((1,), F32))
    np.testing.assert_array_equal(s.run([np.zeros(1, np.float32)])[0], -w)


def test_constants_live_as_long_as_the_session():
    class Owned(np.ndarray):
        pass

    w = np.arange(1000, dtype=np.float32).view(Owned)
    gone = weakref.ref(w)
    g = Graph(21)
    x = g.input("x", ((1,), F32))
    stub = g.initializer("w", np.zeros(1000, np.float32))
    g.output("y", g.node("Add", stub, x, out=((1000,), F32)))
    data, ins, outs, _ = proto.to_session(g)
    s = ort.Session(data, ins, outs, initializers={"w": w})
    del w
    gc.collect()
    assert gone() is not None
    assert s.run([np.ones(1, np.float32)])[0][5] == 6
    del s
    gc.collect()
    assert gone() is None


def test_constants_must_be_contiguous():
    g = Graph(21)
    g.output("y", g.node("Neg", g.initializer("w", np.zeros(1000, np.float32))))
    data, ins, outs, _ = proto.to_session(g)
    with pytest.raises(TypeError, match="constant w must be a C-contiguous array"):
        ort.Session(data, ins, outs, initializers={"w": np.zeros(2000, np.float32)[::2]})


def test_threads_may_run_one_session_at_once():
    s = session(lambda g, x: g.node("MatMul", x, x), ((64, 64), F32))
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
        want = s.run([x])[0]
        for _ in range(50):
            if not np.array_equal(s.run([x])[0], want):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_sessions_are_freed():
    """Threads and memory do not grow with the number of sessions made."""

    def status(field):
        with open("/proc/self/status") as f:
            return int(next(line for line in f if line.startswith(field)).split()[1])

    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    make = lambda: session(lambda g, x: g.node("Add", g.const(np.ones(250_000, np.float32)), x), ((1,), F32))
    gc.collect()
    gc.freeze()  # excludes what other tests left from the collections below
    for _ in range(30):
        make()
        gc.collect()  # a graph is a cycle
    threads, memory = status("Threads"), status("VmRSS")
    for _ in range(30):
        make()
        gc.collect()
    assert status("Threads") == threads
    assert status("VmRSS") - memory < 8_000  # kB, while 30 MB of constants went through


@pytest.mark.parametrize("options", [
    {"memory_pattern": False}, {"arena": False}, {"config": {"session.disable_prepacking": "1"}},
    *({"optimization": level} for level in (0, 1, 2, 99)),
], ids=str)  # fmt: skip
def test_options(options):
    s = session(lambda g, x: g.node("Exp", x), ((3,), F32), options=options)
    np.testing.assert_allclose(s.run([np.zeros(3, np.float32)])[0], 1)


def test_save_optimized(tmp_path):
    path = tmp_path / "m.onnx"
    session(identity, ((3,), F32), options={"save_optimized": str(path)})
    assert path.stat().st_size > 0


@pytest.mark.parametrize("given, message", [
    ([], "takes 1 arrays, not 0"),
    ([[1.0, 2.0, 3.0]], "must be a numpy.ndarray, not list"),
    ([np.zeros(3)], r"input x0 must be float32\[3\], not float64\[3\]"),
    ([np.zeros(4, np.float32)], r"must be float32\[3\], not float32\[4\]"),
    ([np.zeros((3, 1), np.float32)], r"not float32\[3, 1\]"),
    ([np.zeros(3, ">f4")], "must be float32"),
], ids=str)  # fmt: skip
def test_wrong_arguments(given, message):
    with pytest.raises(TypeError, match=message):
        session(identity, ((3,), F32)).run(given)


def test_runtime_faults_are_runtime_errors():
    with pytest.raises(RuntimeError, match=r"(?i)protobuf"):
        ort.Session(b"no model", [], [])
    gather = session(
        lambda g, x, i: g.node("Gather", x, i, out=((), F32), axis=0), ((3,), F32), ((), np.dtype(np.int64))
    )
    with pytest.raises(RuntimeError, match="indices element out of data bounds"):
        gather.run([np.zeros(3, np.float32), np.array(9)])
    assert gather.run([np.ones(3, np.float32), np.array(2)])[0] == 1


def test_a_session_that_was_not_made_does_not_run():
    with pytest.raises(RuntimeError, match="was not made"):
        ort.Session.__new__(ort.Session).run([])


def test_an_unknown_element_type_is_refused():
    with pytest.raises(RuntimeError, match="ONNX element type 14"):
        ort.Session(b"", [("x", 14, ())], [])


def _in_a_fresh_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_attaching():
    path = onnx_runtime.find_runtime().library
    assert ort.attach(path) == onnx_runtime.find_runtime().version == ort.attached()[1]
    with pytest.raises(RuntimeError, match="attached already, from"):
        ort.attach("/elsewhere/libonnxruntime.so")


@pytest.mark.parametrize("path, message", [
    ("/no/such/libonnxruntime.so", "cannot be loaded from /no/such"),
    ("libm.so.6", "it has no OrtGetApiBase"),
], ids=str)  # fmt: skip
def test_what_is_no_runtime_is_refused(path, message):
    if not sys.platform.startswith("linux"):
        pytest.skip("names of Linux libraries")
    code = f"""
from onax._native import ort
try:
    ort.attach({path!r})
except RuntimeError as e:
    print(e)
try:
    ort.Session(b"", [], [])
except RuntimeError as e:
    print(e)
"""
    out = _in_a_fresh_process(code)
    assert message in out and "not attached yet" in out


def test_an_old_runtime_is_refused():
    """A library that calls itself 1.20 is turned away before anything of it is called."""
    assert ort.version_of("1.20.3") < ort.OLDEST <= ort.version_of("1.28.0")
    assert ort.version_of("gibberish") < ort.OLDEST


def test_other_sessions_of_the_process_are_left_alone():
    """The Python package, in the same process, makes sessions with threads of their own as if we were not there."""
    code = """
import numpy as np
from onax._ground import onnx_runtime
from onax._native import ort
from onax.export.graph import proto
from onax.export.graph.value import Graph
ort.attach(onnx_runtime.find_runtime().library)
g = Graph(21)
g.output("y", g.node("Neg", g.input("x", ((3,), np.dtype(np.float32)))))
ours = ort.Session(*proto.to_session(g)[:3])
import onnxruntime
theirs = onnxruntime.InferenceSession(proto.to_model(g), providers=["CPUExecutionProvider"])
x = np.arange(3, dtype=np.float32)
print(theirs.run(None, {"x": x})[0].tolist() == ours.run([x])[0].tolist() == [0, -1, -2])
"""
    assert _in_a_fresh_process(code) == "True"


def test_a_library_that_is_too_old():
    error = ort.too_old("1.20.0", "/usr/lib/libonnxruntime.so")
    assert "1.20.0 at /usr/lib/libonnxruntime.so is too old: it has version 20 of the C API" in str(error)
    assert "asks for version 24; 1.28 is the oldest release" in str(error)
