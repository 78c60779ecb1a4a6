"""Wrong calls of every public function raise what real JAX raises, on purpose, and name the function.

`error_calls.py` makes the calls and records JAX's answers; `fuzzing_errors.py` says what is wrong with one of ours.
What is meant to differ has a reason there; `golden/error_deviations.json` lists the rest, call by call: nothing may be
added to it.
To renew it after mending something:

    python tests/test_fuzz_errors.py
"""

import collections
import gzip
import importlib
import json
import os
import re
from pathlib import Path

import pytest

import error_calls
import fuzzing_errors
import onax

RECORDED = json.loads(gzip.decompress(error_calls.RECORDING.read_bytes()))
DEVIATIONS = Path(__file__).parent / "golden" / "error_deviations.json"
ROOMS = sorted({name.rpartition(".")[0] for name in RECORDED})

# Classes that tell of a fault inside, whatever was asked.
ACCIDENTS = (AssertionError, KeyError, AttributeError, NotImplementedError, RecursionError, UnboundLocalError)


def faults_of(name, values, step=1):
    """line -> fault, for the calls of one function, or every `step`-th of them."""
    function = error_calls.resolve(onax, name)
    found = {}
    start = len(name) % step  # another part of the table for each function
    for line, wanted in list(RECORDED[name].items())[start::step]:
        error = error_calls.attempt(onax, function, line, values)
        if fuzzing_errors.has_one_fault(line, RECORDED[name]):
            fault = fuzzing_errors.fault(name, wanted, error)
        else:  # several faults: which is found first does not matter, but that it is found does
            accident = isinstance(error, ACCIDENTS) and not fuzzing_errors.on_purpose(error)
            fault = f"{type(error).__name__} by accident" if accident else None
        if fault and not fuzzing_errors.reason(name, line, fault):
            found[line] = fault
    return found


def functions_of(room):
    return [name for name in RECORDED if name.rpartition(".")[0] == room]


def check_room(room, monkeypatch, step):
    monkeypatch.setenv("ONAX_FULL_TRACEBACK", "1")
    if room:
        importlib.import_module(f"onax.{room}")
    known = json.loads(DEVIATIONS.read_text())
    values = error_calls.pool(onax)
    new = {}
    for name in functions_of(room):
        for line, fault in faults_of(name, values, step).items():
            if line not in known.get(name, {}):
                new[f"{name}({line})"] = fault
    assert new == {}


@pytest.mark.parametrize("room", ROOMS)
def test_errors_are_those_of_jax(room, monkeypatch):
    check_room(room, monkeypatch, 5)


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_all_errors_are_those_of_jax(room, monkeypatch):
    check_room(room, monkeypatch, 1)


def test_most_calls_are_settled():
    known = json.loads(DEVIATIONS.read_text())
    assert sum(map(len, known.values())) < 0.02 * sum(map(len, RECORDED.values()))


@pytest.mark.parametrize("row", fuzzing_errors.REASONS, ids=lambda row: f"{row[0]} {row[1]}")
def test_reasons_are_of_recorded_calls(row):
    names, calls = map(re.compile, row[:2])
    assert any(names.fullmatch(name) and any(map(calls.fullmatch, RECORDED[name])) for name in RECORDED)


def main():
    """Renews the list of deviations."""
    os.environ["ONAX_FULL_TRACEBACK"] = "1"
    values = error_calls.pool(onax)
    found = {name: faults_of(name, values) for name in RECORDED}
    found = {name: dict(sorted(faults.items())) for name, faults in sorted(found.items()) if faults}
    DEVIATIONS.write_text(json.dumps(found, indent=0, separators=(",", ":")) + "\n")
    counts = collections.Counter(fault for faults in found.values() for fault in faults.values())
    for fault, count in counts.most_common():
        print(count, fault)


if __name__ == "__main__":
    for room in ROOMS:
        if room:
            importlib.import_module(f"onax.{room}")
    main()
