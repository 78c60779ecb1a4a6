"""Runs the families on the backends and keeps what came out, ready for any of the writers.

Report    versions of the backends, one FamilyReport a family, the departures
Row       a case: NumPy's outcome, the documented one, each backend's, whether it is as documented
"""

from dataclasses import dataclass

import numpy as np

from onax._divergence.case import Outcome, agrees, elements, scalar_text, ulps_apart
from onax._divergence.runners import run_numpy

AS_DOCUMENTED, DEPARTS = "as documented", "departs"


@dataclass(frozen=True)
class Result:
    """A backend's outcome of a case and the verdict."""

    outcome: Outcome
    verdict: str
    text: str


@dataclass(frozen=True)
class Row:
    """One case, run."""

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


@dataclass(frozen=True)
class FamilyReport:
    """A family, run."""

    family: object
    rows: list
    missing: str | None = None  # why it could not be run

    def departures(self):
        """(row, backend's name) wherever a backend is not as documented."""
        return [(row, name) for row in self.rows for name, r in row.results.items() if r.verdict == DEPARTS]


@dataclass(frozen=True)
class Report:
    """Everything that was run."""

    onax_version: str
    backends: dict
    missing: dict
    families: list

    def departures(self):
        """(family's name, row, backend's name) wherever a backend is not as documented."""
        return [(f.family.name, row, name) for f in self.families for row, name in f.departures()]


def run_family(family, backends, progress=None):
    """Runs every case of a family on every backend; without a package that it needs, says so instead."""
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
    place = _telling_place(case, outcomes)
    return Row(
        key,
        case.title,
        case.dtype,
        case.shape,
        _arguments(case.args, place),
        _shown(numpy, place) + _distance(numpy, case),
        _shown_wanted(case.documented, place),
        diverges,
        {name: Result(o, v, _shown(o, place) + _distance(o, case)) for name, (o, v) in results.items()},
        case.cell,
    )


def _distance(outcome, case):
    """How far a float result is from the documented one, where a distance is allowed."""
    wanted = case.documented
    if not case.ulp or outcome.error is not None or outcome.value.dtype != wanted.dtype:
        return ""
    return f", {int(np.max(ulps_apart(outcome.value, wanted)))} ulp" if outcome.value.shape == wanted.shape else ""


def _telling_place(case, outcomes):
    """The flat index of the first element where somebody parts from the documented result; None shows the whole.

    Only where arguments and result correspond element by element.
    """
    wanted = case.documented
    if isinstance(wanted, (str, frozenset)) or wanted.ndim != 1 or wanted.size <= 4:
        return None
    if not case.args or any(np.shape(a) != wanted.shape for a in case.args):
        return None
    for outcome in outcomes:
        if outcome.error is None and np.shape(outcome.value) == wanted.shape:
            same = np.array([_alike(f, w) for f, w in zip(outcome.value, wanted)])
            if not same.all():
                return int(np.argmin(same))
    return None


def _alike(found, wanted):
    return bool(found == wanted) or (found != found and wanted != wanted)


def _arguments(args, place):
    """The arguments, or only the telling element of each."""
    if place is not None:
        return ", ".join(scalar_text(a[place]) for a in args)
    return ", ".join(elements(np.asarray(a), 5) for a in args)


def _shown(outcome, place):
    if place is None or outcome.error is not None or np.ndim(outcome.value) != 1:
        return outcome.text(5)
    return f"{scalar_text(outcome.value[place])} {outcome.value.dtype.name}"


def _shown_wanted(wanted, place):
    if isinstance(wanted, str):
        return wanted
    if isinstance(wanted, frozenset):
        return " or ".join(sorted(wanted))
    return _shown(Outcome(value=np.asarray(wanted)), place)
