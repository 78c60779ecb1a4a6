"""A function of the user's: its NumPy version, onax eager and the exported model compared, and why they differ.

The NumPy version is the function itself with `numpy` in the place of `onax.numpy`, or another function that the user
names.
"""

import types
from dataclasses import dataclass

import numpy as np

import onax
import onax.export
import onax.numpy
from onax._core.paths import keystr, tree_leaves_with_path
from onax._divergence.case import Outcome, is_float, ulps_apart
from onax._ground.errors import BackendError, ExportError, LoweringError
from onax.export.checks import first_difference
from onax.export.report import compare

# Modules that the NumPy version of a function sees in the place of others.
_SWAPPED = {id(onax.numpy): np}


def numpy_version(function):
    """The function with `onax.numpy` replaced by `numpy` in its globals and in those of functions beside it.

    Raises ExportError for a function that is not written in Python.
    """
    inner = getattr(function, "__wrapped__", function)
    if not isinstance(inner, types.FunctionType):
        raise ExportError(f"{function!r} is not a Python function: give its NumPy version with --numpy")
    module = dict(inner.__globals__)
    for name, value in inner.__globals__.items():
        if id(value) in _SWAPPED:
            module[name] = _SWAPPED[id(value)]
        elif isinstance(value, types.FunctionType) and value.__globals__ is inner.__globals__:
            module[name] = types.FunctionType(
                value.__code__, module, value.__name__, value.__defaults__, value.__closure__
            )
    return types.FunctionType(inner.__code__, module, inner.__name__, inner.__defaults__, inner.__closure__)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One result: its path, its outcomes by the name of the run, and remarks on how these differ."""

    path: str
    outcomes: dict
    remarks: list


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of all runs, the errors of runs that failed, whether any differ, and why."""

    name: str
    leaves: list
    errors: dict
    reasons: list
    differs: bool


_ERRORS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError)


def _attempt(function, args):
    """(leaves with paths, None), or (None, the error)."""
    try:
        with np.errstate(all="ignore"):
            return [(keystr(path), np.asarray(x)) for path, x in tree_leaves_with_path(function(*args))], None
    except _ERRORS as error:
        return None, error


def compare_function(function, args, numpy_function=None):
    """The Comparison of the three versions on NumPy arguments (a tuple of pytrees)."""
    as_numpy = numpy_function or numpy_version(function)
    arrays = onax.tree.map(onax.numpy.asarray, args)
    runs = {"numpy": _attempt(as_numpy, args), "eager": _attempt(function, arrays)}
    try:
        exported = onax.export.export(function)(*arrays)
        runs["onnx-cpu"] = _attempt(exported.call, arrays)
    except (ExportError, LoweringError, BackendError) as error:
        runs["onnx-cpu"] = (None, error)
    errors = {name: error for name, (_, error) in runs.items() if error is not None}
    leaves = _leaves({name: run_leaves for name, (run_leaves, _) in runs.items() if run_leaves is not None})
    differs = bool(errors) or any(leaf.remarks for leaf in leaves)
    reasons = _reasons(function, arrays, errors) if differs else []
    return Comparison(getattr(function, "__name__", "function"), leaves, errors, reasons, differs)


def _leaves(runs):
    reference = runs.get("eager") or next(iter(runs.values()), [])
    leaves = []
    for i, (path, _) in enumerate(reference):
        outcomes = {name: run_leaves[i][1] for name, run_leaves in runs.items() if i < len(run_leaves)}
        leaves.append(Leaf(path or "result", outcomes, _remarks(outcomes)))
    return leaves


def _remarks(outcomes):
    """Sentences that say how the other outcomes differ from the eager one."""
    eager, remarks = outcomes.get("eager"), []
    if eager is None:
        return remarks
    for name, result in outcomes.items():
        if name == "eager":
            continue
        if result.shape != eager.shape:
            remarks.append(f"{name} has shape {result.shape}, eager {eager.shape}")
            continue
        if result.dtype != eager.dtype:
            remarks.append(f"{name} computes in {result.dtype.name}, eager in {eager.dtype.name}")
        with np.errstate(all="ignore"):
            narrowed = result.astype(eager.dtype)
        close = compare(name, narrowed, eager)
        if not close.is_close:
            remarks.append(
                f"{name} differs by {close.absolute:.3g} (relative {close.relative:.3g}){_worst(narrowed, eager)}"
            )
    return remarks


def _worst(actual, expected):
    """The position and the values of the largest difference."""
    if not actual.size or not is_float(expected.dtype):
        return ""
    flat = int(np.argmax(ulps_apart(actual, expected).reshape(-1)))
    index = tuple(int(i) for i in np.unravel_index(flat, expected.shape))
    pair = Outcome(value=actual[index]), Outcome(value=expected[index])
    return f", most at {index}: {pair[0].text()} and {pair[1].text()}"


def _reasons(function, arrays, errors):
    """Why they differ: the error of strict mode, and the first equation whose result differs in the model."""
    reasons = []
    if "eager" not in errors:
        reasons += _strict_objections(function, arrays)
    if not errors.keys() & {"eager", "onnx-cpu"}:
        departure = first_difference(function, arrays)
        if departure is not None:
            reasons.append(f"the model first differs from eager at {departure}")
    return reasons


def _strict_objections(function, arrays):
    """The error of strict mode: the rule of accelerators that applied, with the value and the line."""
    try:
        with onax.strict(overflow=True):
            function(*arrays)
    except onax.errors.StrictError as error:
        return [str(error)]
    return []
