"""What real JAX is asked about the primitives: every sample of the laws, in up to three modes.

eager   the primitive on the sample's operands (compared with eager and jitted onax)
vmap    mapped over a new leading axis: each operand beside its reverse
grad    pulled back with ones (samples with differentiable operands)
"""

import importlib

import numpy as np

import oracle
from laws.sampling import FLOATS

# Mapped and differentiated samples: one width of each kind is enough, the laws cover the others.
NARROW = tuple(map(np.dtype, ("float64", "float16", "int8", "int16", "int64", "uint8", "uint16", "uint64")))


def modes_of(sample):
    """The modes in which a sample is asked about."""
    yield "eager"
    if not any(x.dtype in NARROW for x in sample.operands):
        yield "vmap"
        if sample.differentiable and all(sample.operands[i].dtype in FLOATS for i in sample.differentiable):
            yield "grad"


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
        "params": {k: oracle.encode(v) for k, v in sample.params.items()},
        "mode": mode,
    }
    if mode == "vmap":
        request["in_axes"] = [0] * len(sample.operands)
    return request


def samples(family):
    """The samples of one family."""
    return importlib.import_module(f"laws.samples.{family}").SAMPLES
