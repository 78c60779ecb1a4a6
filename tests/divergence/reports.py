"""Reports that several tests read: that of all families, and a family whose documented result is wrong."""

import functools

import numpy as np

from onax._divergence import case, cli

CPU = "eager,jit,onnx-cpu"


@functools.cache
def whole():
    """The report of all families on the backends of the CPU, made once."""
    return cli.make_report(CPU)


def wrong_family(documented):
    """A family of one case whose documented result onax does not give."""

    def cases():
        yield case.Case("x + 1", lambda x: x + 1, lambda x: x + 1, (np.arange(3, dtype=np.float32),), documented)

    return case.Family("wrong", "Wrong", "rule", "safe", cases)
