"""The ONNX forms of special functions, against the kernels, against true values and at their limits."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import operators, run_kernel, run_lowering
from onax._prims import special as prims
from special_values import VALUES
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


GAMMA = np.concatenate([[0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0, -2.0, 1.4616321], np.linspace(-20, 20, 801),
                        np.geomspace(1e-30, 1e30, 60), 1 + np.linspace(-1e-5, 1e-5, 21)])  # fmt: skip


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
@pytest.mark.parametrize("dtype", [d for d in FLOATS if d != np.float64], ids=str)
def test_gamma_functions_of_narrow_types(name, dtype):
    p = getattr(prims, f"{name}_p")
    with np.errstate(over="ignore"):
        x = GAMMA.astype(dtype)
        want = run_kernel(p, [x.astype(np.float64)], {})[0].astype(np.float32).astype(dtype)
    assert_ulps(run_lowering(p, [x], {})[0], want, what=name)


# Of float64, in units of the last place of the true value: what the form of each function is held to, times
# 4 + |log(value)| for those that are small by an exponential.
UNITS = {
    "lgamma": 4, "digamma": 4, "zeta": 4, "polygamma": 4, "bessel_i0e": 4, "bessel_i1e": 8, "igamma": 4, "igammac": 4,
    "igamma_grad_a": 12, "random_gamma_grad": 12, "regularized_incomplete_beta": 64,
}  # fmt: skip
EXPONENTIAL = ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "regularized_incomplete_beta")


@pytest.mark.parametrize("name", UNITS)
def test_true_values_in_double_precision(name):
    *operands, want = (np.array(column) for column in zip(*VALUES[name]))
    units = UNITS[name] * (4 + np.abs(np.log(np.abs(want))) if name in EXPONENTIAL else 1)
    got = run_lowering(getattr(prims, f"{name}_p"), operands, {})[0]
    assert_within(got, want, units * np.abs(want) * 2.0**-52, name)


@pytest.mark.parametrize("dtype", [d for d in FLOATS if d != np.float64], ids=str)
@pytest.mark.parametrize("name", UNITS)
def test_true_values_of_narrow_types(name, dtype):
    """What float64 gives for the rounded arguments, rounded once."""
    p = getattr(prims, f"{name}_p")
    with np.errstate(over="ignore"):
        *operands, _ = (np.array(column).astype(dtype) for column in zip(*VALUES[name]))
        wide = run_lowering(p, [x.astype(np.float64) for x in operands], {})[0]
        want = wide.astype(dtype)
    assert_ulps(run_lowering(p, operands, {})[0], want, 1, what=name)


_U = np.random.default_rng(5).uniform
#   name, operands: where SciPy's own error is below a float32's
GRIDS = (
    ("igamma", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("igamma", (_U(0.01, 40, 400), _U(0, 60, 400))),
    ("igammac", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("igammac", (_U(0.01, 40, 400), _U(0, 60, 400))),
    ("igamma_grad_a", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("random_gamma_grad", (_U(0.01, 300, 400), _U(0, 300, 400))),
    ("regularized_incomplete_beta", (10 ** _U(-3, 3, 400), 10 ** _U(-3, 3, 400), _U(0, 1, 400))),
    ("regularized_incomplete_beta", (_U(0.01, 40, 400), _U(0.01, 40, 400), _U(0, 1, 400))),
    ("zeta", (_U(1, 12, 400), 10 ** _U(-6, 6, 400))),
    ("zeta", (np.arange(400) % 9 + 2.0, _U(-30, 0, 400))),
    ("polygamma", (np.arange(400) % 9 + 0.0, _U(0.01, 40, 400))),
    ("bessel_i0e", (_U(-40, 40, 400),)),
    ("bessel_i1e", (_U(-40, 40, 400),)),
    ("lgamma", (_U(0.001, 40, 400),)),
    ("digamma", (_U(0.001, 40, 400),)),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(GRIDS)))
def test_wide_grids_in_single_precision(number):
    name, operands = GRIDS[number]
    p = getattr(prims, f"{name}_p")
    operands = [x.astype(np.float32) for x in operands]
    want = run_kernel(p, [x.astype(np.float64) for x in operands], {})[0]
    with np.errstate(over="ignore"):
        want = want.astype(np.float32)
    assert_ulps(run_lowering(p, operands, {})[0], want, what=name)


# No zeta of numbers so large that SciPy says NaN, or far to the left, where it adds as many terms.
ENDS = np.array([0, -0.0, 1, -1, 2, 0.5, -0.5, -1.5, np.inf, -np.inf, np.nan, 30, 1e-17, 9])
ENDS_OF_ZETA = np.array([0, -0.0, 1, -1, 2, 3, 0.5, -0.25, -1.25, -2.0, -np.inf, 9])


@pytest.mark.parametrize("dtype", [np.dtype("float32"), np.dtype("float64")], ids=str)
@pytest.mark.parametrize("name", UNITS)
def test_ends_and_poles(name, dtype):
    p = getattr(prims, f"{name}_p")
    number = len(VALUES[name][0]) - 1
    ends = ENDS_OF_ZETA if name in ("zeta", "polygamma") else ENDS
    operands = [x.ravel().astype(dtype) for x in np.meshgrid(*[ends] * number)]
    want, got = run_kernel(p, operands, {})[0], run_lowering(p, operands, {})[0]
    units = 4
    if dtype == np.float64 and name in EXPONENTIAL:  # SciPy's error, too, grows with the exponent
        with np.errstate(all="ignore"):
            size = np.abs(np.log(np.abs(want)))
        units = 32 * (4 + np.where(np.isfinite(size), size, 0))
    elif dtype == np.float64 and name in ("zeta", "polygamma"):  # terms left and right of 0 cancel
        units = 64
    assert_ulps(got, want, units, name)


def test_loops_are_bounded_and_end_at_once_on_nothing():
    for name, operands in (("igamma", (2.0, 3.0)), ("regularized_incomplete_beta", (1.0, 2.0, 0.3))):
        p = getattr(prims, f"{name}_p")
        assert "Loop" in operators(p, [np.float32(x) for x in operands], {})
        empty = [np.zeros((0, 2), np.float32) for _ in operands]
        assert run_lowering(p, empty, {})[0].shape == (0, 2)


def test_scalars_and_nothing():
    for x in (np.float32(0.5), np.zeros((0, 2), np.float32)):
        assert_same_bits(run_lowering(prims.erfc_p, [x], {})[0], run_kernel(prims.erfc_p, [x], {})[0])
