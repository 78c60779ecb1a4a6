"""A worker process of the benchmark."""

import json
import subprocess
import sys

import onax
import script_modules


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks.worker", "onax", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=script_modules.SCRIPTS)
    return done, json.loads(done.stdout)


def test_figures_of_a_group():
    done, answer = run("--groups", "call")
    assert answer["version"] == onax.__version__ and list(answer["figures"]) == ["import", "call"]
    assert len(answer["figures"]["call"]) > 1 and all(us > 0 for us in answer["figures"]["call"].values())
    assert "jitted call, 90 leaves" in done.stderr


def test_explanations_of_cases():
    _, answer = run("--groups", "call", "eager", "--explain", "jitted call, one array", "eager x + y, f32[10]")
    assert list(answer["figures"]) == ["import"]
    compiled, eager = answer["explanations"].values()
    assert "a call (least of" in compiled and "tape: blocks: add" in compiled
    assert "it runs eagerly" in eager
