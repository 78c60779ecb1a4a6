"""Sessions bound to the memory of a device; the host's stands in for it."""

import concurrent.futures

import numpy as np
import pytest

from made_up_cuda import host_memory
from onax._ground.onnx_runtime import attach_runtime
from onax._native import ort
from onax._native.device_buffers import DeviceBuffer
from onax._native.io_binding import BoundSession
from onax.export.graph import proto
from onax.export.graph.value import Graph

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def bound(build, *types, known=True):
    """The bound session of a graph of inputs of these types; `build(g, *inputs)` gives its results.

    `known`: whether the session is told the shapes of the results.
    """
    attach_runtime()
    g = Graph(21)
    for i, value in enumerate(build(g, *[g.input(f"x{i}", t) for i, t in enumerate(types)])):
        g.output(f"y{i}", value)
    model, inputs, outputs, _ = proto.to_session(g)
    if not known:
        outputs = [(name, element, ("?",) * len(shape)) for name, element, shape in outputs]
    return BoundSession(ort.Session(model, inputs, outputs), host_memory(0))


def double(g, x):
    return [g.node("Add", x, x), g.node("Transpose", x, perm=[1, 0], out=((3, 4), np.float32))]


def test_results_are_buffers_in_the_same_memory_and_nothing_is_copied():
    session, memory = bound(double, ((4, 3), np.float32)), host_memory(0)
    x = memory.upload(X)
    before = memory.to_device, memory.to_host, memory.on_device
    results = session.run([x])
    assert (memory.to_device, memory.to_host, memory.on_device) == before
    assert [type(r) for r in results] == [DeviceBuffer] * 2 and {r.memory for r in results} == {memory}
    assert np.array_equal(results[0].download(), X + X) and np.array_equal(results[1].download(), X.T)
    assert np.array_equal(x.download(), X)


def test_results_outlive_the_session_and_each_other():
    session = bound(double, ((4, 3), np.float32))
    first, second = session.run([host_memory(0).upload(X)])
    del session, first
    assert np.array_equal(second.download(), X.T)


def test_results_of_unknown_shape_are_allocated_by_the_run():
    doubled, turned = bound(double, ((4, 3), np.float32), known=False).run([host_memory(0).upload(X)])
    assert turned.shape == (3, 4) and np.array_equal(turned.download(), X.T)
    assert np.array_equal(doubled.download(), X + X)


def test_inputs_of_another_type_or_place_are_errors():
    session, memory = bound(double, ((4, 3), np.float32)), host_memory(0)
    for wrong in (X.T, X.astype(np.float64), X[0]):
        with pytest.raises(TypeError, match="input x0 must have another type than"):
            session.run([memory.upload(wrong)])
    with pytest.raises(TypeError, match="must be in DeviceMemory"):
        session.run([host_memory(1).upload(X)])
    with pytest.raises(TypeError, match="takes 1 arrays, not 2"):
        session.run([memory.upload(X)] * 2)
    with pytest.raises(TypeError):
        session.run([X])


def test_an_error_of_the_run_is_the_runtimes():
    session = bound(
        lambda g, x, i: [g.node("Gather", x, i, axis=0, out=((1, 3), np.float32))],
        ((4, 3), np.float32),
        ((1,), np.int64),
    )
    memory = host_memory(0)
    with pytest.raises(ort.Fault, match="out of data bounds"):
        session.run([memory.upload(X), memory.upload(np.array([9]))])
    assert np.array_equal(session.run([memory.upload(X), memory.upload(np.array([2]))])[0].download(), X[2:3])


def test_threads_run_one_session_at_once():
    session, memory = bound(double, ((4, 3), np.float32)), host_memory(0)

    def run(i):
        return all(np.array_equal(session.run([memory.upload(X + i)])[0].download(), 2 * (X + i)) for _ in range(50))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))
