#!/usr/bin/env python
"""Measures which (operator, element type, opset) a provider of ONNX Runtime runs; writes export/graph/kernels.json.

    python scripts/measure_kernels.py [--provider cpu|cuda] [--out PATH] [OPERATOR ...]

One model of one node for each operator of `export/graph/kernels.py`, element type and opset, loaded with optimisations
off and run once on small safe values.  Cases run in a child process; one that ends the child counts as not running.
"Runs" says nothing about the numbers that come out.  Takes about a minute.

With `--provider cuda`, which writes export/graph/kernels_cuda.json, an operator that would fall back to the CPU counts
as not running.  It needs a device; with `--without-device` nothing is run, but the provider is asked on a device that
is not there (scripts/gpu/fake_cuda.py) whether it takes the node: rows then say "registered", not "measured".
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from onax._ground import onnx_runtime
from onax._ground.cuda_libraries import load_cuda_libraries
from onax._native import ort
from onax.export.graph import kernels, proto
from onax.export.graph.value import Graph

OPSETS = tuple(range(proto.LOWEST_OPSET, proto.NEWEST_OPSET + 1))
TABLE = Path(kernels.__file__).with_name("kernels.json")


class T:
    """An operand of the element type being measured: of a shape, holding 1 2 3 1 2 3..., or of given values."""

    def __init__(self, *shape, values=None):
        self.values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3 + 1 if values is None else values


@dataclass(slots=True)
class Operand:
    """An operand of a fixed element type; a constant, if small indices and shapes must be known at load."""

    values: object
    dtype: str = "i64"
    constant: bool = True


class Case:
    """Operands and attributes of a node, and the element types of its results (None: the one being measured)."""

    def __init__(self, *operands, results=(None,), **attributes):
        self.operands = operands
        self.results = results
        self.attributes = attributes


def _each(names, case):
    return dict.fromkeys(names.split(), case)


X, Y = T(2, 3), T(2, 3)
IMAGE = T(1, 2, 5, 5)
BOOL, I64 = "bool", "i64"


def _body(*types):
    """A subgraph that gives back its inputs: (shape, element type) each."""

    def build(g, dtype):
        body = g.subgraph([(shape, kernels.DTYPES.get(t, dtype)) for shape, t in types])
        for value in body.inputs:
            body.output(None, value)
        return body

    return build


def _branch(g, dtype):
    body = g.subgraph()
    body.output(None, g.const(np.ones(2), dtype))
    return body


def _loop_body(g, dtype):
    body = g.subgraph([((), I64_DTYPE), ((), np.dtype(bool)), ((2,), dtype)])
    body.output(None, body.inputs[1])
    body.output(None, body.inputs[2])
    return body


I64_DTYPE = np.dtype(np.int64)

CASES = {
    **_each("Neg Abs Sign Not BitwiseNot Exp Log Sin Cos Tan Sinh Cosh Asinh Tanh Sigmoid Erf Sqrt", Case(X)),
    **_each("Reciprocal Floor Ceil Round Identity Relu LeakyRelu Elu Selu Celu Softplus Softsign HardSigmoid", Case(X)),
    **_each("HardSwish Gelu Mish Swish Softmax LogSoftmax Hardmax LpNormalization Acosh Dropout", Case(X)),
    "ThresholdedRelu": Case(X),
    **_each("Asin Acos Atan Atanh", Case(T(values=np.array([0.25, 0.5])))),
    **_each("IsNaN IsInf", Case(X, results=(BOOL,))),
    **_each("Add Sub Mul Div And Or Xor BitwiseAnd BitwiseOr BitwiseXor Min Max Sum Mean PRelu Pow", Case(X, Y)),
    **_each("Equal Greater Less GreaterOrEqual LessOrEqual", Case(X, Y, results=(BOOL,))),
    **_each("ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2", Case(X, Operand([1]))),
    **_each("ReduceLogSum ReduceLogSumExp ReduceSumSquare", Case(X, Operand([1]))),
    "Mod:fmod=0": Case(X, Y, fmod=0),
    "Mod:fmod=1": Case(X, Y, fmod=1),
    "BitShift": Case(X, Y, direction="LEFT"),
    "Where": Case(Operand([[1, 0, 1], [0, 0, 1]], BOOL, False), X, Y),
    "Clip": Case(X, T(values=np.array(1)), T(values=np.array(2))),
    "MatMul": Case(X, T(3, 4)),
    "MatMulInteger": Case(X, T(3, 4), results=("i32",)),
    "Gemm": Case(X, T(3, 4), T(4)),
    "Einsum": Case(X, T(3, 4), equation="ij,jk->ik"),
    "Det": Case(T(values=np.array([[2, 1], [1, 3]]))),
    "Conv": Case(IMAGE, T(3, 2, 3, 3)),
    "ConvTranspose": Case(IMAGE, T(2, 3, 3, 3)),
    **_each("MaxPool AveragePool LpPool", Case(IMAGE, kernel_shape=[2, 2])),
    **_each("GlobalAveragePool MeanVarianceNormalization", Case(IMAGE)),
    "LRN": Case(IMAGE, size=3),
    **_each("ArgMax ArgMin", Case(X, results=(I64,), axis=1)),
    **_each("CumSum CumProd", Case(X, Operand(1))),
    "TopK": Case(X, Operand([2]), results=(None, I64)),
    "Unique": Case(T(6), results=(None, I64, I64, I64)),
    "Gather": Case(T(4, 3), Operand([0, 2])),
    "GatherElements": Case(T(4, 3), Operand([[0, 2, 1]])),
    "GatherND": Case(T(4, 3), Operand([[0, 2], [1, 1]])),
    **{f"ScatterElements{':' * bool(r)}{r}": Case(T(4, 3), Operand([[0, 2, 1]]), T(1, 3), reduction=r or None)
       for r in ("", "add", "mul", "min", "max")},
    **{f"ScatterND{':' * bool(r)}{r}": Case(T(4, 3), Operand([[0, 2], [1, 1]]), T(2), reduction=r or None)
       for r in ("", "add", "mul", "min", "max")},
    "TensorScatter": Case(T(1, 4, 3), T(1, 2, 3), Operand([1]), axis=1),
    "Compress": Case(T(4, 3), Operand([1, 0, 1, 1], BOOL), axis=0),
    "Trilu": Case(T(3, 3)),
    "ReverseSequence": Case(T(4, 3), Operand([4, 3, 2])),
    "DepthToSpace": Case(T(1, 4, 2, 2), blocksize=2),
    "Concat": Case(X, Y, axis=0),
    "Reshape": Case(X, Operand([3, 2])),
    "Flatten": Case(X),
    "Transpose": Case(T(2, 3, 4), perm=[2, 0, 1]),
    "Expand": Case(T(4, 1), Operand([4, 3])),
    "Tile": Case(X, Operand([2, 2])),
    "Slice": Case(T(4, 3), Operand([3]), Operand([0]), Operand([0]), Operand([-1])),
    "Split": Case(T(4, 3), Operand([1, 3]), results=(None, None)),
    **_each("Squeeze Unsqueeze", Case(T(1, 2, 3), Operand([0]))),
    "Pad:constant": Case(X, Operand([1, 0, 1, 2]), T(values=np.array(1)), mode="constant"),
    **{f"Pad:{mode}": Case(X, Operand([1, 0, 1, 1]), mode=mode) for mode in ("edge", "reflect", "wrap")},
    "Range": Case(T(values=np.array(0)), T(values=np.array(5)), T(values=np.array(1))),
    "OneHot": Case(Operand([0, 1]), Operand(3), T(values=np.array([0, 1]))),
    **_each("Shape Size", Case(X, results=(I64,))),
    "NonZero": Case(X, results=(I64,)),
    "ConstantOfShape": Case(Operand([2, 3]), value=lambda g, d: np.ones(1, d)),
    "EyeLike": Case(Operand(np.ones((3, 3)), "f32", False), dtype=lambda g, d: kernels.ELEMENT_TYPES[d]),
    "DFT": Case(T(1, 8, 1)),
    "Attention": Case(T(1, 2, 3, 4), T(1, 2, 3, 4), T(1, 2, 3, 4)),
    "RotaryEmbedding": Case(T(1, 2, 3, 4), T(1, 3, 2), T(1, 3, 2)),
    "LayerNormalization": Case(X, T(3)),
    "RMSNormalization": Case(X, T(3)),
    "InstanceNormalization": Case(IMAGE, T(2), T(2)),
    "GroupNormalization": Case(IMAGE, T(2), T(2), num_groups=2),
    "BatchNormalization": Case(IMAGE, T(2), T(2), T(2), T(2)),
    "Resize": Case(T(1, 1, 3, 3), None, Operand([1, 1, 2, 2], "f32"), mode="linear"),
    "Col2Im": Case(T(1, 4, 4), Operand([3, 3]), Operand([2, 2])),
    "GridSample": Case(T(1, 1, 3, 3), Operand(np.zeros((1, 2, 2, 2)), "f32", False)),
    "Cast": Case(X, to=lambda g, d: 1, results=("f32",)),
    "BitCast": Case(X, to=lambda g, d: kernels.ELEMENT_TYPES[d]),
    "If": Case(Operand(True, BOOL, False), then_branch=_branch, else_branch=_branch),
    "Loop": Case(Operand(3), None, T(2), body=_loop_body),
    "Scan": Case(T(2), T(3, 2), results=(None, None), body=_body(((2,), None), ((2,), None)), num_scan_inputs=1),
}  # fmt: skip


def _model(name, dtype, opset):
    """A graph of the one node, and the arrays to feed it."""
    case = CASES[name]
    g, feeds, values = Graph(opset), [], []
    for i, operand in enumerate(case.operands):
        if operand is None:
            values.append(None)
            continue
        array = np.asarray(operand.values).astype(dtype if type(operand) is T else kernels.DTYPES[operand.dtype])
        if type(operand) is Operand and operand.constant:
            values.append(g.const(array))
        else:
            values.append(g.input(f"x{i}", (array.shape, array.dtype)))
            feeds.append(array)
    attributes = {k: v(g, dtype) if callable(v) else v for k, v in case.attributes.items()}
    # Shapes of results are left open: one symbolic dimension would fix the rank, so nothing but the type is stated.
    avals = [((), dtype if r is None else kernels.DTYPES[r]) for r in case.results]
    op_type = name.split(":")[0]
    for i, value in enumerate(g._emit_all(op_type, "", values, list(map(_open, avals)), attributes)):
        g.output(f"y{i}", value)
    return g, feeds


class _open:
    """A type whose shape is not stated."""

    def __init__(self, out):
        self.shape, self.dtype = None, out[1]


def measure(name, short, opset, folder, provider, run=True):
    """ "": does not run; else the type, marked by how the runtime runs it.  Unless `run`, it is only loaded."""
    graph, feeds = _model(name, kernels.DTYPES[short], opset)
    data, inputs, outputs, _ = proto.to_session(graph)
    path = f"{folder}/optimized.onnx"
    options = {"optimization": 0, "save_optimized": path, "provider": provider}
    if provider != "cpu":
        options["config"] = {"session.disable_cpu_ep_fallback": "1"}
    try:
        session = ort.Session(data, inputs, [(n, t, ("?",)) for n, t, _ in outputs], options=options)
        if run:
            session.run(feeds)
    except RuntimeError:
        return ""
    kept = [node.op_type for node in onnx.load(path).graph.node]
    wanted = name.split(":")[0]
    if wanted not in kept:
        return f"~{short}"
    return f"+{short}" if kept.count("Cast") > (wanted == "Cast") else short


def worker(provider, run):
    """Answers cases from stdin, one JSON a line."""
    if not run:
        sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))
        import fake_cuda

        fake_cuda.load()
    ort.attach(onnx_runtime.find_runtime().library)
    if provider == "cuda":
        load_cuda_libraries()
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(measure(*json.loads(line), folder, provider, run)), flush=True)


class Worker:
    """A child process that may die."""

    def __init__(self, provider, run):
        self.provider, self.run = provider, run
        command = [sys.executable, __file__, "--worker", "--provider", provider]
        command += [] if run else ["--without-device"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)  # fmt: skip

    def ask(self, *case):
        """The answer to a case; "" if the child died of it."""
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            print(f"{case} ended the process", file=sys.stderr)
            self.__init__(self.provider, self.run)
            return ""
        return json.loads(line)


def _ranges(opsets):
    """[18, 19, 21] -> "18-19,21"."""
    runs = []
    for _, run in itertools.groupby(enumerate(opsets), lambda pair: pair[1] - pair[0]):
        run = [o for _, o in run]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(runs)


def measure_all(names, provider, run):
    """{operator: {opsets: types, "source": how this is known}}"""
    child, table = Worker(provider, run), {}
    if not child.ask("Add", "f32", OPSETS[-1]):
        sys.exit(f"not even Add runs on the provider {provider} here: nothing was measured, nothing is written")
    for name in names:
        by_types = {}
        for opset in OPSETS:
            types = " ".join(filter(None, (child.ask(name, short, opset) for short in kernels.DTYPES)))
            by_types.setdefault(types, []).append(opset)
        table[name] = {_ranges(opsets): types for types, opsets in by_types.items() if types}
        if provider != "cpu":
            table[name]["source"] = "measured" if run else "registered"
        print(name, table[name], flush=True)
    return table


def write(path, table):
    """One operator a line."""
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(entries)}" for name, entries in sorted(table.items()))
    runtime = json.dumps(onnx_runtime.find_runtime().version)
    path.write_text(f'{{\n"runtime": {runtime},\n"opsets": {list(OPSETS)},\n"ops": {{\n{rows}\n}}\n}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="only these; the others keep what the file says")
    parser.add_argument("--provider", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--without-device", action="store_true", help="only ask the provider of CUDA what it takes")
    parser.add_argument("--out", type=Path, help="default: the table of the provider in export/graph")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.provider, not options.without_device)
    out = options.out or (TABLE if options.provider == "cpu" else TABLE.with_name(f"kernels_{options.provider}.json"))
    names = options.operators or sorted(CASES)
    table = json.loads(out.read_text())["ops"] if options.operators and out.exists() else {}
    write(out, table | measure_all(names, options.provider, not options.without_device))


if __name__ == "__main__":
    main()
