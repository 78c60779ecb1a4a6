"""Comparing the ways of running a function: the command `check`, the first departure, units in the last place."""

import json

import numpy as np
import pytest

import command_line
import onax.numpy as jnp
from onax._commands import export_main as main
from onax.export import checks
from onax.export.cli import EXIT_DIFFERENT
from onax.export.report import Comparison


@pytest.fixture
def project(tmp_path, monkeypatch):
    yield from command_line.in_project(tmp_path, monkeypatch)


def test_check_compares_every_way(project, capsys):
    assert main(["check", "net.py:grow", "--arg", "f32[4]"]) == 0
    said = capsys.readouterr().out
    for way in ("jit", *checks.LEVELS, "reference"):
        assert f"\n{way}" in said
    assert "DIFFERS" not in said and "max ulp" in said


def test_check_as_json(project, capsys):
    assert main(["check", "net.py:two", "--arg", "f32[3]", "--arg", "f32[3]", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {r["name"] for r in data["rows"]} == {"sum", "product"} and all(r["is_close"] for r in data["rows"])


def test_check_finds_the_first_departure(project, capsys):
    assert main(["check", "net.py:impure", "--arg", "f32[3]"]) == EXIT_DIFFERENT
    assert "DIFFERS" in capsys.readouterr().out


def test_a_departure_names_equation_and_line(monkeypatch):
    def f(x):
        y = jnp.sin(x)
        return jnp.exp(y)

    x = jnp.ones(3)
    assert checks.first_difference(f, (x,)) is None
    compare = checks.report.compare
    monkeypatch.setattr(
        checks.report, "compare", lambda n, g, w, r: Comparison(n, 1, 1, False) if n == "exp" else compare(n, g, w, r)
    )
    found = checks.first_difference(f, (x,))
    assert " exp " in found.equation and "test_checks.py" in found.line


def test_check_a_file(project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["check", "p.onnx", "--example", "inputs.npz"]) == 0
    said = capsys.readouterr().out
    assert "against ort-0" in said and "reference" in said


@pytest.mark.parametrize(
    "got, want, ulp",
    [(1 + 2**-23, 1.0, 1), (1.0, 1.0, 0), (np.nan, np.nan, 0), (np.inf, 1.0, np.inf), (2 - 2**-23, 2.0, 0.5)],
)
def test_ulps(got, want, ulp):
    assert checks.largest_ulp(np.array(got, np.float32), np.array(want, np.float32)) == ulp
