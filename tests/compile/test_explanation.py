"""Explanations as text, HTML and JSON."""

import json

import pytest

from onax._compile.explanation import MOST_ROWS, Explanation, Step, format_bytes, format_seconds


def explanation():
    steps = [
        Step("tape", "loop", [("scan", "a.py:3 (f)")], "a.py:3 (f)", 0, 1.0, 1e-6, 64),
        Step("Python", "call", [("zeta", "a.py:4 (g)")], "a.py:4 (g)", 1, 100.0, 3e-6, 32, "it is slow", "Mend it."),
        Step("runtime", "<b>", [], ""),
    ]
    return Explanation("f", "tape", 5, 2.5e-6, steps)


def test_text():
    lines = str(explanation()).splitlines()
    assert lines[0] == "f: one tape, without a session of ONNX Runtime; 2.5 us a call (least of 5)"
    assert lines[2].split() == ["share", "time", "runs", "bytes", "where", "computes", "line"]
    assert lines[3].split() == "25.0 % 1 us 1 64 B tape loop: scan a.py:3 (f)".split()
    assert lines[4].split() == "75.0 % 3 us 100 32 B Python call: zeta a.py:4 (g)".split()
    assert lines[4].index("call") == lines[3].index("loop") + 2
    assert lines[5].split() == ["0", "B", "runtime", "<b>"]
    assert lines[-1] == "call: zeta (a.py:4 (g)): it is slow. Mend it."


def test_shares_and_json():
    e = explanation()
    assert [e.share(s) for s in e.steps] == [0.25, pytest.approx(0.75), None]
    tree = json.loads(json.dumps(e.to_json()))
    assert tree["runner"] == "tape"
    assert [s["operation"] for s in tree["steps"]] == ["loop", "call", "<b>"]
    assert tree["steps"][1]["reason"] == "it is slow"
    assert tree["steps"][1]["share"] == pytest.approx(0.75)


def test_html_escapes_and_has_all_rows():
    page = explanation()._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<tr>") == 4
    assert "it is slow. Mend it." in page


def test_only_the_longest_steps_are_printed():
    steps = [Step("tape", f"op{i}", [], "", seconds=float(i)) for i in range(MOST_ROWS + 5)]
    text = str(Explanation("f", "session", 1, 1.0, steps))
    assert "op4 " not in text + " "
    assert "op5" in text
    assert f"op{MOST_ROWS + 4}" in text
    assert "(5 shorter steps are not shown" in text


def test_a_summary_has_the_longest_steps_and_their_reasons():
    assert explanation().summary(1).splitlines() == [
        "f: one tape, without a session of ONNX Runtime; 2.5 us a call (least of 5)",
        " 75.0 %  Python: call: zeta  a.py:4 (g)",
        "call: zeta (a.py:4 (g)): it is slow. Mend it.",
    ]
    assert len(explanation().summary().splitlines()) == 5
    assert Explanation("f", "nothing").summary() == "f: nothing is computed; not measured"


def test_nothing_measured():
    assert "not measured" in str(Explanation("f", "session"))
    assert "nothing is computed" in str(Explanation("f", "nothing"))


@pytest.mark.parametrize(
    "value, text",
    [(0.0, "0 ns"), (12.3e-9, "12.3 ns"), (1.5e-6, "1.5 us"), (0.0123, "12.3 ms"), (2.0, "2 s"), (123.0, "123 s")],
)
def test_durations(value, text):
    assert format_seconds(value) == text


@pytest.mark.parametrize("value, text", [(0, "0 B"), (1500, "1.5 kB"), (2_000_000, "2 MB"), (5e9, "5 GB")])
def test_sizes(value, text):
    assert format_bytes(value) == text
