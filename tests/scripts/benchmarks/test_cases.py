"""Timers of the benchmark, and what a case times."""

import itertools

import pytest

import onax
import script_modules


@pytest.fixture
def cases():
    with script_modules.imported("", "benchmarks.cases") as modules:
        yield getattr(modules, "benchmarks.cases")


class Clock:
    """A clock that goes on by the next of some durations at each call of a function."""

    def __init__(self, durations):
        self.now, self.durations = 0.0, iter(durations)

    def work(self):
        self.now += next(self.durations)

    def perf_counter(self):
        return self.now


def test_the_least_time_of_a_call(cases, monkeypatch):
    clock = Clock(itertools.chain([9.0], itertools.cycle([3e-3, 1e-3])))  # a first call, then slow and quick ones
    monkeypatch.setattr(cases, "time", clock)
    assert cases.best(clock.work, seconds=0.05) == pytest.approx(1e3)
    assert clock.now == pytest.approx(9.05, abs=3e-3)


def test_first_calls(cases, monkeypatch):
    clock, made = Clock([5e-3, 2e-3, 7e-3]), []
    monkeypatch.setattr(cases, "time", clock)
    assert cases.once(lambda: made.append(1) or clock.work, repeats=3) == pytest.approx(2e3)
    assert len(made) == 3


@pytest.mark.parametrize("x64, jit", [(True, False), (False, False), (True, True)])
def test_a_case_has_its_types(cases, x64, jit):
    seen = []
    double = lambda v: seen.append(str(v.dtype)) or v * 2
    case = cases.Case("double", double, (cases.numbers(3, dtype="float64"),), jit=jit, x64=x64, seconds=1e-4)
    assert case.time(onax) > 0 and set(seen) == {"float64" if x64 else "float32"}
    assert (len(seen) == 1) == jit


def test_each_first_call_is_staged_anew(cases):
    staged = []
    case = cases.FirstCall("first", lambda v: staged.append(v) or v + 1, (onax.numpy.ones(2),), repeats=3)
    assert case.time(onax) > 0 and len(staged) == 3
