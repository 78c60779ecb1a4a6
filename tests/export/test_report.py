"""Comparisons of results, random arguments, the summary of an export."""

import math

import ml_dtypes
import numpy as np
import pytest

from onax import lax
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, report, symbolic_shape


@pytest.mark.parametrize(
    "got, wanted, absolute, is_close",
    [
        (np.float32([1, 2]), np.float32([1, 2]), 0, True),
        (np.float32([1, np.nan]), np.float32([1, np.nan]), 0, True),
        (np.float32([1, np.inf]), np.float32([1, np.inf]), 0, True),
        (np.float32([1, np.inf]), np.float32([1, 5]), math.inf, False),
        (np.float32([1, np.nan]), np.float32([1, 5]), math.inf, False),
        (np.float32([1, 2.5]), np.float32([1, 2]), 0.5, False),
        (np.float32([1e-8]), np.float32([0]), 1e-8, True),
        (np.float32([1000.01]), np.float32([1000]), 0.01, True),
        (np.int32([1, 3]), np.int32([1, 2]), 1, False),
        (np.array([True]), np.array([True]), 0, True),
        (np.float32([1]), np.float64([1]), math.inf, False),
        (np.float32([1]), np.float32([[1]]), math.inf, False),
        (np.zeros(0, np.float32), np.zeros(0, np.float32), 0, True),
        (np.complex64([1j]), np.complex64([1j]), 0, True),
        (np.ones(1, ml_dtypes.bfloat16), np.ones(1, ml_dtypes.bfloat16), 0, True),
    ],
)
def test_compare(got, wanted, absolute, is_close):
    found = report.compare("r", got, wanted)
    assert found.absolute == pytest.approx(absolute, rel=0.1) and found.is_close is is_close


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32", "complex64", ml_dtypes.bfloat16])
def test_random_arrays(dtype):
    x = report.random_array(np.random.default_rng(0), (2, 3), np.dtype(dtype))
    assert x.shape == (2, 3) and x.dtype == np.dtype(dtype)


@pytest.fixture(scope="module")
def exported():
    (b,) = symbolic_shape("b")
    stored = np.ones((3, 2), np.float32)
    return export(lambda x: {"y": lax.dot(x, stored), "z": lax.sin(x)})(ShapeDtypeStruct((b, 3), np.float32))


def test_check(exported):
    stored = np.ones((3, 2), np.float32)

    def right(x):
        return {"y": lax.dot(x, stored), "z": lax.sin(x)}

    def wrong(x):
        return {"y": lax.dot(x, stored), "z": lax.cos(x)}

    rng = np.random.default_rng(0)
    comparisons, sizes = report.check(exported, right, rng)
    assert [c.is_close for c in comparisons] == [True, True] and set(sizes) == {"b"}
    comparisons, _ = report.check(exported, wrong, rng)
    assert [c.is_close for c in comparisons] == [True, False]


def test_summary(exported):
    text = "\n".join(report.summary(exported))
    for part in ("opset 21, IR version 10", "x  f32[b,3]", "y  f32[b,2]", "symbolic dimensions  b", "MatMul 1", "6"):
        assert part in text
