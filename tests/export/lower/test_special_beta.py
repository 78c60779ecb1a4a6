"""The incomplete beta function in ONNX: true values, the kernels, poles and limits."""

import numpy as np

from special_forms import form_tests

UNITS = {"regularized_incomplete_beta": 64}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("regularized_incomplete_beta", (10 ** _U(-3, 3, 400), 10 ** _U(-3, 3, 400), _U(0, 1, 400))),
    ("regularized_incomplete_beta", (_U(0.01, 40, 400), _U(0.01, 40, 400), _U(0, 1, 400))),
)  # fmt: skip

TestForms = form_tests(UNITS, GRIDS)
