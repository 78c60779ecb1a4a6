"""The ONNX forms of special functions, against the kernels, against true values and at their limits."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import operators, run_kernel, run_lowering
from onax._prims import special as prims
from tolerance import assert_same_bits, assert_ulps, assert_within

FLOATS = [np.dtype(t) for t in ("float32", "float64", "float16", ml_dtypes.bfloat16)]
LINE = np.concatenate([[0.0, -0.0, np.nan, np.inf, -np.inf], np.linspace(-4.5, 4.5, 901), np.geomspace(1e-30, 1, 60)])
INSIDE = np.concatenate([[0.0, 1.0, -1.0, 1.5, np.nan], np.linspace(-1, 1, 901), 1 - np.geomspace(1e-7, 1e-3, 60)])


@pytest.mark.parametrize("name, x", [("erf", LINE), ("erfc", LINE), ("erf_inv", INSIDE)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_equals_the_kernel(name, x, dtype):
    p = getattr(prims, f"{name}_p")
    x = x.astype(dtype)
    (want,), (got,) = run_kernel(p, [x], {}), run_lowering(p, [x], {})
    if name == "erfc" and dtype == np.float64:
        allowed = 2e-15 * (1 + np.minimum(x * x, 100)) * want
        assert_within(got, want, allowed, name)  # SciPy's own error grows with x^2
    else:
        assert_ulps(got, want, what=name)


def test_inverse_undoes_erf_in_double_precision():
    x = np.linspace(-5.5, 5.5, 401)
    complement = run_lowering(prims.erfc_p, [np.abs(x)], {})[0]
    back = run_lowering(prims.erf_inv_p, [1 - complement], {})[0]
    # 1 - erfc(x) keeps x to eps / slope
    assert_within(back, np.abs(x), 4e-16 * np.exp(x * x) + 4e-15, "erf_inv(erf(x))")


def test_erf_of_float32_is_one_operator():
    assert operators(prims.erf_p, [np.ones(3, np.float32)], {}) == ["Erf"]


def test_scalars_and_nothing():
    for x in (np.float32(0.5), np.zeros((0, 2), np.float32)):
        assert_same_bits(run_lowering(prims.erfc_p, [x], {})[0], run_kernel(prims.erfc_p, [x], {})[0])
