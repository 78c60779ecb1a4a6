"""Outcomes and how they are compared: units in the last place, classes of errors, text."""

import numpy as np
import pytest

from onax._divergence import case


def test_ulps():
    one = np.array([1.0], np.float32)
    assert case.ulps_apart(np.nextafter(one, 2), one)[0] == 1
    tiny = np.array([1e-45, -1e-45, 0.0, np.nan, np.inf], np.float32)
    assert list(case.ulps_apart(tiny, -tiny)) == [2, 2, 0, 0, 1 << 62]


A = np.array([1.0, np.nan], np.float32)


@pytest.mark.parametrize(
    ("outcome", "wanted", "ulp", "same"),
    [
        (case.Outcome(value=A), A, 0, True),
        (case.Outcome(value=np.nextafter(A, np.float32(2))), A, 0, False),
        (case.Outcome(value=np.nextafter(A, np.float32(2))), A, 1, True),
        (case.Outcome(value=A.astype(np.float64)), A, 9, False),
        (case.Outcome(value=A[None]), A, 9, False),
        (case.Outcome(error="TypeError"), "TypeError", 0, True),
        (case.Outcome(error="TypeError"), frozenset(("TypeError", "ValueError")), 0, True),
        (case.Outcome(error="IndexError"), "TypeError", 0, False),
        (case.Outcome(error="TypeError"), A, 0, False),
        (case.Outcome(value=A), "TypeError", 0, False),
        (case.Outcome(value=A + 1j), (A + 1j), 0, True),
        (case.Outcome(value=np.int8([1])), np.int8([2]), 9, False),
    ],
)
def test_agreement(outcome, wanted, ulp, same):
    assert case.agrees(outcome, wanted, ulp) is same


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1 float32"),
        (np.arange(9, dtype=np.int8), "[0 1 2 3 4 5 ...] int8"),
        (np.ones((2, 1), bool), "[True True] of shape (2, 1) bool"),
        (np.complex64(1 - 2j), "(1-2j) complex64"),
        (np.float32(1e20), "1e+20 float32"),
    ],
)
def test_text(value, text):
    assert case.Outcome(value=np.asarray(value)).text() == text


def test_integers_wrap():
    assert case.wrap([300, -1, 2**40], np.dtype("uint8")).tolist() == [44, 255, 0]
    assert case.wrap(200, np.dtype("int8")) == -56 and case.wrap(200, np.dtype("int8")).shape == ()


def test_what_compiled_backends_may_raise():
    row = case.Case("x", None, None, (), np.ones(1), traced_documented="TypeError")
    assert row.wanted("jit") == "TypeError" and row.wanted("eager").tolist() == [1]
    assert [d.name for d in case.FLOATS if case.is_float(d)] == ["bfloat16", "float16", "float32", "float64"]
    assert case.is_wide(np.dtype("int64")) and not case.is_wide(np.dtype("complex64"))
