"""The parts of floats against NumPy, with zeros, NaN, infinities and subnormals; derivatives."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

FINITE = np.array([-7.5, -3.0, -0.0, 0.0, 0.5, 2.0, 7.25])
CALLS = [call("modf", FINITE), call("ldexp", FINITE, 3)]


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_parts_of_numbers():
    x = np.array([0.75, -3.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310])
    with jax.enable_x64(True):
        for run in (jnp.frexp, jax.jit(jnp.frexp)):
            mantissa, exponent = run(x)
            finite = np.isfinite(x)
            np.testing.assert_array_equal(mantissa, np.frexp(x)[0])
            np.testing.assert_array_equal(np.signbit(mantissa), np.signbit(x))
            np.testing.assert_array_equal(exponent[finite], np.frexp(x)[1][finite])
            assert exponent.dtype == np.int32
        assert float(jax.grad(lambda v: jnp.frexp(v)[0])(3.0)) == 0.25


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_spacing_depends_on_the_precision(dtype):
    x = np.array([1.0, -3.5], dtype)
    with jax.enable_x64(True):
        for run in (lambda f: f, jax.jit):
            np.testing.assert_array_equal(run(jnp.spacing)(x), np.spacing(x), strict=True)


def test_types_of_python_numbers():
    out = jnp.ldexp(1.5, 2)
    assert (float(out), str(out.dtype), out.weak_type) == (6.0, "float32", False)


def test_refusals():
    with pytest.raises(ValueError, match="float"):
        jnp.ldexp(1.0, 2.0)
    with pytest.raises(ValueError, match="complex"):
        jnp.spacing(1j)
