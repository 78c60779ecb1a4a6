"""jnp.linalg, jnp.fft, lax.linalg and onax.scipy give real JAX's values and gradients (see tests/scipy_calls.py).

Each call is made eagerly; some are compiled, mapped and differentiated too, and all of them in the slow tests.
"""

import gzip
import json
import re

import numpy as np
import pytest

import onax as jax
import scipy_calls

RECORDED = json.loads(gzip.decompress(scipy_calls.RECORDING.read_bytes()))
KNOWN = scipy_calls.names(jax)
EPS = {"float16": 1e-3, "bfloat16": 8e-3, "float64": 2.3e-16, "complex128": 2.3e-16}
HALVES = {"h": 1e-3, "B": 8e-3}  # computed in them by JAX, whatever the result's dtype
ROUNDINGS = 200

ALL = "call|jit|vmap"
# What is meant to differ: (cases, ways, each a regular expression for all of it; the reason).
DIFFERENT = (
    ("i la[.]vector_norm.*ord=0.*", ALL, "counts of integers are numbers; JAX fails to find their precision"),
    (". sla[.]lu[(]m2.*", ALL + "|grad", "stacks of matrices work; JAX fails, by accident"),
    (". sla[.]expm_frechet[(]m33, m33i.*", ALL + "|grad", "a direction of integers is converted to floats"),
    ("i .*sla[.]polar.*", ALL, "integers are converted to floats, as elsewhere"),
    (". sp[.]gammaincc?[(]50.*", ALL + "|grad", "JAX is wrong in the fourth digit; SciPy's digits are ours"),
    ("f sp[.](exp1|expi|gammainc|poch|spence|zeta)[(]e8.*", ALL, "SciPy's limits, where JAX has NaN"),
    ("h sp[.]expi[(]q4.*", ALL, "JAX overflows to NaN in float16"),
    ("d st[.]betabinom.*", ALL, "JAX is wrong in the seventh digit; SciPy's digits are ours"),
    ("d st[.]poisson[.]entropy.*", ALL, "JAX ends the series early; SciPy's digits are ours"),
    ("f st[.](uniform[.]cdf|truncnorm[.]logcdf)[(]e8.*", ALL, "NaN stays NaN; JAX gives 0"),
    ("f tuple[(]st[.]mode.*", "grad", "of equal numbers another one has the slope"),
    ("f la[.]lstsq.*numpy_resid.*", "jit|vmap", "the shape depends on numbers: JAX cannot trace it either"),
    ("f st[.]cauchy[.]log.*[(]e8.*", ALL, "-inf at the end, where JAX has a rounding error's logarithm"),
    ("f st[.]gumbel_.[.]pdf[(]e8.*", ALL, "JAX gives an infinite density at infinity"),
    (". rebuilt_pivoted[(]sla[.]qr[(]m34.*", "grad", "JAX is wrong for wide matrices; differences agree with ours"),
)  # fmt: skip


def reason(case, way):
    """Why a case is meant to differ, or None."""
    return next((why for cases, ways, why in DIFFERENT if re.fullmatch(cases, case) and re.fullmatch(ways, way)), None)


def function_name(case):
    """The function that a case is about, for a test's name: the first that is named with its module."""
    return re.search(r"\b(?:la|fft|sf|sla|lx|sp|st|sg|si|ip|sn|sv|kr)[.][\w.]+", case).group()


def groups():
    """Name of a function -> its cases."""
    found = {}
    for letter, expression in scipy_calls.cases():
        case = f"{letter} {expression}"
        found.setdefault(function_name(case), []).append((letter, expression))
    return found


GROUPS = groups()


def numbers(array):
    return np.array([float(x) for x in array[3].split()])


def fault(got, want, letter):
    """A word for how results differ from what is recorded, or None."""
    if isinstance(want, str):
        refused = isinstance(got, str) and got.split(":")[0] == want.split(":")[0]
        return None if refused else f"{str(got)[:100]}; in JAX {want}"
    if isinstance(got, str):
        return got
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    return next(filter(None, (_array_fault(g, w, letter) for g, w in zip(got, want))), None)


def _array_fault(got, want, letter):
    if isinstance(want, str) or isinstance(got, str):
        return None if got == want else f"{got}, not {want}"
    if got[:3] != want[:3]:
        return f"dtype, shape, weak type {got[:3]}, not {want[:3]}"
    x, y = numbers(got), numbers(want)
    size = np.abs(y[np.isfinite(y)]).max(initial=0)
    eps = max(EPS.get(want[0], 1.2e-7), HALVES.get(letter, 0) / 20)
    if np.array_equal(np.isfinite(x), np.isfinite(y)) and np.allclose(
        x, y, rtol=ROUNDINGS * eps, atol=ROUNDINGS * eps * size + 32 * eps, equal_nan=True
    ):
        return None
    return f"{got[3]}, not {want[3]}"


def mapped_twice(function, args):
    """The results of the first of two equal rows under vmap."""
    doubled = [jax.numpy.stack([x, x]) for x in args]
    out = scipy_calls.flat(jax.vmap(function)(*doubled))
    return [x[1] for x in out]


def ways(function, args, row):
    """way -> what computes the answer to compare with what is recorded."""
    found = {
        "call": ("value", lambda: function(*args)),
        "jit": ("value", lambda: jax.jit(function)(*args)),
        "vmap": ("value", lambda: mapped_twice(function, args)),
        "grad": ("grad", lambda: scipy_calls.gradient(jax, function, args)),
    }
    if isinstance(row.get("grad", ""), str):  # JAX has no derivative, or none is recorded
        del found["grad"]
    if isinstance(row["value"], str) or not args:
        del found["vmap"]
    return found


def faults_of(name, every):
    """(way, case) -> fault; all calls, and of the other ways every so many."""
    found = {}
    for number, (letter, expression) in enumerate(GROUPS[name], start=len(name)):
        case = f"{letter} {expression}"
        row = RECORDED[case]
        with scipy_calls.wide(jax, letter):
            function, args = scipy_calls.function_of(letter, expression, jax, KNOWN)
            for shift, (way, (part, run)) in enumerate(ways(function, args, row).items()):
                if way != "call" and (number + 3 * shift) % every:
                    continue
                wrong = fault(scipy_calls.attempted(run), row[part], letter)
                if wrong and not reason(case, way):
                    found[way, case] = wrong
    return found


@pytest.mark.parametrize("name", GROUPS)
def test_calls_answer_as_in_jax(name):
    assert faults_of(name, 16) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_calls_answer_as_in_jax_in_every_way(name):
    assert faults_of(name, 1) == {}


def test_every_case_is_recorded():
    assert [case for case in map(" ".join, scipy_calls.cases()) if case not in RECORDED] == []


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[0])
def test_differences_are_of_cases(row):
    assert any(re.fullmatch(row[0], case) for case in RECORDED)


@pytest.mark.slow
def test_every_difference_is_needed(monkeypatch):
    used = set()

    def noted(case, way, reason=reason):
        why = reason(case, way)
        used.add(why)
        return why

    monkeypatch.setitem(globals(), "reason", noted)
    for name, cases in GROUPS.items():
        if any(re.fullmatch(row[0], " ".join(case)) for row in DIFFERENT for case in cases):
            faults_of(name, 1)
    assert [why for *_, why in DIFFERENT if why not in used] == []
