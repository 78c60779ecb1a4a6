"""Checks of the ONNX forms of special functions: true values, the kernels, limits and poles."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import run_kernel, run_lowering
from onax._prims import special as prims
from special_values import VALUES
from tolerance import assert_ulps, assert_within

NARROW = [np.dtype(t) for t in ("float32", "float16", ml_dtypes.bfloat16)]
# Functions that are small by an exponential, for which the units of the last place are times 4 + |log(value)|.
EXPONENTIAL = ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad", "regularized_incomplete_beta")
# No zeta of numbers so large that SciPy says NaN, or far to the left, where it adds as many terms.
ENDS = np.array([0, -0.0, 1, -1, 2, 0.5, -0.5, -1.5, np.inf, -np.inf, np.nan, 30, 1e-17, 9])
ENDS_OF_ZETA = np.array([0, -0.0, 1, -1, 2, 3, 0.5, -0.25, -1.25, -2.0, -np.inf, 9])


def primitive(name):
    """The primitive of a function."""
    return getattr(prims, f"{name}_p")


def check_true_values(name, units):
    """In double precision, against true values; `units` are units in the last place."""
    *operands, want = (np.array(column) for column in zip(*VALUES[name]))
    units = units * (4 + np.abs(np.log(np.abs(want))) if name in EXPONENTIAL else 1)
    got = run_lowering(primitive(name), operands, {})[0]
    assert_within(got, want, units * np.abs(want) * 2.0**-52, name)


def check_narrow(name, dtype):
    """What float64 gives for the rounded arguments, rounded once."""
    with np.errstate(over="ignore"):
        *operands, _ = (np.array(column).astype(dtype) for column in zip(*VALUES[name]))
        wide = run_lowering(primitive(name), [x.astype(np.float64) for x in operands], {})[0]
        want = wide.astype(dtype)
    assert_ulps(run_lowering(primitive(name), operands, {})[0], want, 1, what=name)


def check_grid(name, operands):
    """In single precision, against the kernel in double precision."""
    operands = [x.astype(np.float32) for x in operands]
    want = run_kernel(primitive(name), [x.astype(np.float64) for x in operands], {})[0]
    with np.errstate(over="ignore"):
        want = want.astype(np.float32)
    assert_ulps(run_lowering(primitive(name), operands, {})[0], want, what=name)


def check_ends(name, dtype):
    """Zeros, infinities, NaN and poles in all combinations, against the kernel."""
    number = len(VALUES[name][0]) - 1
    ends = ENDS_OF_ZETA if name in ("zeta", "polygamma") else ENDS
    operands = [x.ravel().astype(dtype) for x in np.meshgrid(*[ends] * number)]
    want, got = run_kernel(primitive(name), operands, {})[0], run_lowering(primitive(name), operands, {})[0]
    units = 4
    if dtype == np.float64 and name in EXPONENTIAL:  # SciPy's error, too, grows with the exponent
        with np.errstate(all="ignore"):
            size = np.abs(np.log(np.abs(want)))
        units = 32 * (4 + np.where(np.isfinite(size), size, 0))
    elif dtype == np.float64 and name in ("zeta", "polygamma"):  # terms left and right of 0 cancel
        units = 64
    assert_ulps(got, want, units, name)


def form_tests(units, grids):
    """A class of tests.

    units: name of a function -> units in the last place of float64 that its form is held to
    grids: (name of a function, operands) of numbers for single precision
    """

    class Tests:
        @pytest.mark.parametrize("name", units)
        def test_true_values_in_double_precision(self, name):
            check_true_values(name, units[name])

        @pytest.mark.parametrize("dtype", NARROW, ids=str)
        @pytest.mark.parametrize("name", units)
        def test_true_values_of_narrow_types(self, name, dtype):
            check_narrow(name, dtype)

        @pytest.mark.parametrize("name, operands", grids)
        def test_wide_grids_in_single_precision(self, name, operands):
            check_grid(name, operands)

        @pytest.mark.parametrize("dtype", [np.dtype("float32"), np.dtype("float64")], ids=str)
        @pytest.mark.parametrize("name", units)
        def test_ends_and_poles(self, name, dtype):
            check_ends(name, dtype)

    return Tests
