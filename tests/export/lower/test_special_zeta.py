"""The zeta function and its like in ONNX: true values, the kernels, poles and limits."""

import numpy as np
import pytest

from special_forms import NARROW, check_ends, check_grid, check_narrow, check_true_values

UNITS = {"zeta": 4, "polygamma": 4}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("zeta", (_U(1, 12, 400), 10 ** _U(-6, 6, 400))),
    ("zeta", (np.arange(400) % 9 + 2.0, _U(-30, 0, 400))),
    ("polygamma", (np.arange(400) % 9 + 0.0, _U(0.01, 40, 400))),
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
