"""The divergence report: backends are held to the documented rules, and departures are found."""

from pathlib import Path

import numpy as np
import pytest

from divergence.reports import CPU, whole, wrong_family
from onax._divergence import report, runners, writers

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "divergences.md"


def test_every_backend_is_as_documented():
    assert [f"{name}: {row.key}: {row.results[name].text}" for _, row, name in whole().departures()] == []


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
