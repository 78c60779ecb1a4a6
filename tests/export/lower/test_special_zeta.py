"""The zeta function and its like in ONNX: true values, the kernels, poles and limits."""

import numpy as np

from special_forms import form_tests

UNITS = {"zeta": 4, "polygamma": 4}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("zeta", (_U(1, 12, 400), 10 ** _U(-6, 6, 400))),
    ("zeta", (np.arange(400) % 9 + 2.0, _U(-30, 0, 400))),
    ("zeta", (_U(1, 12, 4200), _U(0, 9, 4200))),  # as many are computed term by term
    ("polygamma", (np.arange(400) % 9 + 0.0, _U(0.01, 40, 400))),
)  # fmt: skip

TestForms = form_tests(UNITS, GRIDS)
