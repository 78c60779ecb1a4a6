"""Runs one function in several ways on the same arguments, and compares the results.

    eager          onax's interpreter, the reference for the others
    jit            compiled in this process
    ort-0 ... ort-all   the exported model in ONNX Runtime at each optimization level
    reference      the exported model in onnx's reference evaluator

Without the function, for an artefact alone, the model at level 0 is the reference.  `first_difference` finds the first
equation whose results differ.
"""

import math
from dataclasses import dataclass

import numpy as np

from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.printing import print_eqn
from onax._ground import dtypes, lazy, source
from onax._ground.errors import BackendError
from onax._transforms.abstract import stage
from onax.export import api, report

LEVELS = {"ort-0": 0, "ort-basic": 1, "ort-extended": 2, "ort-all": 99}
REFERENCE = "reference"


@dataclass(frozen=True)
class Row:
    """The comparison of one result of one way: largest absolute, relative and ulp difference, or why it did not run.

    all_nan   every element is NaN on both sides, so that their agreement says little
    """

    way: str
    name: str
    absolute: float = 0.0
    relative: float = 0.0
    ulp: float = 0.0
    is_close: bool = True
    skipped: str = ""
    all_nan: bool = False


@dataclass(frozen=True)
class Difference:
    """The first equation whose results differ: its text, the user's line, the comparison."""

    equation: str
    line: str
    comparison: report.Comparison

    def __str__(self):
        c = self.comparison
        return f"{self.equation} differs by {c.absolute:.3g} (relative {c.relative:.3g}); written in {self.line}"


def ways_of(jitted):
    """Names of all ways but eager."""
    return (("jit",) if jitted else ()) + (*LEVELS, REFERENCE)


def run_way(way, exported, args, kwargs, jitted=None, provider=None):
    """The flat results of one way.

    Raises BackendError, or an error of the reference evaluator, if the way cannot run the model.
    """
    if way == "jit":
        return [np.asarray(x) for x in exported.out_tree.flatten_up_to(jitted(*args, **kwargs))]
    arrays = exported.boundary_arguments(*args, **kwargs)
    if not exported.out_avals:
        return []
    if way == REFERENCE:
        evaluator = lazy.onnx_reference.ReferenceEvaluator(_model_with_constants(exported))
        with np.errstate(all="ignore"):
            results = evaluator.run(None, dict(zip(exported.in_names, arrays)))
        return exported.results_of(_with_signature_dtypes(results, exported))
    options = {"optimization": LEVELS[way]} | ({"provider": provider} if provider else {})
    return exported.results_of(exported.session(options).run(arrays))


def _model_with_constants(exported):
    """The model with all constants inside, as the reference evaluator needs it."""
    model = exported.onnx_model
    for tensor in model.graph.initializer:
        if tensor.name in exported._arrays:
            tensor.CopyFrom(lazy.onnx_numpy_helper.from_array(np.array(exported._arrays[tensor.name]), tensor.name))
    return model


def _with_signature_dtypes(results, exported):
    """Results in the dtypes of the signature: the reference evaluator returns Python scalars for some."""
    signature_dtypes = [api._port(leaf.aval)[0] for leaf in exported._signature.out_leaves]
    numbers = {number: dtype for dtype, number in api.ELEMENT_TYPES.items()}
    return [np.asarray(x, numbers[w]) for x, w in zip(results, signature_dtypes)]


# Errors of the reference evaluator for operators that it does not implement, and errors of ONNX Runtime.
_RUN_ERRORS = (BackendError, RuntimeError, NotImplementedError, TypeError, ValueError, IndexError, KeyError)


def compare_ways(exported, args, kwargs, fun=None, *, jitted=None, rtol=None, atol=None, provider=None, progress=None):
    """A Row for each way and result.  `fun`: the function; None compares with the model at level 0."""
    base = "eager" if fun is not None else "ort-0"
    if fun is not None:
        expected = [np.asarray(x) for x in exported.out_tree.flatten_up_to(fun(*args, **kwargs))]
    else:
        expected = run_way(base, exported, args, kwargs)
    rows = []
    for way in ways_of(jitted is not None):
        if way == base:
            continue
        if progress is not None:
            progress(way)
        try:
            actual = run_way(way, exported, args, kwargs, jitted, provider)
        except _RUN_ERRORS as error:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            rows.append(Row(way, "", skipped=reason, is_close=way == REFERENCE))
            continue
        rows += [_row(way, n, g, w, rtol, atol) for n, g, w in zip(exported.out_names, actual, expected)]
    return rows


def _row(way, name, actual, expected, rtol, atol):
    if isinstance(expected.dtype, dtypes.ExtendedDType) or expected.dtype.kind == "V":
        same = actual.tobytes() == expected.tobytes()
        return Row(way, name, *(0.0 if same else math.inf,) * 3, same)
    c = report.compare(name, actual, expected, rtol)
    close = c.is_close or (atol is not None and c.absolute <= atol)
    return Row(
        way, name, c.absolute, c.relative, largest_ulp(actual, expected), close, all_nan=report.all_nan(expected)
    )


def largest_ulp(actual, expected):
    """The largest difference in units in the last place of the expected values; NaN and infinities must agree."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return math.inf
    if expected.dtype.kind == "c":
        return max(largest_ulp(actual.real, expected.real), largest_ulp(actual.imag, expected.imag))
    if not dtypes.is_inexact(expected.dtype):
        return 0.0 if np.array_equal(actual, expected) else math.inf
    info = dtypes.finfo(expected.dtype)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        spacing = np.exp2(np.floor(np.log2(np.maximum(np.abs(b), float(info.smallest_normal))))) * float(info.eps)
        apart = np.where(same, 0.0, np.abs(a - b) / spacing)
    return float(np.max(np.where(np.isnan(apart), math.inf, apart), initial=0.0))


def table(rows, base="eager"):
    """The rows as lines of text, aligned."""
    width = max([len(r.name) for r in rows] + [6])
    lines = [f"{'':14}{'output':{width}}  {'max abs':>10}{'max rel':>10}{'max ulp':>10}   against {base}"]
    for r in rows:
        if r.skipped:
            lines.append(f"{r.way:14}not run: {r.skipped}")
        else:
            verdict = ("ok, all NaN" if r.all_nan else "ok") if r.is_close else "DIFFERS"
            lines.append(
                f"{r.way:14}{r.name:{width}}  {r.absolute:>10.3g}{r.relative:>10.3g}{r.ulp:>10.3g}   {verdict}"
            )
    return lines


# --- the first difference ---------------------------------------------------------------------------------------------


def intermediates(jaxpr):
    """(the closed jaxpr that returns the results of all equations, the equation of each result)."""
    shown = [
        (v, eqn)
        for eqn in jaxpr.eqns
        for v in eqn.outvars
        if type(v) is not core.DropVar and not isinstance(v.aval.dtype, dtypes.ExtendedDType)
    ]
    outvars = [v for v, _ in shown]
    open_jaxpr = core.Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, jaxpr.eqns, None, jaxpr.debug_info)
    return core.ClosedJaxpr(open_jaxpr, jaxpr.consts), [eqn for _, eqn in shown]


def first_difference(fun, args, kwargs=None, *, way="ort-basic", opset=None, rtol=None, provider=None):
    """The first equation of a function whose results differ between eager evaluation and another way, or None.

    The function is exported with every intermediate result as an output, and the results are compared in program order.
    Only the outermost jaxpr is searched: a loop or a branch counts as one equation.
    """
    jaxpr, _, tree = stage(fun, args, kwargs or {}, traced_for="export")
    program, eqns = intermediates(jaxpr)

    def run(*flat):
        return eval_jaxpr(program, program.consts, *flat)

    leaves = tree.flatten_up_to((args, kwargs or {}))
    expected = run(*leaves)
    exported = api.export(run, opset=opset)(*leaves)
    actual = run_way(way, exported, tuple(leaves), {}, provider=provider)
    for eqn, got, want in zip(eqns, actual, expected):
        comparison = report.compare(eqn.primitive.name, np.asarray(got), np.asarray(want), rtol)
        if not comparison.is_close:
            return Difference(print_eqn(eqn), source.summarize(eqn.source_info), comparison)
    return None
