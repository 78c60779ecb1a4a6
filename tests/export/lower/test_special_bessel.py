"""The Bessel functions in ONNX: true values, the kernels, poles and limits."""

import numpy as np

from special_forms import form_tests

UNITS = {"bessel_i0e": 4, "bessel_i1e": 8}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("bessel_i0e", (_U(-40, 40, 400),)),
    ("bessel_i1e", (_U(-40, 40, 400),)),
)  # fmt: skip

TestForms = form_tests(UNITS, GRIDS)
