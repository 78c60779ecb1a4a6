"""Functions of complex64 as vector code (`blocks_complex_quick.h`), beside those of complex128."""

import numpy as np
import pytest

from native.test_blocks import CLOSE, OPERATIONS, run
from tolerance import assert_ulps

COMPLEX_FUNCTIONS = [name for name in (*CLOSE, "sqrt", "sign") if np.dtype(np.complex64) in OPERATIONS[name].dtypes]


def complex_numbers(rng, n):
    """Numbers of many sizes, near the unit circle, near the circle around -1, and near the real axis beyond 1."""
    sizes = lambda low, high: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(low, high, n)
    circle = (1 + sizes(-8, -1)) * np.exp(1j * rng.uniform(-np.pi, np.pi, n))
    axis = np.sign(sizes(0, 0)) * (1 + 10.0 ** rng.uniform(-7, 0, n)) + 1j * sizes(-30, 0)
    numbers = [sizes(-6, 1.5) + 1j * sizes(-6, 1.5), circle, circle - 1, axis, sizes(-30, 30) + 1j * sizes(-30, 30)]
    return np.concatenate(numbers).astype(np.complex64)


@pytest.mark.parametrize("name", [name for name in COMPLEX_FUNCTIONS if name not in ("pow", "atan2")])
def test_a_function_of_complex64_is_that_of_complex128_rounded(name):
    """Blocks of usual numbers are vector code, with other formulas than the function of complex128."""
    x = complex_numbers(np.random.default_rng(3), 4000)
    edge = [0, -0.0, 1j, 1, -1, complex(0, -0.0), complex(-0.0, 0), 1e-8, 300j, 0.5j]
    for some in (x, np.repeat(edge, 64).astype(np.complex64)):
        wide = run(name, np.float64 if name == "magnitude" else np.complex128, some.astype(np.complex128))
        with np.errstate(over="ignore"):
            want = wide.astype(np.float32 if name == "magnitude" else np.complex64)
        assert_ulps(run(name, want.dtype, some), want, 2, what=name)


def test_powers_of_complex64_are_those_of_complex128():
    """In the sense of the modulus: a part that vanishes is noise in every arithmetic."""
    x, y = np.split(complex_numbers(np.random.default_rng(4), 4000)[:8000], 2)
    want = run("pow", np.complex128, x.astype(np.complex128), y.astype(np.complex128))
    got = run("pow", np.complex64, x, y)
    usual = np.isfinite(want) & (np.abs(want) < 1e38) & (np.abs(want) > 1e-30)
    assert usual.sum() > 1000
    assert np.all(np.abs(got - want)[usual] <= 1e-6 * np.abs(want)[usual])
