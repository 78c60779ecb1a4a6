"""Special functions on tapes, beside the kernels of their primitives."""

import mpmath
import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._ground.config import enable_x64
from tape.harness import run_tape

EDGES = [0.0, -0.0, 1.0, -1.0, -2.0, 0.5, -0.5, 1e-8, 1e8, 1.4616321, np.inf, -np.inf, np.nan, 3.0, 100.0, -7.25]


def numbers(dtype, positive=False):
    rng = np.random.default_rng(0)
    x = np.concatenate([EDGES, rng.normal(size=40) * 5, np.exp(rng.normal(size=40) * 3)])
    return np.asarray(np.abs(x) if positive else x, dtype)


ONE = {"digamma": lax.digamma, "bessel_i0e": lax.bessel_i0e, "bessel_i1e": lax.bessel_i1e}
TWO = {"igamma": lax.igamma, "igammac": lax.igammac, "zeta": lax.zeta, "igamma_grad_a": lax.igamma_grad_a}


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    with enable_x64(True):
        yield np.dtype(request.param)


def near(got, want, dtype, ulps):
    got = np.asarray(got._value)
    assert got.dtype == dtype
    finfo = np.finfo(dtype)
    np.testing.assert_allclose(got, np.asarray(want._value), rtol=ulps * finfo.eps, atol=4 * finfo.eps)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name, dtype):
    x = numbers(dtype)
    near(run_tape(ONE[name], x)[0], ONE[name](x), dtype, 8)


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_narrow_number_are_those_of_float32_rounded(name, half):
    x = lax.convert_element_type(numbers("float32"), half)
    (got,) = run_tape(ONE[name], x)  # the tape calls no Python kernel
    want = lax.convert_element_type(run_tape(ONE[name], lax.convert_element_type(x, "float32"))[0], half)
    assert got.dtype == want.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.asarray(want, np.float32))


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name, dtype):
    x, y = (v.ravel() for v in np.meshgrid(numbers(dtype), numbers(dtype, positive=True)))
    if name == "zeta":
        x = np.abs(x)
    ulps = 4096 if name == "igamma_grad_a" else 64  # exp(x log(y) - y - lgamma(x)) has many roundings in both
    near(run_tape(TWO[name], x, y)[0], TWO[name](x, y), dtype, ulps)


def test_polygamma(dtype):
    m, x = (v.ravel() for v in np.meshgrid(np.array([0, 1, 2, 3, 7, -1, 0.5, np.nan], dtype), numbers(dtype, True)))
    near(run_tape(lax.polygamma, m, x)[0], lax.polygamma(m, x), dtype, 64)


def test_betainc(dtype):
    values = np.array([0, 0.3, 1, 2.5, 40, -1, np.nan, np.inf], dtype)
    where = np.array([0, 1e-3, 0.5, 0.999, 1, -0.1, 1.5, np.nan], dtype)
    a, b, x = (v.ravel() for v in np.meshgrid(values, values, where))
    near(run_tape(lax.betainc, a, b, x)[0], lax.betainc(a, b, x), dtype, 64)


def test_zeta_is_right_to_the_last_digits():
    with enable_x64(True):
        s, q = (v.ravel() for v in np.meshgrid([1.0625, 1.5, 2, 3, 10, 40.5], [1e-3, 0.25, 1, 7, 1e3, 1e7]))
        (got,) = run_tape(lax.zeta, s, q)
        with mpmath.workdps(250):
            want = [float(mpmath.zeta(a, b)) for a, b in zip(s, q)]
        np.testing.assert_allclose(np.asarray(got._value), want, rtol=1e-14)


def test_a_number_goes_with_all_elements(dtype):
    x = numbers(dtype, positive=True)
    two = dtype.type(2)
    near(
        run_tape(lambda x: lax.igamma(jax.numpy.full_like(x, two), x), x)[0],
        lax.igamma(np.full_like(x, two), x),
        dtype,
        64,
    )
    near(run_tape(lambda x: lax.zeta(x, x), x[:0])[0], lax.zeta(x[:0], x[:0]), dtype, 0)


def test_narrow_floats_are_computed_by_their_kernel():
    x = np.array([0.5, 2, 30], np.float16)
    (got,) = run_tape(lax.digamma, x, python=["digamma"])
    np.testing.assert_array_equal(np.asarray(got._value), np.asarray(lax.digamma(x)._value))


def test_in_a_loop():
    """The second derivative of lgamma at the end of a loop whose steps are one tape."""
    x = np.linspace(1, 4, 8, dtype=np.float32)

    def loop(x):
        return lax.fori_loop(0, 5, lambda i, c: c + 0.1 * lax.digamma(c), x)

    want = x
    for _ in range(5):
        want = want + np.float32(0.1) * np.asarray(lax.digamma(want)._value)
    np.testing.assert_allclose(np.asarray(run_tape(loop, x)[0]._value), want, rtol=1e-5)
