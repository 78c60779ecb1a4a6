"""Values between the points of grids, against SciPy."""

import numpy as np
import pytest
from scipy import interpolate as theirs

import onax as jax
from onax import numpy as jnp
from onax.scipy.interpolate import RegularGridInterpolator

GRID = np.array([0.0, 1.0, 2.5]), np.array([-1.0, 0.0, 2.0, 3.0])
VALUES = np.random.default_rng(0).normal(size=(3, 4))
POINTS = np.array([[0.5, 0.5], [2.5, 3.0], [0.0, -1.0], [1.7, -0.3], [-0.5, 0.0], [1.0, 9.0]])


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("fill", [np.nan, -7.0, None])
@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("values", [VALUES, np.stack([VALUES, -VALUES], -1)], ids=["numbers", "vectors"])
def test_as_in_scipy(method, fill, values):
    ours = RegularGridInterpolator(GRID, values, method, fill_value=fill)
    want = theirs.RegularGridInterpolator(GRID, values, method, bounds_error=False, fill_value=fill)(POINTS)
    for run in (ours, jax.jit(ours)):
        np.testing.assert_allclose(run(POINTS), want, rtol=1e-12)


def test_shapes_of_points():
    interpolated = RegularGridInterpolator(GRID, VALUES)
    np.testing.assert_allclose(interpolated((POINTS[:4, 0], POINTS[:4, 1])), interpolated(POINTS[:4]))
    assert interpolated(POINTS.reshape(2, 3, 2)).shape == (2, 3)
    assert RegularGridInterpolator(GRID, np.ones((3, 4), int))(POINTS[:1]).dtype == np.float64
    np.testing.assert_allclose(
        interpolated(POINTS[:4], method="nearest"), RegularGridInterpolator(GRID, VALUES, "nearest")(POINTS[:4])
    )


def test_slopes():
    slope = jax.grad(lambda x: RegularGridInterpolator(GRID, VALUES)(x)[0])(jnp.array([[0.5, 0.5]]))
    corner = VALUES[:2, 1:3]
    want = [0.75 * (corner[1, 0] - corner[0, 0]) + 0.25 * (corner[1, 1] - corner[0, 1]),
            0.25 * (corner[0, 1] - corner[0, 0]) + 0.25 * (corner[1, 1] - corner[1, 0])]  # fmt: skip
    np.testing.assert_allclose(slope[0], want, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: RegularGridInterpolator(GRID, VALUES, "cubic"), ValueError, "cubic"),
        (lambda: RegularGridInterpolator(GRID, VALUES, bounds_error=True), NotImplementedError, "bounds_error"),
        (lambda: RegularGridInterpolator(GRID, VALUES[0]), ValueError, "2 point arrays, but values has 1"),
        (lambda: RegularGridInterpolator(GRID, VALUES)(np.ones((2, 3))), ValueError, "dimension 3"),
        (lambda: RegularGridInterpolator(GRID, VALUES)(POINTS, method="cubic"), ValueError, "cubic"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
