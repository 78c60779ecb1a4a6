"""The document of the proof: stages, failures, times, peers that are missing."""

import pytest

import script_modules


@pytest.fixture
def scripts():
    with script_modules.imported("gpu", "report") as modules:
        yield modules


def test_the_report_shows_failures_and_missing_peers(scripts):
    facts = {"device": "X1", "missing": None, "packages": {"onax": "1"}, "libraries": {}}
    stages = {"laws": {"items": {"sin": {"failed": "off by one"}, "cos": {"passed": True}}, "finished": False}}
    timed = {"onax-cuda": {"matmul": {"seconds": 2e-3, "work": 4e12}, "peak": 2**20}, "jax": {"missing": "no module"}}
    text = scripts.report.text({"environment": facts, "stand_in": False, "stages": stages, "benchmark": timed})
    for part in (
        "X1",
        "| laws | 1 | 1 | 0 | no |",
        "### laws: sin",
        "off by one",
        "2000.0 TFLOP/s",
        "JAX: not measured",
    ):
        assert part in text


def test_a_new_report_keeps_the_review(tmp_path, scripts):
    path = tmp_path / "gpu.md"
    facts = {
        "environment": {"device": "X1", "packages": {}, "libraries": {}},
        "stand_in": False,
        "stages": {},
        "benchmark": None,
    }
    path.write_text("old numbers\n\n## Reviewed against the C API\n\n| call |\n")
    for _ in range(2):
        scripts.report.write_report(path, facts)
        text = path.read_text()
        assert "old numbers" not in text and "X1" in text and text.count("## Reviewed") == 1
        assert text.endswith("## Reviewed against the C API\n\n| call |\n")
