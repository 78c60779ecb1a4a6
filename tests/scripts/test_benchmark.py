"""The benchmark: what it asks of its workers, its text."""

import datetime
import json
import sys

import pytest

import script_modules


@pytest.fixture
def benchmark():
    with script_modules.imported("", "benchmark") as modules:
        yield modules.benchmark


@pytest.mark.parametrize("microseconds, text", [(12.34, "12.3 us"), (12_340, "12.3 ms"), (2.5e6, "2.5 s")])
def test_text(benchmark, microseconds, text):
    assert benchmark.shown(microseconds) == text


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


def test_tables_in_markdown(benchmark):
    mine, theirs = {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}
    assert list(benchmark.markdown("call", mine, [("JAX 1.2", theirs)])) == [
        "| call | onax | JAX 1.2 | ratio |",
        "| --- | --- | --- | --- |",
        "| a | 1 us | 2 us | 2.00 |",
        "| b | 2 us | 1 us | 0.50 |",
    ]
    assert list(benchmark.markdown_summary({"call": mine}, [("JAX 1.2", {"call": theirs})])) == [
        "|  | beside JAX 1.2: geometric mean | least | below 1 |",
        "| --- | --- | --- | --- |",
        "| call | 1.00 | 0.50 | 1 of 2 |",
    ]


def test_figures_in_json(benchmark, tmp_path):
    libraries = [("onax 1", {"call": {"a": 1.0}}), ("JAX 2", {"call": {"a": 2.0}})]
    benchmark.write_record(libraries, tmp_path / "one.json")
    found = json.loads((tmp_path / "one.json").read_text())
    assert [(entry["name"], entry["figures"]) for entry in found["libraries"]] == libraries
    assert found["format"] == 1 and found["unit"] == "us"
    assert datetime.date.fromisoformat(found["date"]) <= datetime.date.today()
    assert found["machine"]["cores"] >= 1
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]


def test_pythons_with_jax(benchmark, monkeypatch, tmp_path):
    monkeypatch.setenv("ONAX_ORACLE_PYTHON", str(tmp_path / "python"))
    assert benchmark.oracle_pythons() == []
    (tmp_path / "python").touch()
    assert benchmark.oracle_pythons() == [str(tmp_path / "python")]


def test_a_worker_that_fails_ends_the_benchmark(benchmark):
    with pytest.raises(SystemExit, match="no_such_package failed"):
        benchmark.run_worker(sys.executable, "no_such_package", [])


def test_cases_slower_than_the_newest_jax_are_explained(benchmark, monkeypatch):
    figures = {"import": {"import": 9.0}, "call": {"quick": 1.0, "slow": 2.0, "slower": 4.0}}
    others = [
        ("JAX 0.9.1", {}),
        ("JAX 0.10.2", {"import": {"import": 3.0}, "call": dict.fromkeys(figures["call"], 1.0)}),
    ]
    rows = benchmark.slower(figures, others)
    assert rows == [(0.25, "call", "slower"), (1 / 3, "import", "import"), (0.5, "call", "slow")]

    def run(python, module, groups, explain):
        assert (module, groups, explain) == ("onax", ["call"], ["slower", "slow"])
        return {"explanations": {"slower": "one\ntwo", "slow": "three"}}

    monkeypatch.setattr(benchmark, "run_worker", run)
    lines = "\n".join(benchmark.explanations(rows)).split("\n")
    assert lines[1].startswith("Slower than JAX")
    assert lines[2:] == ["", "0.25 slower", "  one", "  two", "", "0.50 slow", "  three"]
    assert list(benchmark.explanations(rows[1:2])) == []
