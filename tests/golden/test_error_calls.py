"""Wrong calls of every public function raise what real JAX raises, on purpose, and name the function.

`error_calls.py` makes the calls and records JAX's answers; `fuzzing_errors.py` says what is wrong with one of ours.
What is meant to differ has a reason there.  Run as a program, this file prints what else differs, in the named modules
or everywhere:

    PYTHONPATH=tests python tests/golden/test_error_calls.py [module ...]
"""

import gzip
import importlib
import json
import os
import re
import sys
import traceback

import pytest

import error_calls
import fuzzing_errors
import onax
from onax._ground.source import is_internal

RECORDED = json.loads(gzip.decompress(error_calls.RECORDING.read_bytes()))
MODULES = sorted({name.rpartition(".")[0] for name in RECORDED})

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


def functions_of(module):
    return [name for name in RECORDED if name.rpartition(".")[0] == module]


def check_module(module, monkeypatch, step):
    monkeypatch.setenv("ONAX_FULL_TRACEBACK", "1")
    load(module)
    values = error_calls.pool(onax)
    found = {name: faults_of(name, values, step) for name in functions_of(module)}
    assert {f"{name}({line})": fault for name, faults in found.items() for line, fault in faults.items()} == {}


def load(module):
    if module:
        importlib.import_module(f"onax.{module}")


@pytest.mark.parametrize("module", MODULES)
def test_errors_are_those_of_jax(module, monkeypatch):
    check_module(module, monkeypatch, 5)


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_all_errors_are_those_of_jax(module, monkeypatch):
    check_module(module, monkeypatch, 1)


@pytest.mark.parametrize("module", MODULES)
def test_tracebacks_show_no_frames_of_onax(module, monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)
    load(module)
    values = error_calls.pool(onax)
    shown = {}
    for name in functions_of(module):
        function = error_calls.resolve(onax, name)
        refused = [line for line, wanted in RECORDED[name].items() if wanted is not None]
        for line in refused[len(name) % 3 :: max(1, len(refused) // 3)]:
            error = error_calls.attempt(onax, function, line, values)
            if error is not None:
                files = [entry.filename for entry in traceback.extract_tb(error.__traceback__)]
                shown |= {f"{name}({line})": file for file in files if is_internal(file)}
    assert shown == {}


@pytest.mark.parametrize("row", fuzzing_errors.REASONS, ids=lambda row: f"{row[0]} {row[1]}")
def test_reasons_are_of_recorded_calls(row):
    names, calls = map(re.compile, row[:2])
    assert any(names.fullmatch(name) and any(map(calls.fullmatch, RECORDED[name])) for name in RECORDED)


@pytest.mark.slow
def test_every_reason_is_needed(monkeypatch):
    used = set()
    reason = fuzzing_errors.reason

    def noted(*call):
        why = reason(*call)
        used.add(why)
        return why

    monkeypatch.setattr(fuzzing_errors, "reason", noted)
    monkeypatch.setenv("ONAX_FULL_TRACEBACK", "1")
    values = error_calls.pool(onax)
    for name in RECORDED:
        load(name.rpartition(".")[0])
        if any(re.fullmatch(names, name) for names, *_ in fuzzing_errors.REASONS):
            faults_of(name, values)
    assert [why for *_, why in fuzzing_errors.REASONS if why not in used] == []


def main(modules):
    """Prints what differs without a reason."""
    os.environ["ONAX_FULL_TRACEBACK"] = "1"
    for module in modules or MODULES:
        load(module)
        values = error_calls.pool(onax)
        for name in functions_of(module):
            for line, fault in faults_of(name, values).items():
                print(f"{name}({line}): {fault}")


if __name__ == "__main__":
    main(sys.argv[1:])
