"""The page of measurements: which rows it names, that its charts are drawn, that other files are refused."""

import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("benchmark_pages", DOCS / "benchmark_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(date, *, quick, slow):
    libraries = [
        {"name": "onax 1.0", "figures": {"import": {"import": 1.0}, "call": {"quick": 1.0, "slow": 2000.0}}},
        {"name": "JAX 0.9.1", "figures": {"import": {"import": 1.0}, "call": {"quick": 1.0, "slow": 1.0}}},
        {"name": "JAX 0.10.2", "figures": {"import": {"import": 1.0}, "call": {"quick": quick, "slow": slow}}},
    ]
    machine = {"processor": "x86_64", "cores": 2}
    return {"format": 1, "date": date, "machine": machine, "python": "3.11.2", "unit": "us", "libraries": libraries}


@pytest.fixture
def folder(tmp_path):
    for name, one in (
        ("b", record("2026-01-02", quick=4.0, slow=1000.0)),
        ("a", record("2026-01-03", quick=3.0, slow=500.0)),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    return tmp_path


def test_ratios_are_those_beside_the_newest_jax(pages, folder):
    oldest, newest = pages.read(folder)
    assert (oldest["date"], newest["date"]) == ("2026-01-02", "2026-01-03")
    assert pages.ratios(newest) == {"call": {"quick": 3.0, "slow": 0.25}}


def test_the_page_begins_with_the_slowest_case(pages, folder, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    pages.write(folder, out)
    text = (out / "benchmarks.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert rows == ["| slow | call | 2 ms | 500 µs | 0.25 |", "| quick | call | 1 µs | 3 µs | 3.00 |"]
    for name in ("benchmarks-latest.svg", "benchmarks-history.svg"):
        assert name in text and (out / name).read_text().lstrip().startswith("<?xml")


def test_one_record_has_no_history(pages, folder, tmp_path):
    (folder / "b.json").unlink()
    out = tmp_path / "out"
    out.mkdir()
    pages.write(folder, out)
    assert "Over time" not in (out / "benchmarks.md").read_text()
    assert sorted(path.name for path in out.iterdir()) == ["benchmarks-latest.svg", "benchmarks.md"]


def test_refusals(pages, tmp_path):
    with pytest.raises(ValueError, match="no record"):
        pages.write(tmp_path, tmp_path)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(ValueError, match=r"a\.json is not in format 1"):
        pages.read(tmp_path)


def test_the_records_of_the_project_can_be_read(pages):
    records = pages.read(DOCS / "benchmarks")
    assert records and all(one["libraries"][0]["name"].startswith("onax ") for one in records)
