"""The incomplete beta function in ONNX: true values, the kernels, poles and limits."""

import numpy as np
import pytest

from special_forms import NARROW, check_ends, check_grid, check_narrow, check_true_values

UNITS = {"regularized_incomplete_beta": 64}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("regularized_incomplete_beta", (10 ** _U(-3, 3, 400), 10 ** _U(-3, 3, 400), _U(0, 1, 400))),
    ("regularized_incomplete_beta", (_U(0.01, 40, 400), _U(0.01, 40, 400), _U(0, 1, 400))),
)  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_true_values_in_double_precision(name):
    check_true_values(name, UNITS[name])


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", UNITS)
def test_true_values_of_narrow_types(name, dtype):
    check_narrow(name, dtype)


@pytest.mark.parametrize("name, operands", GRIDS)
def test_wide_grids_in_single_precision(name, operands):
    check_grid(name, operands)


@pytest.mark.parametrize("dtype", [np.dtype("float32"), np.dtype("float64")], ids=str)
@pytest.mark.parametrize("name", UNITS)
def test_ends_and_poles(name, dtype):
    check_ends(name, dtype)
