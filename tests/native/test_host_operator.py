"""onax.Host: kernels of ours as nodes of graphs; what they are given, what they give, what they raise, when they go."""

import gc
import threading
import traceback
import weakref

import numpy as np
import pytest

from host_nodes import node, run_kernel, session
from onax._ground import onnx_runtime
from onax._native import host_operator, ort
from onax._native.protobuf import ELEMENT_TYPES
from onax.export.graph import ops, proto
from onax.export.graph.value import Graph

F32, BOOL, I64 = np.dtype(np.float32), np.dtype(np.bool_), np.dtype(np.int64)
X = np.array([3, 1, 2], np.float32)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    return ort.attach(onnx_runtime.find_runtime().library)


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES), ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 3)], ids=str)
def test_every_element_type_and_shape(dtype, shape):
    x = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    seen = []

    def kernel(a):
        seen.append((a.dtype, a.shape, a.flags.writeable))
        return [a.T, a]

    turned, same = run_kernel(host_operator.Kernel("both", kernel, [(shape[::-1], dtype), (shape, dtype)]), x)
    assert seen == [(dtype, shape, False)]
    assert turned.tobytes() == x.T.tobytes() and same.tobytes() == x.tobytes()


def test_results_are_written_in_place():
    def kernel(a, out):
        out[...] = a
        out.sort()

    assert run_kernel(host_operator.Kernel("sort", kernel, [((3,), F32)], into=True), X)[0].tolist() == [1, 2, 3]


def test_many_ports():
    xs = [np.full((), i, np.float32) for i in range(70)]
    kernel = host_operator.Kernel("reversed", lambda *given: given[::-1], [((), F32)] * 70)
    assert run_kernel(kernel, *xs) == xs[::-1]


@pytest.mark.parametrize(
    "result, message",
    [
        ([X[:2]], r"gave float32\[2\] where float32\[3\] was stated"),
        ([X.astype(np.int32)], r"gave int32\[3\] where float32"),
        ([X.astype(">f4")], "gave >f4|gave float32"),
        ([[1.0, 2.0, 3.0]], "gave list where"),
        ([], "gave 0 results, 1 were stated"),
    ],
    ids=["shape", "dtype", "byte order", "no array", "count"],
)
def test_other_results_than_stated_are_refused(result, message):
    with pytest.raises(TypeError, match=message):
        run_kernel(host_operator.Kernel("odd", lambda a: result, [((3,), F32)]), X)


class Odd(BaseException):
    """An exception that nobody catches by chance."""


@pytest.mark.parametrize("error", [ValueError("mine"), RuntimeError("mine"), KeyboardInterrupt(), Odd()], ids=repr)
def test_what_a_kernel_raises_comes_out_as_it_is(error):
    def kernel(a):
        raise error  # this line

    s = session(lambda g, x: node(g, host_operator.Kernel("bad", kernel, [((3,), F32)]), x), ((3,), F32))
    for _ in range(2):
        with pytest.raises(type(error)) as info:
            s.run([X])
        assert info.value is error
        assert "raise error  # this line" in "".join(traceback.format_exception(info.value))


def test_after_an_exception_other_faults_are_the_runtimes():
    def kernel(a):
        raise ValueError("mine")

    def build(g, x, i):
        return [
            g.node("Gather", node(g, host_operator.Kernel("maybe", kernels[0], [((3,), F32)]), x)[0], i, out=((), F32))
        ]

    kernels = [kernel]
    bad = session(build, ((3,), F32), ((), I64))
    with pytest.raises(ValueError, match="mine"):
        bad.run([X, np.array(0)])
    kernels = [lambda a: [a]]
    with pytest.raises(ort.Fault, match=r"out of .*bounds"):
        session(build, ((3,), F32), ((), I64)).run([X, np.array(9)])


def test_threads_get_their_own_exceptions():
    def kernel(a):
        raise ValueError(float(a[0]))

    s = session(lambda g, x: node(g, host_operator.Kernel("bad", kernel, [((1,), F32)]), x), ((1,), F32))
    wrong = []

    def work(number):
        for _ in range(30):
            try:
                s.run([np.full(1, number, np.float32)])
                wrong.append(number)
            except ValueError as error:
                if error.args != (float(number),):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_kernel_runs_on_the_callers_thread_and_may_run_sessions():
    inner = session(lambda g, x: [g.node("Neg", x)], ((3,), F32))
    seen = []

    def kernel(a):
        seen.append(threading.get_ident())
        return inner.run([np.array(a)])

    assert run_kernel(host_operator.Kernel("nested", kernel, [((3,), F32)]), X)[0].tolist() == [-3, -1, -2]
    assert seen == [threading.get_ident()]


def test_in_branches_and_loops():
    add = host_operator.Kernel("add", lambda a, b: [a + b], [((3,), F32)])
    count = []
    seen = host_operator.Kernel("seen", lambda a: count.append(float(a[0])) or [a], [((3,), F32)])

    def build(g, x):
        then, otherwise = g.subgraph(), g.subgraph()
        then.outputs += node(then, seen, node(then, add, x, x)[0])
        otherwise.outputs.append(otherwise.node("Identity", x))
        (chosen,) = g.node("If", g.const(True), outs=[x.aval], then_branch=then, else_branch=otherwise)
        body = g.subgraph([((), I64), ((), BOOL), x.aval])
        body.outputs.append(body.node("Identity", body.inputs[1]))
        body.outputs += node(body, seen, node(body, add, body.inputs[2], x)[0])
        return g.node("Loop", g.const(3, ops.INT64), None, chosen, outs=[x.aval], body=body)

    assert session(build, ((3,), F32)).run([X])[0].tolist() == (5 * X).tolist()
    assert count == [6, 9, 12, 15]


def test_a_kernel_lives_as_long_as_its_graph_or_session():
    kernel = host_operator.Kernel("same", lambda a: [a], [((3,), F32)])
    gone = weakref.ref(kernel)
    g = Graph(21, target="native")
    g.output(None, node(g, kernel, g.input("x", ((3,), F32)))[0])
    del kernel
    data, ins, outs, _ = proto.to_session(g)
    s = ort.Session(data, ins, outs, options={"operators": True})
    del g
    gc.collect()
    assert gone() is not None and s.run([X])[0].tolist() == X.tolist()
    del s
    gc.collect()
    assert gone() is None
    with pytest.raises(RuntimeError, match="the kernel of a node is gone"):
        ort.Session(data, ins, outs, options={"operators": True})


def test_without_its_domain_a_model_is_refused():
    g = Graph(21, target="native")
    g.output(None, node(g, host_operator.Kernel("same", lambda a: [a], [((3,), F32)]), g.input("x", ((3,), F32)))[0])
    data, ins, outs, _ = proto.to_session(g)
    with pytest.raises(ort.Fault, match="onax"):
        ort.Session(data, ins, outs)
