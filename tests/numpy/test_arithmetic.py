"""Arithmetic that is more than one primitive: against NumPy, with signs, zeros, NaN and infinities; derivatives."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([-7.5, -3.0, -0.0, 0.0, 0.5, 2.0, 7.25, np.inf, -np.inf, np.nan])
Y = np.array([3.0, -2.0, 5.0, -0.5])
PAIRS = X[:, None], Y
I = np.array([-9, -4, 0, 3, 8], np.int32)
J = np.array([2, -3, 5], np.int32)
FINITE = X[:7]
CALLS = [
    *[call(name, *PAIRS) for name in "floor_divide remainder mod fmod power hypot copysign fmax fmin".split()],
    *[call(name, *PAIRS) for name in "divmod logaddexp logaddexp2 heaviside".split()],
    *[call(name, I[:, None], J) for name in "floor_divide remainder mod fmod divmod".split()],
    *[call(name, X) for name in "signbit trunc rint round angle".split()],
    call("angle", np.array([1 + 1j, -1 - 0.0j, 1j]), deg=True),
    call("arccosh", np.array([1.0, 2.5, np.inf, 0.5, np.nan])),
    call("power", I, 3), call("power", np.array([2, 3], np.uint8), np.array([2, 5], np.uint8)),
    call("pow", FINITE, 2), call("pow", Y, -2.0), call("float_power", I, 2.0),
    call("nan_to_num", FINITE), call("round", X * 1.237, 1), call("around", X * 123.7, -1),
    call("round", I, 1),
    call("nan_to_num", X, nan=1.0, posinf=2.0, neginf=-3.0),
    call("nan_to_num", np.array([complex(np.nan, 1), complex(2, -np.inf)]), neginf=-5.0),
    call("clip", X, -1, 1), call("clip", I, None, 4), call("clip", I, -2, None), call("clip", Y, Y - 1, Y * 2),
    call("copysign", I, -1.0), call("heaviside", I, 0.5),
    call("angle", I),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_depends_on_the_precision(dtype):
    x = np.array([1.0, -3.5, 0.0, np.inf, -np.inf, np.nan], dtype)
    with jax.enable_x64(True):
        for run in (lambda f: f, jax.jit):
            np.testing.assert_array_equal(run(jnp.nan_to_num)(x), np.nan_to_num(x), strict=True)


def test_nan_replaced_along_the_last_axis():
    want = [[1, 2, 3], [1, 2, 3]]
    for run in (jnp.nan_to_num, jax.jit(jnp.nan_to_num)):
        np.testing.assert_array_equal(run(np.full((2, 3), np.nan, np.float32), nan=[1, 2, 3]), want)


SLOPES = [  # function, where, the derivative there
    (lambda x: jnp.logaddexp(x, jnp.log(3.0)), 0.0, 0.25),
    (lambda x: jnp.logaddexp2(x, 1.0), 1.0, 0.5),
    (lambda x: jnp.hypot(x, 4.0), 3.0, 0.6),
    (lambda x: jnp.remainder(7.0, x), 2.0, -3.0),
    (lambda x: jnp.fmod(-7.0, x), 2.0, 3.0),
    (lambda x: jnp.power(x, 3), 2.0, 12.0),
    (lambda x: jnp.power(0.0, x), 2.0, 0.0),
    (lambda x: jnp.clip(x, 0, 1), 0.5, 1.0),
    (lambda x: jnp.copysign(x, -1.0), 2.0, -1.0),
    (lambda x: jnp.round(x, 1), 2.0, 0.0),
]


@pytest.mark.parametrize(("function", "at", "wanted"), SLOPES)
def test_slopes(function, at, wanted):
    assert float(jax.grad(function)(at)) == pytest.approx(wanted, rel=1e-6)
    assert float(jax.jit(jax.grad(function))(at)) == pytest.approx(wanted, rel=1e-6)


WEAK = [
    (lambda: jnp.floor_divide(7, 2), 3, "int32", True),
    (lambda: jnp.remainder(jnp.int8(-7), 3), 2, "int8", False),
    (lambda: jnp.heaviside(0.0, 2), 2.0, "float32", True),
    (lambda: jnp.clip(5, 0, 3), 3, "int32", True),
    (lambda: jnp.power(jnp.bfloat16(2), 3), 8, "bfloat16", False),
]


@pytest.mark.parametrize(("run", "value", "dtype", "weak"), WEAK)
def test_types_of_python_numbers(run, value, dtype, weak):
    out = run()
    assert (float(out), str(out.dtype), out.weak_type) == (value, dtype, weak)


REFUSED = [
    (lambda: jnp.floor_divide(1j, 2), TypeError, "complex"),
    (lambda: jnp.power(np.int32(2), -1), TypeError, "negative powers"),
    (lambda: jnp.round(I, -1), NotImplementedError, "decimals < 0"),
    (lambda: jnp.trunc([1.5]), TypeError, "requires ndarray"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "divmod"])
@pytest.mark.parametrize("compiled", [False, True])
def test_zeros_have_the_signs_of_numpy(name, compiled):
    values = np.array([-np.inf, -6.0, -2.5, -0.0, 0.0, 1.5, 3.0, np.inf, np.nan], np.float32)
    x1, x2 = (part.ravel() for part in np.meshgrid(values, values))
    function = getattr(jnp, name)
    got = (jax.jit(function) if compiled else function)(x1, x2)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x1, x2)
    for g, w in zip(got, want) if name == "divmod" else ((got, want),):
        np.testing.assert_array_equal(g, w)
        known = ~np.isnan(w)
        np.testing.assert_array_equal(np.signbit(g)[known], np.signbit(w)[known])


@pytest.mark.parametrize(
    "x1, x2, want", [(6.0, 3.0, (1, -2)), (-6.0, 3.0, (1, 2)), (6.0, -3.0, (1, 2)), (0.0, -3.0, (1, 0))]
)
def test_slopes_where_the_remainder_is_zero(x1, x2, want):
    assert tuple(map(float, jax.grad(jnp.remainder, (0, 1))(x1, x2))) == want
