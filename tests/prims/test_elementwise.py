"""Elementwise operations at the edges.  Expected values and words: JAX 0.10.2 on the CPU."""

import ml_dtypes
import numpy as np
import pytest

from onax import lax
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import jvp, vjp
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
BF16 = ml_dtypes.bfloat16
f32 = lambda *values: np.array(values, np.float32)


#     name, function, operands, expected values
VALUES = (
    ("div", lax.div, (np.int32([-7, 7, -7, 7]), np.int32([2, -2, -2, 2])), [-3, -3, 3, 3]),
    ("rem", lax.rem, (np.int32([-7, 7, -7, 7]), np.int32([2, -2, -2, 2])), [-1, 1, -1, 1]),
    ("div f", lax.div, (f32(1, -1, 0, INF, 1), f32(0, 0, 0, INF, -0.0)), [INF, -INF, NAN, NAN, -INF]),
    ("rem f", lax.rem, (f32(5.5, -5.5, 5.5, 1, INF, 1), f32(2, 2, -2, 0, 2, INF)), [1.5, -1.5, 1.5, NAN, NAN, 1]),
    ("max", lax.max, (f32(NAN, 1, INF), f32(1, NAN, 1)), [NAN, NAN, INF]),
    ("min", lax.min, (f32(NAN, 1, INF), f32(1, NAN, 1)), [NAN, NAN, 1]),
    ("max b", lax.max, (np.array([True, False]), np.array([False, False])), [True, False]),
    ("max c", lax.max, (np.complex64([1 + 2j, 1 + 3j]), np.complex64([1 + 3j, 1 + 2j])), [1 + 3j, 1 + 3j]),
    ("sign", lax.sign, (f32(-2, -0.0, 0.0, NAN, INF),), [-1, -0.0, 0.0, NAN, 1]),
    ("abs low", lax.abs, (np.int8([-128]),), [-128]),
    ("neg u", lax.neg, (np.uint8([1]),), [255]),
    ("square i8", lax.square, (np.int8([100]),), [16]),
    ("integer_pow", lambda x: lax.integer_pow(x, 5), (np.int8([3, -4, 0]),), [-13, 0, 0]),
    ("integer_pow 0", lambda x: lax.integer_pow(x, 0), (f32(0, NAN, INF),), [1, 1, 1]),
    ("integer_pow -3", lambda x: lax.integer_pow(x, -3), (f32(0, -0.0, -2),), [INF, -INF, -0.125]),
    ("atan2", lax.atan2, (f32(0, -0.0), f32(-0.0, -0.0)), [np.float32(np.pi), -np.float32(np.pi)]),
    ("nextafter", lax.nextafter, (f32(1, INF, NAN), f32(2, 0, 1)), [1.0000001192092896, 3.4028234663852886e38, NAN]),
    ("is_finite", lax.is_finite, (f32(1, INF, NAN).astype(BF16),), [True, False, False]),
    ("logistic", lax.logistic, (f32(-INF, INF, 0, NAN, 90),), [0, 1, 0.5, NAN, 1]),
    ("rsqrt", lax.rsqrt, (f32(0, -0.0, -1, INF, 4),), [INF, -INF, NAN, 0, 0.5]),
    ("select out of range", lax.select_n, (np.int32([-1, 0, 1, 2, 3]), np.zeros(5), np.ones(5), np.full(5, 2.0)),
     [0, 0, 1, 2, 2]),
    ("select u8", lax.select_n, (np.uint8([0, 1, 2, 255]), np.zeros(4), np.ones(4)), [0, 1, 1, 1]),
    ("select scalar", lax.select_n, (np.int32(5), np.zeros(2), np.ones(2)), [1, 1]),
    ("select one", lax.select_n, (np.array([True, False]), np.zeros(2)), [0, 0]),
)  # fmt: skip


@pytest.mark.parametrize("name, function, operands, want", VALUES, ids=[row[0] for row in VALUES])
def test_values(name, function, operands, want):
    got = np.asarray(function(*operands))
    want = np.array(want).astype(got.dtype)
    assert_same_bits(got, want)
    if got.dtype == np.float32:
        assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


ADD_TIP = " (Tip: jnp.add is a similar function that does automatic type promotion on inputs)."
ONE = np.ones((2, 3), np.float32)
#     call, words
ERRORS = (
    (lambda: lax.add(ONE[0], ONE[0, :2]), "add got incompatible shapes for broadcasting: (3,), (2,)."),
    (lambda: lax.max(ONE, ONE[0]), "max: arrays must have the same number of dimensions, got {1, 2}"),
    (lambda: lax.add(ONE, ONE.astype(int)),
     "lax.add requires arguments to have the same dtypes, got float32, int32." + ADD_TIP),
    (lambda: lax.add(ONE, 1), "lax.add requires arguments to have the same dtypes, got float32, int32." + ADD_TIP),
    (lambda: lax.add(ONE > 0, ONE > 0), "add does not accept dtype bool at position 0. Accepted dtypes at position 0 "
     "are subtypes of integer, floating, complexfloating."),
    (lambda: lax.lt(1j, 1j), "lt does not accept dtype complex64 at position 0. Accepted dtypes at position 0 are "
     "subtypes of integer, floating, bool."),
    (lambda: lax.sin(1), "sin does not accept dtype int32. Accepted dtypes are subtypes of floating, complexfloating."),
    (lambda: lax.abs(np.uint8(1)), "abs does not accept dtype uint8. Accepted dtypes are subtypes of floating, "
     "complexfloating, signedinteger."),
    (lambda: lax.integer_pow(np.int32([1]), -1),
     "Integers cannot be raised to negative powers, got integer_pow(int32[1], -1)"),
    (lambda: lax.select_n(ONE > 0, ONE, ONE[:1]), "select cases must have the same shapes, got [(2, 3), (1, 3)]."),
    (lambda: lax.select_n(ONE, ONE, ONE), "select `which` must be boolean or integer type, got float32."),
    (lambda: lax.select_n(ONE > 0, ONE, ONE, ONE), "select with boolean `which` cannot have > 2 cases."),
    (lambda: lax.select_n(ONE[:1] > 0, ONE, ONE), "select `which` must be scalar or have the same shape as cases, got "
     "`which` shape (1, 3) but case shape (2, 3)."),
    (lambda: lax.complex(ONE, ONE.astype(np.float16)), "complex does not accept dtype float16 at position 1."),
)  # fmt: skip


@pytest.mark.parametrize("call, words", ERRORS)
def test_errors(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("call", [lambda: lax.round(ONE, 5), lambda: lax.select_n(ONE > 0)])
def test_value_errors(call):
    with pytest.raises(ValueError):
        call()


def test_ties_share_the_tangent():
    x, t = np.float32(2), np.float32(1)
    assert float(jvp(lambda x: lax.max(x, np.float32(2)), (x,), (t,))[1]) == 0.5
    assert float(jvp(lambda x: lax.max(x, x), (x,), (t,))[1]) == 1.0


def test_stop_gradient_of_a_tree():
    out = lax.stop_gradient({"a": 1.0, "b": [ONE]})
    assert out["a"].weak_type and out["b"][0].shape == (2, 3)
    _, back = vjp(lambda x: lax.mul(lax.stop_gradient(x), x), np.float32(3))
    assert float(back(np.float32(1))[0]) == 3.0


#     function, the gradient program that JAX prints for a float32 scalar and its cotangent
PROGRAMS = (
    (lax.sin, "{ lambda ; a:f32[] b:f32[]. let\n    _:f32[] = sin a\n    c:f32[] = cos a\n    d:f32[] = mul b c\n"
     "  in (d,) }"),
    (lax.tanh, "{ lambda ; a:f32[] b:f32[]. let\n    c:f32[] = tanh a\n    d:f32[] = sub 1.0:f32[] c\n"
     "    e:f32[] = mul b d\n    f:f32[] = mul e c\n    g:f32[] = add_any e f\n  in (g,) }"),
    (lax.log, "{ lambda ; a:f32[] b:f32[]. let _:f32[] = log a; c:f32[] = div b a in (c,) }"),
    (lambda x: lax.integer_pow(x, 3), "{ lambda ; a:f32[] b:f32[]. let\n    _:f32[] = integer_pow[y=3] a\n"
     "    c:f32[] = integer_pow[y=2] a\n    d:f32[] = mul 3.0:f32[] c\n    e:f32[] = mul b d\n  in (e,) }"),
)  # fmt: skip


@pytest.mark.parametrize("function, text", PROGRAMS)
def test_gradient_programs(function, text):
    assert str(make_jaxpr(lambda x, ct: vjp(function, x)[1](ct)[0])(np.float32(0.5), np.float32(1))) == text
