"""The backends, each of which runs a case and returns its outcome.

eager       evaluation with NumPy, operation by operation
jit         compiled in this process; the graph may contain native operators
onnx-cpu    exported to standard operators, run by ONNX Runtime on the CPU
onnx-cuda   compiled in this process, run by the CUDA provider of ONNX Runtime
"""

import contextlib
import warnings

import numpy as np

import onax
import onax.export
import onax.numpy as jnp
from onax._divergence.case import Outcome
from onax._ground import lazy
from onax._ground.errors import BackendError
from onax.export import opsets


def _outcome(function, args):
    """The outcome of a call: an array, or the class of the error that was raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return Outcome(value=np.asarray(function(*args)))
        except _ERRORS as error:
            return Outcome(error=type(error).__name__, message=str(error).split("\n", 1)[0])


# The errors of NumPy and onax for bad input.  Any other error is a fault of the report and ends it.
_ERRORS = (ArithmeticError, AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)


def run_numpy(case):
    """NumPy's outcome."""
    return _outcome(case.numpy, case.args)


@contextlib.contextmanager
def _precision(case):
    with onax.enable_x64(case.x64):
        yield


class Eager:
    """Evaluation without compiling."""

    name = "eager"
    title = "onax, eager"

    def missing(self):
        """Why the backend cannot be used here, or None."""
        return None

    def version(self):
        """The library that computes, and its version."""
        return f"NumPy {np.__version__}"

    def run(self, case):
        """The outcome of a case."""
        with _precision(case):
            return _outcome(lambda *args: case.onax(*map(jnp.asarray, args)), case.args)


class Jit(Eager):
    """Compilation in this process."""

    name = "jit"
    title = "onax.jit on the CPU"
    options: dict = {}

    def __init__(self):
        self._compiled = {}

    def version(self):
        return f"ONNX Runtime {lazy.metadata.version(_distribution())}"

    def run(self, case):
        key = (case.onax, case.x64)
        if key not in self._compiled:
            self._compiled[key] = onax.jit(case.onax, compiler_options=dict(self.options))
        with _precision(case):
            return _outcome(lambda *args: self._compiled[key](*map(jnp.asarray, args)), case.args)


class OnnxCpu(Eager):
    """The exported model, standard operators alone."""

    name = "onnx-cpu"
    title = "exported ONNX, CPU"

    def __init__(self):
        self._exported = {}

    def version(self):
        return f"ONNX Runtime {lazy.metadata.version(_distribution())}, opset {opsets.DEFAULT_OPSET}"

    def run(self, case):
        with _precision(case):
            return _outcome(lambda *args: self._call(case, args), case.args)

    def _call(self, case, args):
        arrays = [jnp.asarray(a) for a in args]
        key = (case.onax, case.x64, tuple((a.shape, a.dtype) for a in arrays))
        if key not in self._exported:
            self._exported[key] = onax.export.export(case.onax)(*arrays)
        return self._exported[key].call(*arrays)


class OnnxCuda(Jit):
    """The compiled graph on a GPU."""

    name = "onnx-cuda"
    title = "ONNX Runtime, CUDA"
    options = {"provider": "cuda"}

    def missing(self):
        try:
            onax.jit(lambda x: x + 1, compiler_options=dict(self.options))(jnp.zeros(1))
        except BackendError as error:
            return str(error).split("\n", 1)[0]
        return None


def _distribution():
    """The name under which ONNX Runtime is installed."""
    for name in ("onnxruntime-gpu", "onnxruntime"):
        try:
            lazy.metadata.version(name)
        except lazy.metadata.PackageNotFoundError:
            continue
        return name
    raise BackendError("ONNX Runtime is not installed")


BACKENDS = {backend.name: backend for backend in (Eager, Jit, OnnxCpu, OnnxCuda)}
