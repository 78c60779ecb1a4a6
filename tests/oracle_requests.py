"""What real JAX is asked about the primitives: every sample of the laws, in up to three modes.

eager   the primitive on the sample's operands (compared with eager and jitted onax)
vmap    mapped over a new leading axis: each operand beside its reverse
grad    pulled back with ones (samples with differentiable operands)
"""

import importlib

import numpy as np

import oracle
from laws.sampling import FLOATS
from onax._native.avals import ShapedArray

# Parameters that real JAX makes itself: the combining function of a scatter.
DERIVED = ("update_jaxpr", "update_consts")
# Widths that are neither mapped nor differentiated: one of each kind is enough, the laws cover the others.
NARROW = tuple(map(np.dtype, ("float64", "float16", "int8", "int16", "int64", "uint8", "uint16", "uint64")))


def modes_of(sample):
    """The modes in which a sample is asked about."""
    yield "eager"
    if not any(x.dtype in NARROW for x in sample.operands):
        yield "vmap"
        if sample.differentiable and not _forgets_mode(sample) and all(x.dtype in FLOATS for x in _tangible(sample)):
            yield "grad"


def _forgets_mode(sample):
    """Whether JAX's derivative reads and writes by another mode than the operation: that of scatter-min and -max."""
    return sample.primitive.name in ("scatter-min", "scatter-max") and sample.params["mode"].name == "CLIP"


def _tangible(sample):
    """The operands that are differentiated, and the results, which must be floats too."""
    yield from (sample.operands[i] for i in sample.differentiable)
    out, _ = sample.primitive.abstract(*(ShapedArray(x.shape, x.dtype) for x in sample.operands), **sample.params)
    yield from out if sample.primitive.multiple_results else (out,)


def operands_for(sample, mode, operands=None):
    """The operands in a mode: for vmap stacked with their reverse."""
    operands = sample.operands if operands is None else operands
    if mode != "vmap":
        return operands
    return tuple(np.stack([x, np.flip(x)]) for x in operands)


def request_for(sample, mode, operands=None):
    """The request that asks real JAX about a sample."""
    request = {
        "kind": "bind",
        "primitive": sample.primitive.name,
        "operands": [oracle.encode(x) for x in operands_for(sample, mode, operands)],
        "params": {k: oracle.encode(v) for k, v in sample.params.items() if k not in DERIVED},
        "mode": mode,
    }
    if mode == "vmap":
        request["in_axes"] = [0] * len(sample.operands)
    return request


def samples(family):
    """The samples of one family."""
    return importlib.import_module(f"laws.samples.{family}").SAMPLES


def version_for(family):
    """The version of JAX that is asked about a family."""
    return oracle.version_for(importlib.import_module(f"laws.samples.{family}"))
