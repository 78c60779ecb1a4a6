"""Runs samples on ONNX Runtime, by the exporter's lowerings or by the primitives' own kernels as nodes of a graph: one
model for all samples of a primitive."""

import numpy as np

from onax._ground import onnx_runtime
from onax._native import ort
from onax._transforms.abstract import make_jaxpr
from onax.errors import LoweringError
from onax.export.graph.proto import to_session
from onax.export.lower import driver, native, registry

OPSETS = (21, 26)  # what exports default to, and what runs in process


def unsupported_reason(primitive):
    """Why ONNX cannot say the primitive, or None."""
    known = primitive in registry.lowering or primitive in registry.component_lowering
    assert known, f"{primitive.name} has neither a lowering nor a reason"
    return registry.refusal(primitive)


def run_on_runtime(primitive, samples, opset):
    """Pairs (sample, results as ndarrays).

    Left out are samples that a later opset can say.  Complex numbers cross a graph's boundary as pairs of reals.
    """
    ort.attach(onnx_runtime.find_runtime().library)
    samples, graph, avals = lowered(primitive, samples, opset)
    if not samples:
        return []
    return _run(primitive, samples, graph, avals)


def _run(primitive, samples, graph, avals):
    model, inputs, outputs, shared = to_session(graph)
    options = {"operators": bool(graph.model.domains)}
    session = ort.Session(model, inputs, outputs, initializers=shared, options=options)
    results = session.run([_pairs(x) for s in samples for x in s.operands])
    results = [_numbers(x, a) for x, a in zip(results, avals, strict=True)]
    counts = [len(s.bind(*s.operands)) if primitive.multiple_results else 1 for s in samples]
    rest = iter(results)
    return [(s, [next(rest) for _ in range(n)]) for s, n in zip(samples, counts)]


def run_on_host(primitive, samples):
    """Pairs (sample, results as ndarrays), each sample a node that runs the primitive's kernel in the graph."""
    ort.attach(onnx_runtime.find_runtime().library)
    chosen, native.is_preferred = native.is_preferred, native.can_run_on_host
    try:
        samples, graph, avals = lowered(primitive, samples, OPSETS[-1], "native")
    finally:
        native.is_preferred = chosen
    # Constants are folded, halves go through Reshapes, and tapes take apart and put together complex numbers.
    others = [n for n in graph.nodes if n.attributes.get("computes") not in ("split", "join")]
    assert {n.op_type for n in others} <= {
        "Host",
        "Identity",
        "Gather",
        "Concat",
        "Unsqueeze",
        "Expand",
        "Reshape",
    }
    return _run(primitive, samples, graph, avals)


def _pairs(x):
    """A complex array as pairs of reals; another as it is."""
    return x.reshape(-1).view(x.real.dtype).reshape((*x.shape, 2)) if x.dtype.kind == "c" else x


def _numbers(x, aval):
    """What a graph gives, as the array that it stands for."""
    return x.view(aval.dtype).reshape(aval.shape) if np.dtype(aval.dtype).kind == "c" else x


def lowered(primitive, samples, opset, target="portable"):
    """(samples that have a form, their graph, its result avals); a refusal must name the opset that can say more."""

    def together(*xs):
        outs, rest = [], list(xs)
        for s in samples:
            operands, rest = rest[: len(s.operands)], rest[len(s.operands) :]
            out = s.bind(*operands)
            outs.extend(out if primitive.multiple_results else [out])
        return outs

    jaxpr = make_jaxpr(together)(*(x for s in samples for x in s.operands))
    try:
        return samples, driver.lower_jaxpr(jaxpr, opset=opset, target=target), jaxpr.out_avals
    except LoweringError as error:
        able = [s for s in samples if _has_form(primitive, s, opset)]
        if "from opset" not in str(error) or len(able) == len(samples):
            refused = [s for s in samples if s not in able]
            raise AssertionError(f"{len(refused)} of {len(samples)} have no form: {refused[:8]}; {error}") from error
    return lowered(primitive, able, opset) if able else ([], None, [])


def _has_form(primitive, sample, opset):
    try:
        driver.lower_jaxpr(make_jaxpr(sample.bind)(*sample.operands), opset=opset)
    except LoweringError:
        return False
    return True
