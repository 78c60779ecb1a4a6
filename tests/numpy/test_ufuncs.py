"""Elementwise functions against NumPy: special values, integers and bools, complex numbers; types; refusals."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([0.0, -0.0, 0.5, -0.75, 1.0, 2.5, -3.0, 40.0, np.inf, -np.inf, np.nan])
I = np.array([-3, 0, 1, 2, 7])
B = np.array([True, False, True])
Z = np.array([1 + 2j, -0.5j, 0.3 + 0.1j, -2.0 + 0j])
FLOATS = "sin cos tan exp exp2 expm1 log log1p sqrt tanh cbrt sinh cosh arctan arcsinh log2 log10".split()
INVERSE = ("arcsin", "arccos", "arctanh")
COMPLEX = [
    *"sin cos tan exp log log1p sqrt tanh sinh cosh square negative reciprocal absolute sign conjugate".split(),
    *("real", "imag", "log2", "log10"),
]
ANY = "sign square negative absolute floor ceil positive fabs deg2rad rad2deg reciprocal".split()
ORDER = "equal not_equal less less_equal greater greater_equal maximum minimum".split()
PAIRS = [*ORDER, *"arctan2 true_divide add multiply subtract divide".split()]
LOGIC = ("logical_and", "logical_or", "logical_xor")
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift".split()
CALLS = [
    *[call(name, X) for name in [*FLOATS, *INVERSE, *ANY]], *[call(name, Z) for name in COMPLEX],
    *[call(name, I) for name in FLOATS],
    *[call(name, I) for name in "sign square negative absolute positive invert real conj floor ceil".split()],
    *[call(name, X[:, None], X) for name in PAIRS], *[call(name, I[:, None], I + 1) for name in PAIRS],
    *[call(name, Z[:, None], Z) for name in [*ORDER, "add", "multiply", "divide"]],
    *[call(name, I[:, None], np.abs(I)) for name in BITS],
    *[call(name, B, ~B) for name in (*BITS[:3], "add", "multiply", "maximum")],
    *[call(name, x, y) for name in LOGIC for x, y in ((I, I - 1), (X, 1.0), (B, False))],
    call("logical_not", X), call("logical_not", I), call("invert", B),
    call("nextafter", X[:8, None], X[2:5], rtol=1e-6), call("float_power", I, 2),
    call("true_divide", I, 0), call("arctan2", 0.0, X), call("left_shift", I, 3), call("subtract", I, 2.5),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_uint_and_narrow_dtypes():
    for dtype in ("uint8", "int8", "int16", "float16"):
        x = np.array([0, 1, 7, 100], dtype)
        for name in ("square", "negative", "add"):
            args = (x, x) if name == "add" else (x,)
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(getattr(jnp, name)(*args), getattr(np, name)(*args), strict=True)
    assert jnp.right_shift(np.uint8(200), np.uint8(1)) == 100 and jnp.right_shift(np.int8(-56), 1) == -28


TYPES = [
    (lambda: jnp.sin(2), "float32", True),
    (lambda: jnp.sin(jnp.int8(2)), "float32", False),
    (lambda: jnp.exp(jnp.bfloat16(1)), "bfloat16", False),
    (lambda: jnp.add(1, 2), "int32", True),
    (lambda: jnp.add(jnp.uint8(1), jnp.int8(2)), "int16", False),
    (lambda: jnp.true_divide(jnp.int8(1), 2), "float32", False),
    (lambda: jnp.absolute(jnp.complex64(1j)), "float32", False),
    (lambda: jnp.less(1, 2), "bool", True),
    (lambda: jnp.negative(2.0), "float32", True),
    (lambda: jnp.reciprocal(4), "float32", True),
]


@pytest.mark.parametrize(("run", "dtype", "weak"), TYPES)
def test_types(run, dtype, weak):
    assert (str(run().dtype), run().weak_type) == (dtype, weak)
    assert str(jax.jit(run)().dtype) == dtype


REFUSED = [
    (lambda: jnp.negative(B), TypeError, "neg does not accept dtype bool"),
    (lambda: jnp.subtract(B, B), TypeError, "sub does not accept dtype bool"),
    (lambda: jnp.invert(X), TypeError, "not does not accept dtype"),
    (lambda: jnp.bitwise_and(X, X), TypeError, "and does not accept dtype"),
    (lambda: jnp.cbrt(Z), TypeError, "cbrt"),
    (lambda: jnp.floor(Z), TypeError, "floor"),
    (lambda: jnp.left_shift(X, 1), TypeError, "shift_left"),
    (lambda: jnp.add([1], 2), TypeError, "add requires ndarray"),
    (lambda: jnp.add(X, X[:3]), (TypeError, ValueError), "shapes"),
    (lambda: jnp.sin(), TypeError, "argument"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


def test_arrays_of_64_bits_meet_scalars_where_x64_is_off():
    with jax.enable_x64(True):
        integers, floats = jnp.arange(3), jnp.linspace(0, 1, 3)
    assert (integers > 1).tolist() == [False, False, True]
    assert (1 < integers).tolist() == [False, False, True]
    clipped = jnp.maximum(integers, 2), jnp.maximum(2, integers), jnp.minimum(floats, 0.5)  # 32 bits, as in JAX
    assert [(x.dtype.name, x.tolist()) for x in clipped] == [
        ("int32", [2, 2, 2]),
        ("int32", [2, 2, 2]),
        ("float32", [0.0, 0.5, 0.5]),
    ]
    with jax.enable_x64(True):
        assert jnp.maximum(integers, 2).dtype == np.int64 and jnp.minimum(floats, 0.5).dtype == np.float64
