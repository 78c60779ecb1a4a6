"""Runs samples on ONNX Runtime through the exporter's lowerings: one model for all samples of a primitive."""

import numpy as np

from laws.sampling import COMPLEXES
from onax._ground import lazy
from onax._native import ort
from onax._transforms.abstract import make_jaxpr
from onax.errors import LoweringError
from onax.export.graph.proto import to_session
from onax.export.lower import driver, registry

OPSET = 26
# Types in which the runtime cannot compute a primitive; jit runs its kernel instead, export refuses.
NO_KERNEL = {"erf": ("float64",)}


def unsupported_reason(primitive):
    """Why ONNX cannot say the primitive, or None."""
    reason = registry.UNSUPPORTED.get(primitive)
    assert reason is not None or primitive in registry.RULES, f"{primitive.name} has neither a lowering nor a reason"
    return reason


def run_on_runtime(primitive, samples):
    """Pairs (sample, results as ndarrays).  Samples of complex numbers, which graphs do not hold yet, are left out."""
    ort.attach(lazy.find_runtime().library)
    refused = NO_KERNEL.get(primitive.name, ())
    for s in samples:
        assert not (_types(s) & set(refused) and _has_form(primitive, s)), f"{s} has a form: NO_KERNEL is out of date"
    samples = [s for s in samples if not is_complex(s) and not _types(s) & set(refused)]
    graph, avals = lowered(primitive, samples)
    model, inputs, outputs, shared = to_session(graph)
    session = ort.Session(model, inputs, outputs, initializers=shared)
    results = session.run([x for s in samples for x in s.operands])
    per_sample = len(avals) // len(samples)
    return [(s, results[i * per_sample : (i + 1) * per_sample]) for i, s in enumerate(samples)]


def _types(sample):
    return {x.dtype.name for x in sample.operands}


def is_complex(sample):
    """Whether an operand or a parameter has a complex dtype."""
    return any(x.dtype in COMPLEXES for x in sample.operands) or any(
        isinstance(v, np.dtype) and v in COMPLEXES for v in sample.params.values()
    ) or sample.primitive.name == "complex"  # fmt: skip


def lowered(primitive, samples):
    """(graph, result avals) of all samples side by side; says which samples have no form if some have none."""

    def together(*xs):
        outs, rest = [], list(xs)
        for s in samples:
            operands, rest = rest[: len(s.operands)], rest[len(s.operands) :]
            out = s.bind(*operands)
            outs.extend(out if primitive.multiple_results else [out])
        return outs

    jaxpr = make_jaxpr(together)(*(x for s in samples for x in s.operands))
    try:
        return driver.lower_jaxpr(jaxpr, opset=OPSET), jaxpr.out_avals
    except LoweringError as error:
        if len(samples) == 1:
            raise
        refused = [s for s in samples if not _has_form(primitive, s)]
        raise AssertionError(
            f"{len(refused)} of {len(samples)} samples have no form: {refused[:8]}; {error}"
        ) from error


def _has_form(primitive, sample):
    try:
        lowered(primitive, [sample])
    except LoweringError:
        return False
    return True
