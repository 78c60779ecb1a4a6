"""The kernels in Python that instructions of tapes call."""

import numpy as np

from onax._core.trace import as_array, set_current_trace
from onax._native.array import make_array
from onax._native.context import numpy_warnings_off
from onax._native.tape import PythonKernel
from onax._tape.rules import Unsupported


def python_kernel(eqn, operands, results, reason):
    """The PythonKernel of an equation; `operands` and `results` are pairs of shape and dtype.

    `reason` says why no instruction carries it out.
    Unsupported if the primitive has neither a kernel nor an `impl`.
    """
    primitive = eqn.primitive
    kernel = primitive.kernel
    if type(kernel) is dict:
        kernel = kernel.get(operands[0][1])
    if kernel is not None and not eqn.effects:
        run = _evaluate(kernel, eqn.params, primitive.multiple_results)
        return PythonKernel(primitive.name, run, operands, results, reason)
    if primitive.impl is None:
        raise Unsupported(f"{primitive.name} has no kernel")
    return PythonKernel(primitive.name, _evaluate_on_arrays(eqn), operands, results, reason)


def _evaluate(kernel, params, many):
    def run(*arrays):
        with numpy_warnings_off():
            results = kernel(*arrays, **params)
        return [np.asarray(x) for x in (results if many else (results,))]

    return run


def _evaluate_on_arrays(eqn):
    """The `impl` of an equation's primitive, which takes and gives Arrays: callbacks, and primitives of others."""
    impl, params, many = eqn.primitive.impl, eqn.params, eqn.primitive.multiple_results
    avals = [x.aval for x in eqn.invars]

    def run(*arrays):
        operands = [make_array(x, a.dtype, a.weak_type) for x, a in zip(arrays, avals)]
        with set_current_trace(None):
            results = impl(*operands, **params)
            return [np.asarray(as_array(x)._value) for x in (results if many else (results,))]

    return run
