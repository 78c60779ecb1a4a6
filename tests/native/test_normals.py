"""The native inverse of the error function against SciPy's in float64."""

import numpy as np
import pytest
from scipy import special

from onax._native import normals

RNG = np.random.default_rng(0)
UNIFORM = RNG.uniform(-1, 1, 200_000).astype(np.float32)
ARGUMENTS = {
    "uniform": UNIFORM,
    "near 1": np.copysign(1 - np.abs(UNIFORM) ** 8, UNIFORM),
    "around the seam": np.linspace(0.9965, 0.9967, 4000, dtype=np.float32),
    "small": UNIFORM**9,
    "tiny": np.array([1e-30, -1e-40, 0.0], np.float32),
    "next to 1": np.nextafter(np.float32([1, -1]), np.float32(0)),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_within_two_ulps(name):
    x = ARGUMENTS[name]
    with np.errstate(all="ignore"):
        want = special.erfinv(x.astype(np.float64))
        got = normals.erf_inv(x)
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        error = np.abs(got[finite] - want[finite]) / np.spacing(np.abs(want[finite]).astype(np.float32))
    assert got.dtype == np.float32 and np.max(error) < 2


def test_ends_and_beyond():
    got = normals.erf_inv(np.array([1, -1, 1.5, np.nan, -np.inf], np.float32))
    np.testing.assert_array_equal(got, np.array([np.inf, -np.inf, np.nan, np.nan, np.nan], np.float32))
    assert np.signbit(normals.erf_inv(np.float32([-0.0])))[0]


def test_shapes():
    for shape in ((), (0,), (2, 3)):
        assert normals.erf_inv(np.zeros(shape, np.float32)).shape == shape
    x = UNIFORM[:12].reshape(3, 4)
    np.testing.assert_array_equal(normals.erf_inv(x.T), normals.erf_inv(x).T)
