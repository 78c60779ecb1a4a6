"""The benchmark: its timers, its figures of one group, its text."""

import itertools
import json
import subprocess
import sys

import pytest

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
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) > 2 and all(value > 0 for value in found.values()), done.stderr


def test_a_worker_that_fails_ends_the_benchmark(benchmark):
    with pytest.raises(SystemExit, match="no_such_package failed"):
        benchmark.run_worker(sys.executable, "no_such_package", [])
