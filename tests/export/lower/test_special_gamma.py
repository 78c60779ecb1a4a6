"""The gamma functions, complete and incomplete in ONNX: true values, the kernels, poles and limits."""

import numpy as np
import pytest

from lowering_runner import run_kernel, run_lowering
from onax._prims import special as prims
from special_forms import NARROW, form_tests
from tolerance import assert_ulps

UNITS = {
    "lgamma": 4,
    "digamma": 4,
    "igamma": 4,
    "igammac": 4,
    "igamma_grad_a": 12,
    "random_gamma_grad": 12,
}  # in the last place of float64, that each form is held to
_U = np.random.default_rng(5).uniform
GRIDS = (
    ("igamma", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("igamma", (_U(0.01, 40, 400), _U(0, 60, 400))),
    ("igammac", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("igammac", (_U(0.01, 40, 400), _U(0, 60, 400))),
    ("igamma_grad_a", (10 ** _U(-5, 3, 400), 10 ** _U(-5, 3, 400))),
    ("random_gamma_grad", (_U(0.01, 300, 400), _U(0, 300, 400))),
    ("lgamma", (_U(0.001, 40, 400),)),
    ("digamma", (_U(0.001, 40, 400),)),
)  # fmt: skip

TestForms = form_tests(UNITS, GRIDS)


GAMMA = np.concatenate([[0.0, np.nan, np.inf, -np.inf, 1.0, 2.0, -1.0, -2.0, 1.4616321], np.linspace(-20, 20, 801),
                        np.geomspace(1e-30, 1e30, 60), 1 + np.linspace(-1e-5, 1e-5, 21)])  # fmt: skip


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_gamma_functions_of_narrow_types(name, dtype):
    p = getattr(prims, f"{name}_p")
    with np.errstate(over="ignore"):
        x = GAMMA.astype(dtype)
        want = run_kernel(p, [x.astype(np.float64)], {})[0].astype(np.float32).astype(dtype)
    assert_ulps(run_lowering(p, [x], {})[0], want, what=name)
