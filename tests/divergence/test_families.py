"""The families: each has cases, one in which NumPy differs, and rules that are JAX's."""

import subprocess
import sys
from pathlib import Path

import pytest

import oracle
from divergence.reports import whole
from onax._divergence import casts, cli, indexing, integers, numerics, prng, types, writers
from onax._divergence.families import FAMILIES, NAMES
from onax._ground import lazy

HERE = Path(__file__).parent


def test_every_family_has_cases_and_a_case_where_numpy_differs():
    # NumPy's arrays wrap too; accuracy is a bound that NumPy keeps as well
    missing = {"overflow", "accuracy", "sum-order"}
    for found in whole().families:
        assert found.rows or found.family.measured, found.family.name
        if found.family.name not in missing:
            assert any(row.diverges for row in found.rows), found.family.name


def test_families_by_the_first_part_of_their_name():
    made = cli.make_report("eager", "oob,lists")
    assert [f.family.name for f in made.families] == ["oob-reads", "oob-writes", "lists"]


def test_a_family_without_its_package_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpmath", None)
    monkeypatch.setattr(numerics.lazy, "mpmath", lazy.LazyModule("mpmath", "mpmath"))
    made = cli.make_report("eager", "accuracy,lists")
    assert "not run: " in writers.to_text(made) and "mpmath" in writers.to_text(made)
    assert [len(f.rows) for f in made.families] == [20, 0]


@pytest.mark.slow
def test_the_documented_rules_are_those_of_jax():
    python = oracle.python()
    if python is None:
        pytest.skip("real JAX is not there: the documented rules were not compared with it")
    package = Path(cli.__file__).parent
    done = subprocess.run([python, HERE / "against_jax.py", package], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[:-1] == []
    cases = sum(len(list(f.cases())) for f in FAMILIES if f.name != "accuracy")
    assert lines[-1] == f"cases {cases}, different 0"


def test_names_are_unique_and_complete():
    assert len(set(NAMES)) == len(NAMES) == len(FAMILIES)
    for module in (casts, indexing, integers, numerics, prng, types):
        assert set(module.FAMILIES) <= set(FAMILIES)
