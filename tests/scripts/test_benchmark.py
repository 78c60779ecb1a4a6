"""The benchmark: its timers, its figures of one group, its text."""

import itertools
import json
import subprocess
import sys

import pytest

import onax
import script_modules


@pytest.fixture
def benchmark():
    with script_modules.imported("", "benchmark") as modules:
        yield modules.benchmark


class Clock:
    """A clock that goes on by the next of some durations at each call of a function."""

    def __init__(self, durations):
        self.now, self.durations = 0.0, iter(durations)

    def work(self):
        self.now += next(self.durations)

    def perf_counter(self):
        return self.now


def test_the_least_time_of_a_call(benchmark, monkeypatch):
    clock = Clock(itertools.chain([9.0], itertools.cycle([3e-3, 1e-3])))  # a first call, then slow and quick ones
    monkeypatch.setattr(benchmark, "time", clock)
    assert 1e3 <= benchmark.best(clock.work, seconds=0.05) <= 2.1e3


def test_first_calls(benchmark, monkeypatch):
    clock, made = Clock([5e-3, 2e-3, 7e-3]), []
    monkeypatch.setattr(benchmark, "time", clock)
    assert benchmark.once(lambda: made.append(1) or clock.work, repeats=3) == pytest.approx(2e3)
    assert len(made) == 3


@pytest.mark.parametrize("microseconds, text", [(12.34, "12.3 us"), (12_340, "12.3 ms"), (2.5e6, "2.5 s")])
def test_text(benchmark, microseconds, text):
    assert benchmark.shown(microseconds) == text


def test_a_worker_gives_figures_of_its_group():
    script = script_modules.SCRIPTS / "benchmark.py"
    done = subprocess.run(
        [sys.executable, script, "--worker", "onax", "--groups", "call"], capture_output=True, text=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["version"] == onax.__version__ and list(answer["figures"]) == ["import", "call"], done.stderr
    assert len(answer["figures"]["call"]) > 1 and all(us > 0 for us in answer["figures"]["call"].values())


@pytest.mark.parametrize("programs, count", [("small_programs", 15), ("loop_programs", 15)])
def test_programs_run(benchmark, programs, count):
    found = getattr(benchmark, programs)(onax)
    assert len(found) >= count
    for name, (function, args) in found.items():
        results = onax.tree.leaves(onax.jit(function)(*args))
        assert results and all(bool(onax.numpy.isfinite(x).all()) for x in results), name


def test_medians_over_rounds_of_libraries_that_run_in_turn(benchmark, monkeypatch):
    asked, figures = [], iter([4.0, 10.0, 6.0, 30.0, 5.0, 20.0])

    def run(python, module, groups):
        asked.append(python)
        return {"version": f"of {python}", "figures": {group: {"case": next(figures)} for group in groups}}

    monkeypatch.setattr(benchmark, "run_worker", run)
    found = list(benchmark.measured([("onax", "a"), ("jax", "b")], ["call"], rounds=3))
    assert asked == ["a", "b"] * 3
    assert found == [("onax of a", {"call": {"case": 5.0}}), ("JAX of b", {"call": {"case": 20.0}})]


def test_table(benchmark):
    lines = [
        line.split() for line in benchmark.table({"a": 1.0, "b": 2.0}, [{"a": 2.0, "b": 1.0}, {"a": 8.0, "b": 4.0}])
    ]
    assert lines == [
        ["a", "1", "us", "2", "us", "2.00", "8", "us", "8.00"],
        ["b", "2", "us", "1", "us", "0.50", "4", "us", "2.00"],
        ["=", "geometric", "mean", "1.00", "4.00"],
        ["=", "minimum", "0.50", "2.00"],
    ]
    assert len(list(benchmark.table({"a": 1.0}, []))) == 1


def test_pythons_with_jax(benchmark, monkeypatch, tmp_path):
    monkeypatch.setenv("ONAX_ORACLE_PYTHON", str(tmp_path / "python"))
    assert benchmark.oracle_pythons() == []
    (tmp_path / "python").touch()
    assert benchmark.oracle_pythons() == [str(tmp_path / "python")]


def test_a_worker_that_fails_ends_the_benchmark(benchmark):
    with pytest.raises(SystemExit, match="no_such_package failed"):
        benchmark.run_worker(sys.executable, "no_such_package", [])
