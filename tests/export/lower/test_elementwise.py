"""The ONNX forms of the elementwise primitives where the runtime alone would differ from JAX, or end the process."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import NEWEST, OPSETS, operators, run_kernel, run_lowering
from onax import lax
from onax._ground.config import enable_x64
from onax._prims import elementwise as prims
from onax._prims import elementwise_bits as on_bits
from onax._prims.elementwise_clamp import clamp_p
from onax.export import export
from tolerance import assert_same_bits, assert_ulps

NAN, INF = np.nan, np.inf
BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("float32", "float64", "float16", BF16)]
SIGNED = [np.dtype(f"i{n}") for n in (1, 2, 4, 8)]
UNSIGNED = [np.dtype(f"u{n}") for n in (1, 2, 4, 8)]
SPECIAL = [
    NAN,
    INF,
    -INF,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.49999997,
    20.0,
    -20.0,
    1e-4,
    3.14159,
    100.0,
]
ROUND_AWAY, ROUND_EVEN = 0, 1


def _edges(dtype):
    info = np.iinfo(dtype)
    return np.array([info.min, info.min + 1, info.max, 0, 1, 2, 3, 7, *([-1, -2, -7] if info.min else [5])], dtype)


def _pairs(values):
    """Every value with every value."""
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


# ---- floats

UNARY = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log1p logistic sqrt rsqrt cbrt"
    " square abs neg sign floor ceil is_finite"
).split()


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions(name, dtype):
    p = getattr(lax, f"{name}_p")
    x = np.concatenate([SPECIAL, np.linspace(-4, 4, 41), np.geomspace(1e-6, 1e4, 41)]).astype(dtype)
    (want,) = run_kernel(p, [x], {})
    (got,) = run_lowering(p, [x], {})
    assert_ulps(got, want, what=f"{name} of {dtype}")


def test_double_precision_near_multiples_of_pi():
    x = np.pi * np.arange(1, 2000) / 2 + 1e-9
    for p, f in ((prims.sin_p, np.sin), (prims.cos_p, np.cos)):
        assert_ulps(run_lowering(p, [x], {})[0], f(x))


# dtype, method, operand, what JAX gives
ROUNDED = [
    (np.float32, ROUND_AWAY, [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997], [1, -1, 2, 3, -3, 0]),
    (np.float32, ROUND_AWAY, [-0.2, NAN, INF, 8388609.0], [0, NAN, INF, 8388609]),
    (np.float64, ROUND_AWAY, [0.49999999999999994, 4503599627370497.5], [0, 4503599627370498]),
    (np.float32, ROUND_EVEN, [0.5, -0.5, 1.5, 2.5, -2.5, NAN], [0, 0, 2, 2, -2, NAN]),
    (np.float16, ROUND_AWAY, [0.5, 2.5, 1023.5], [1, 3, 1024]),
]  # fmt: skip


@pytest.mark.parametrize("dtype, method, x, want", ROUNDED)
@pytest.mark.parametrize("opset", OPSETS)
def test_round(dtype, method, x, want, opset):
    (got,) = run_lowering(prims.round_p, [np.array(x, dtype)], {"rounding_method": method}, opset)
    assert_same_bits(got, np.array(want, dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", "add sub mul div rem max min pow atan2 eq ne lt le gt ge".split())
def test_binary_floats(name, dtype):
    p = getattr(lax, f"{name}_p")
    x, y = _pairs(np.array([*SPECIAL, 7.5, -3.25], dtype))
    (want,) = run_kernel(p, [x, y], {})
    assert_ulps(run_lowering(p, [x, y], {})[0], want, what=name)


def test_atan2_of_zeros_and_infinities():
    y = np.array([0.0, -0.0, 0.0, -0.0, INF, INF, -INF, 1.0, NAN])
    x = np.array([-1.0, -1.0, -0.0, 0.0, INF, -INF, -INF, INF, 1.0])
    (got,) = run_lowering(prims.atan2_p, [y, x], {})
    assert_ulps(got, np.arctan2(y, x))


@pytest.mark.parametrize("y", [-3, -1, 0, 1, 2, 5])
def test_integer_pow(y):
    x = np.array([2.0, 0.0, -0.0, INF, NAN, -1.5], np.float32)
    (want,) = run_kernel(prims.integer_pow_p, [x], {"y": y})
    assert_ulps(run_lowering(prims.integer_pow_p, [x], {"y": y})[0], want)


def test_integer_pow_wraps():
    for dtype in (*SIGNED, *UNSIGNED):
        x = _edges(dtype)
        (want,) = run_kernel(prims.integer_pow_p, [x], {"y": 7})
        assert_same_bits(run_lowering(prims.integer_pow_p, [x], {"y": 7})[0], want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", BF16], ids=str)
def test_nextafter(dtype):
    x, y = _pairs(np.array([0.0, -0.0, 1.0, -1.0, INF, NAN, 1.5], dtype))
    (want,) = run_kernel(prims.nextafter_p, [x, y], {})
    for opset in (21, NEWEST):
        assert_same_bits(run_lowering(prims.nextafter_p, [x, y], {}, opset)[0], want)


# ---- integers


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED], ids=str)
@pytest.mark.parametrize("name", "add sub mul div rem max min and or xor shift_left shift_right_logical "
                                 "shift_right_arithmetic eq ne lt le gt ge".split())  # fmt: skip
def test_binary_integers(name, dtype):
    p = getattr(lax, f"{name}_p")
    x, y = _pairs(_edges(dtype))
    (want,) = run_kernel(p, [x, y], {})
    for opset in (18, NEWEST):
        assert_same_bits(run_lowering(p, [x, y], {}, opset)[0], want, f"{name} of {dtype}")


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED], ids=str)
@pytest.mark.parametrize("name", "neg not square sign population_count clz".split())
def test_unary_integers(name, dtype):
    p = getattr(lax, f"{name}_p")
    x = np.concatenate([_edges(dtype), (np.int64(1) << np.arange(8 * dtype.itemsize - 1)).astype(dtype)])
    assert_same_bits(run_lowering(p, [x], {})[0], run_kernel(p, [x], {})[0], f"{name} of {dtype}")


# Facts of JAX 0.10.2: primitive, operands, dtype, result.
FACTS = [
    (prims.div_p, [7, 0, -(2**31)], [0, 0, -1], "int32", [-1, -1, -(2**31)]),
    (prims.div_p, [1, 7], [0, 2], "uint8", [255, 3]),
    (prims.rem_p, [7, -7, -(2**31), 5], [0, 3, -1, -3], "int32", [7, -1, 0, 2]),
    (prims.rem_p, [2**62 + 1, -(2**62) - 1], [10, 10], "int64", [5, -5]),
    (on_bits.shift_left_p, [1, 1, 1], [7, 8, -1], "int8", [-128, 0, 0]),
    (on_bits.shift_right_arithmetic_p, [-5, 5, -5], [1, 8, -1], "int8", [-3, 0, -1]),
    (on_bits.shift_right_arithmetic_p, [200, 5, 200], [1, 8, 255], "uint8", [228, 0, 255]),
    (on_bits.shift_right_logical_p, [-5, 5, -5], [1, 8, -1], "int8", [125, 0, 0]),
]


@pytest.mark.parametrize("p, x, y, dtype, want", FACTS)
@pytest.mark.parametrize("constants", [(), (1,), (0,), (0, 1)])
def test_facts(p, x, y, dtype, want, constants):
    (got,) = run_lowering(p, [np.array(x, dtype), np.array(y, dtype)], {}, constants=constants)
    assert_same_bits(got, np.array(want, dtype))


def test_guards_only_where_needed():
    x = np.array([5, 6], np.int32)
    assert operators(prims.div_p, [x, np.int32(3)], {}, constants=(1,)) == ["Div"]
    assert operators(prims.rem_p, [x, np.int32(3)], {}, constants=(1,)) == ["Mod"]
    assert len(operators(prims.div_p, [x, x], {})) == 8
    assert operators(prims.add_p, [x, np.int32(3)], {}, constants=(1,)) == ["Add"]


# ---- bools, selects


@pytest.mark.parametrize("name", "and or xor max min eq ne lt le gt ge".split())
def test_bools(name):
    x, y = _pairs(np.array([False, True]))
    p = getattr(lax, f"{name}_p")
    assert_same_bits(run_lowering(p, [x, y], {})[0], run_kernel(p, [x, y], {})[0])


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOATS, np.dtype(bool)], ids=str)
def test_select(dtype):
    which = np.array([True, False, True])
    a, b, c = (np.array(v).astype(dtype) for v in ([0, 1, 2], [3, 0, 5], [6, 7, 0]))
    full = np.ones(3, dtype)
    for operands, constants in [((which, a, b), ()), ((np.bool_(True), a, b), ()), ((which, a, full), (2,)),
                                ((which, full, a), (1,)), ((np.array([-1, 1, 5], np.int32), a, b, c), ())]:  # fmt: skip
        (want,) = run_kernel(prims.select_n_p, operands, {})
        assert_same_bits(run_lowering(prims.select_n_p, operands, {}, constants=constants)[0], want)


def test_clamp_takes_nan_bounds():
    lowest, x, highest = np.array([NAN, 0, 0.0, 3]), np.array([1.0, NAN, 2.0, 2.0]), np.array([3.0, 3.0, NAN, 1.0])
    (got,) = run_lowering(clamp_p, [lowest, x, highest], {})
    assert_same_bits(got, np.array([NAN, NAN, NAN, 1.0]))
    constant = [np.float64(0), x, np.float64(1)]
    assert operators(clamp_p, constant, {}, constants=(0, 2)) == ["Clip"]
    assert_same_bits(run_lowering(clamp_p, constant, {}, constants=(0, 2))[0], np.array([1.0, NAN, 1.0, 1.0]))


@pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
def test_empty_and_scalar(shape):
    x = np.ones(shape, np.int32)
    for p in (prims.div_p, prims.rem_p, prims.max_p):
        assert_same_bits(run_lowering(p, [x, x], {})[0], run_kernel(p, [x, x], {})[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_is_exact_without_bits(dtype):
    rng, info = np.random.default_rng(0), np.finfo(dtype)
    powers = np.array([2.0**k for k in range(int(np.log2(info.smallest_subnormal)), info.maxexp)], dtype)
    words = rng.integers(0, 2 ** (8 * info.dtype.itemsize) - 1, 20000, np.uint64)
    words = words.astype(f"u{info.dtype.itemsize}").view(dtype)
    special = [0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, -info.smallest_subnormal]
    x = np.concatenate([powers, np.nextafter(powers, dtype(0)), -np.nextafter(powers, dtype(np.inf)), words])
    x = np.concatenate([x, np.array(special, dtype)])
    with enable_x64(True):
        for y in (np.inf, -np.inf, 0, 1, np.nan):
            fun = lambda v, y=dtype(y): lax.nextafter(v, np.full_like(x, y))
            exported = export(fun)(x)
            with np.errstate(all="ignore"):
                want = np.nextafter(x, dtype(y))
            np.testing.assert_array_equal(exported.call(x), want)
            assert len(exported.onnx_model.graph.node) <= 23
        fun = lambda v: lax.nextafter(v, v)
        np.testing.assert_array_equal(export(fun)(x).call(x), x)
