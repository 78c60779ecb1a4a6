"""Runs the families on the backends and records the outcomes for the writers.

Report        versions of the backends, one FamilyReport for each family
FamilyReport  one Row for each case
Row           the outcome of a case in NumPy, the documented one, and a Result for each backend
"""

from dataclasses import dataclass

import numpy as np

from onax._divergence.case import Outcome, agrees, elements, scalar_text, ulps_apart
from onax._divergence.runners import run_numpy

AS_DOCUMENTED, DEPARTS = "as documented", "departs"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a case on one backend, and the verdict."""

    outcome: Outcome
    verdict: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A case that was run; all but `results` are texts to show."""

    key: str
    title: str
    dtype: str
    shape: str
    example: str
    numpy: str
    documented: str
    diverges: bool
    results: dict
    cell: tuple | None


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """A family that was run."""

    family: object
    rows: list
    missing: str | None = None  # why it could not be run

    def departures(self):
        """(row, backend's name) wherever a backend is not as documented."""
        return [(row, name) for row in self.rows for name, r in row.results.items() if r.verdict == DEPARTS]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of a run."""

    onax_version: str
    backends: dict
    missing: dict
    families: list

    def departures(self):
        """(family's name, row, backend's name) wherever a backend is not as documented."""
        return [(f.family.name, row, name) for f in self.families for row, name in f.departures()]


def run_family(family, backends, progress=None):
    """Runs every case of a family on every backend; if a package is not installed, the FamilyReport says so."""
    rows, seen = [], {}
    try:
        cases = list(family.cases())
    except ImportError as error:
        return FamilyReport(family, [], str(error))
    for case in cases:
        key = "/".join((family.name, case.title, case.dtype, case.shape))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            raise ValueError(f"two cases are called {key}")
        rows.append(_run_case(key, case, backends))
        if progress is not None:
            progress()
    return FamilyReport(family, rows)


def _run_case(key, case, backends):
    numpy = run_numpy(case)
    results = {}
    for backend in backends:
        outcome = backend.run(case)
        verdict = AS_DOCUMENTED if agrees(outcome, case.wanted(backend.name), case.ulp) else DEPARTS
        results[backend.name] = (outcome, verdict)
    diverges = case.traced_documented is not None or not agrees(numpy, case.documented, case.ulp)
    outcomes = [numpy, *(outcome for outcome, _ in results.values())]
    index = _first_differing_index(case, outcomes)
    return Row(
        key,
        case.title,
        case.dtype,
        case.shape,
        _arguments_text(case.args, index),
        _outcome_text(numpy, index) + _distance_text(numpy, case),
        _documented_text(case.documented, index),
        diverges,
        {name: Result(o, v, _outcome_text(o, index) + _distance_text(o, case)) for name, (o, v) in results.items()},
        case.cell,
    )


def _distance_text(outcome, case):
    """The distance of a float result from the documented one, if the case allows a distance."""
    documented = case.documented
    if not case.ulp or outcome.error is not None or outcome.value.dtype != documented.dtype:
        return ""
    if outcome.value.shape != documented.shape:
        return ""
    return f", {int(np.max(ulps_apart(outcome.value, documented)))} ulp"


def _first_differing_index(case, outcomes):
    """The index of the first element at which an outcome differs from the documented result.

    None if there is none, or if arguments and result do not correspond element by element; all are shown then.
    """
    documented = case.documented
    if isinstance(documented, (str, frozenset)) or documented.ndim != 1 or documented.size <= 4:
        return None
    if not case.args or any(np.shape(a) != documented.shape for a in case.args):
        return None
    for outcome in outcomes:
        if outcome.error is None and np.shape(outcome.value) == documented.shape:
            same = np.array([_equal(f, w) for f, w in zip(outcome.value, documented)])
            if not same.all():
                return int(np.argmin(same))
    return None


def _equal(actual, expected):
    return bool(actual == expected) or (actual != actual and expected != expected)


def _arguments_text(args, index):
    """The arguments, or one element of each."""
    if index is not None:
        return ", ".join(scalar_text(a[index]) for a in args)
    return ", ".join(elements(np.asarray(a), 5) for a in args)


def _outcome_text(outcome, index):
    if index is None or outcome.error is not None or np.ndim(outcome.value) != 1:
        return outcome.text(5)
    return f"{scalar_text(outcome.value[index])} {outcome.value.dtype.name}"


def _documented_text(documented, index):
    if isinstance(documented, str):
        return documented
    if isinstance(documented, frozenset):
        return " or ".join(sorted(documented))
    return _outcome_text(Outcome(value=np.asarray(documented)), index)
