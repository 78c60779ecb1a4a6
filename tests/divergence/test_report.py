"""The divergence report: backends held to the documented rules, departures found, formats, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import oracle
from onax._divergence import case, cli, numerics, report, runners, writers
from onax._divergence.families import FAMILIES
from onax._ground import lazy

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "divergences.md"
CPU = "eager,jit,onnx-cpu"


@pytest.fixture(scope="module")
def whole():
    return cli.make_report(CPU)


def test_every_backend_is_as_documented(whole):
    assert [f"{name}: {row.key}: {row.results[name].text}" for _, row, name in whole.departures()] == []


def test_every_family_has_cases_and_a_case_where_numpy_differs(whole):
    # NumPy's arrays wrap too; accuracy is a bound that NumPy keeps as well
    missing = {"overflow", "accuracy", "sum-order"}
    for found in whole.families:
        assert found.rows or found.family.measured, found.family.name
        if found.family.name not in missing:
            assert any(row.diverges for row in found.rows), found.family.name


def test_the_document_is_what_the_report_says(whole):
    """Cells that NumPy leaves undefined depend on the processor: rows of the table of casts are left out."""

    def stable(text):
        head, _, rest = text.partition("## Casts that lose the value")
        rows = [line for line in rest.split("\n## ", 1)[-1].splitlines() if "| [Casts" not in line]
        return [line for line in head.splitlines() if "| [Casts" not in line] + rows

    assert stable(DOCUMENT.read_text()) == stable(writers.to_markdown(whole)), "run `make docs`"


def test_text_fits_a_terminal(whole):
    assert max(map(len, writers.to_text(whole).splitlines())) <= 100
    assert "\033[" not in writers.to_text(whole)
    assert "\033[" in writers.to_text(whole, colour=True)


def wrong_family(documented):
    """A family of one case whose documented result onax does not give."""

    def cases():
        yield case.Case("x + 1", lambda x: x + 1, lambda x: x + 1, (np.arange(3, dtype=np.float32),), documented)

    return case.Family("wrong", "Wrong", "rule", "safe", cases)


@pytest.mark.parametrize(
    "documented",
    [
        np.array([1, 2, 4], np.float32),
        np.array([1, 2, 3], np.int32),
        np.array([[1, 2, 3]], np.float32),
        "TypeError",
    ],
)
def test_departures_are_found(documented):
    backends = [runners.BACKENDS[n]() for n in CPU.split(",")]
    found = report.run_family(wrong_family(documented), backends)
    assert [name for _, name in found.departures()] == CPU.split(",")
    text = writers.to_text(report.Report("0", dict.fromkeys(CPU.split(","), ""), {}, [found]))
    assert "DEPARTS eager" in text and "3 results depart" in text


def test_departures_end_in_a_code_unless_the_baseline_has_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cli, "FAMILIES", (wrong_family("TypeError"),))
    baseline = tmp_path / "baseline.json"
    assert cli.main(["--backends", "eager", "--format", "json", "-o", str(baseline)]) == cli.EXIT_DEPARTS
    assert json.loads(baseline.read_text())["departures"] == ["eager: wrong/x + 1//"]
    assert cli.main(["--backends", "eager", "--fail-on-new", str(baseline)]) == 0
    baseline.write_text('{"departures": []}')
    assert cli.main(["--backends", "eager", "--fail-on-new", str(baseline)]) == cli.EXIT_DEPARTS
    assert "new: eager: wrong/x + 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backends", "tpu"], "there is no backend tpu"),
        (["--only", "nothing"], "there is no family nothing"),
        (["--fail-on-new", "missing.json", "--only", "lists"], "missing.json is not a report"),
        (["--only", "lists", "-o", "no/such/folder/report.txt"], "no/such/folder"),
        (["--fn", "nowhere"], "does not name a function"),
    ],
)
def test_bad_commands(arguments, message, capsys):
    assert cli.main(arguments) == cli.EXIT_FAILED
    assert message in capsys.readouterr().err


def test_families_by_the_first_part_of_their_name():
    made = cli.make_report("eager", "oob,lists")
    assert [f.family.name for f in made.families] == ["oob-reads", "oob-writes", "lists"]


def test_a_family_without_its_package_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpmath", None)
    monkeypatch.setattr(numerics.lazy, "mpmath", lazy.LazyModule("mpmath", "mpmath"))
    made = cli.make_report("eager", "accuracy,lists")
    assert "not run: " in writers.to_text(made) and "mpmath" in writers.to_text(made)
    assert [len(f.rows) for f in made.families] == [20, 0]


def test_ulps():
    one = np.array([1.0], np.float32)
    assert case.ulps_apart(np.nextafter(one, 2), one)[0] == 1
    tiny = np.array([1e-45, -1e-45, 0.0, np.nan, np.inf], np.float32)
    assert list(case.ulps_apart(tiny, -tiny)) == [2, 2, 0, 0, 1 << 62]


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


# --- a function of the user's -------------------------------------------------------------------------------------

MODULE = """
import onax.numpy as jnp

def same(x):
    return jnp.tanh(x) * 2

def helper(x, i):
    return x[i]

def reads(x):
    return {"y": helper(x, jnp.array([1, 7]))}

def narrow(x):
    return (x * 200).astype(jnp.int8).sum()
"""


def run_on(name, tmp_path, *arguments):
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    return cli.main(["--fn", f"{path}:{name}", *arguments])


def test_a_function_that_agrees(tmp_path, capsys):
    assert run_on("same", tmp_path, "--arg", "f32[3]") == 0
    assert "agree" in capsys.readouterr().out


def test_too_many_arguments(tmp_path, capsys):
    assert run_on("same", tmp_path, "--arg", "f32[3]", "--arg", "f32[3]") == cli.EXIT_FAILED
    assert "same(x) does not take 2 --arg" in capsys.readouterr().err


def test_a_function_that_reads_outside(tmp_path, capsys):
    assert run_on("reads", tmp_path, "--arg", "f32[5]") == cli.EXIT_DEPARTS
    out = capsys.readouterr().out
    assert "numpy raised IndexError" in out
    assert "why:" in out and "mine.py:" in out


def test_a_function_with_another_dtype_as_json(tmp_path, capsys):
    assert run_on("narrow", tmp_path, "--arg", "f32[5]", "--format", "json") == cli.EXIT_DEPARTS
    data = json.loads(capsys.readouterr().out)
    assert data["parted"] and data["results"][0]["types"]["eager"] == ["int32", []]
    assert any("numpy computes in int64" in remark for remark in data["results"][0]["remarks"])


def test_arguments_from_a_file(tmp_path, capsys):
    np.savez(tmp_path / "x.npz", np.array([0.5, 0.25], np.float32))
    assert run_on("same", tmp_path, "--example", str(tmp_path / "x.npz")) == 0
    assert "float32[2]" in capsys.readouterr().out


def test_a_numpy_version_of_its_own(tmp_path, capsys):
    (tmp_path / "other.py").write_text("import numpy as np\n\ndef same(x):\n    return np.tanh(x) * 3\n")
    code = run_on("same", tmp_path, "--arg", "f32[3]", "--numpy", f"{tmp_path / 'other.py'}:same")
    assert code == cli.EXIT_DEPARTS
    assert "numpy differs by" in capsys.readouterr().out
