"""sort and top_k: NaN, zeros of both signs, ties, several keys, words of errors.  Values: JAX 0.10.2 on the CPU."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import lax

INF, NAN = np.inf, np.nan
f32 = lambda *values: np.array(values, np.float32)
X = np.ones(3, np.float32)
PLACES = np.arange(5)


def shown(x):
    """Numbers as text, in which zeros keep their sign."""
    return [str(v) for v in np.asarray(x).tolist()]


@pytest.mark.parametrize("run", [lambda f, *xs: f(*xs), lambda f, *xs: jax.jit(f)(*xs)], ids=["eager", "jit"])
class TestOrder:
    def test_zeros_keep_their_order_and_nan_is_last(self, run):
        x = f32(0.0, -0.0, NAN, 1, -NAN, INF, -0.0, 0.0)
        assert shown(run(lax.sort, x)) == ["0.0", "-0.0", "-0.0", "0.0", "1.0", "inf", "nan", "nan"]

    def test_first_key_decides(self, run):
        keys, rest = f32(0.0, -0.0, NAN, -NAN, 1), np.array([3, 2, 1, 0, 5])
        for count, want in ((1, [3, 2, 5, 1, 0]), (2, [2, 3, 5, 0, 1])):
            _, got = run(lambda *xs, count=count: lax.sort(xs, num_keys=count), keys, rest)
            assert np.asarray(got).tolist() == want

    def test_complex(self, run):
        x = np.complex64([complex(NAN, NAN), 2 + 1j, complex(NAN, 1), 1 + 1j, complex(1, -INF)])
        _, places = run(lambda *xs: lax.sort_key_val(*xs), x, PLACES)
        assert np.asarray(places).tolist() == [4, 3, 1, 2, 0]

    def test_complex_nan(self, run):
        """Real parts are compared first, also where an imaginary part is NaN."""
        (x,) = run(lambda x: lax.sort((x,)), np.complex64([2, complex(1, NAN), complex(NAN, 0), 1]))
        assert shown(np.real(x)) == ["1.0", "1.0", "2.0", "nan"] and shown(np.imag(x)) == ["0.0", "nan", "0.0", "0.0"]

    def test_top_k_takes_zero_above_minus_zero(self, run):
        values, places = run(lambda x: lax.top_k(x, 5), f32(0.5, np.abs(NAN), 2, -0.0, 0.0))
        assert shown(values) == ["nan", "2.0", "0.5", "0.0", "-0.0"]
        assert np.asarray(places).tolist() == [1, 2, 0, 4, 3]

    def test_top_k_ties(self, run):
        values, places = run(lambda x: lax.top_k(x, 2), np.array([True, False, True]))
        assert values.dtype == bool and places.dtype == np.int32 and np.asarray(places).tolist() == [0, 2]

    def test_unsigned(self, run):
        values, places = run(lambda x: lax.top_k(x, 2), np.uint32([1, 2**32 - 1, 3]))
        assert np.asarray(values).tolist() == [2**32 - 1, 3] and np.asarray(places).tolist() == [1, 2]


def test_negative_nan_is_last_in_top_k():
    x = np.array([0x7FC00000, 0xFFC00000, 0x3F800000], np.uint32).view(np.float32)
    for call in (lax.top_k, jax.jit(lax.top_k, static_argnums=1)):
        assert np.asarray(call(x, 3)[1]).tolist() == [0, 2, 1]


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, "float16", ml_dtypes.float8_e4m3fn, ml_dtypes.int4])
def test_narrow_types(dtype):
    out = lax.sort(np.array([3, -1, 2], np.float32).astype(dtype))
    assert out.dtype == dtype and np.asarray(out).astype(float).tolist() == [-1, 2, 3]


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "uint32", "int8", "uint16", "bool"])
def test_long_axes_are_sorted_as_short_ones(dtype):
    x = np.random.default_rng(0).integers(0, 50, (2, 3000)).astype(dtype)
    if x.dtype.kind == "f":
        x[:, ::7], x[:, ::5], x[:, ::3], x[0, :9] = NAN, 0.0, -0.0, INF
        x[1, 1::11] = np.copysign(NAN, -1)
    _, places = lax.sort_key_val(x.T, lax.broadcasted_iota(np.int32, (3000, 2), 0), 0)
    np.testing.assert_array_equal(places, np.argsort(x.T, 0, kind="stable"))


def test_derivative_goes_through_the_order():
    grad = jax.grad(lambda x: (lax.sort(x) * f32(1, 2, 3)).sum())(f32(3, 1, 2))
    assert np.asarray(grad).tolist() == [3, 1, 2]
    grad = jax.grad(lambda x: lax.top_k(x, 2)[0][1])(f32(3, 1, 2))
    assert np.asarray(grad).tolist() == [0, 0, 1]


def test_mapped_and_unmapped_operands():
    keys = np.array([[3, 1, 2], [1, 3, 2]])
    _, values = jax.vmap(lambda k: lax.sort_key_val(k, np.arange(3)))(keys)
    assert np.asarray(values).tolist() == [[1, 2, 0], [0, 2, 1]]


def test_weak_types_stay_apart():
    assert [x.weak_type for x in lax.sort((lax.full((3,), 2.0), X))] == [True, False]
    assert [x.weak_type for x in lax.top_k(lax.full((3,), 2.0), 1)] == [True, True]


#     call, error, words
ERRORS = (
    (lambda: lax.sort(np.float32(1)), ValueError, "axis -1 is out of bounds for array of dimension 0"),
    (lambda: lax.sort(X, dimension=2), ValueError, "axis 2 is out of bounds for array of dimension 1"),
    (lambda: lax.sort((X, X[:2])), TypeError, "Arguments to sort must have equal shapes, got: (3,) (2,)"),
    (lambda: lax.sort((X, X), num_keys=3), ValueError, "num_keys=3 must be between 1 and len(operand)=2"),
    (lambda: lax.sort((X, X), num_keys=0), ValueError, "num_keys=0 must be between 1 and len(operand)=2"),
    (lambda: lax.sort(()), TypeError, "Sort requires at least one operand"),
    (lambda: lax.top_k(X, 4), ValueError, "no larger than size along axis; got k=4 with shape=[3] and axis=0"),
    (lambda: lax.top_k(X, -1), ValueError, "k argument to top_k must be nonnegative, got -1"),
    (lambda: lax.top_k(X, 2, axis=1), ValueError, "axis 1 is out of bounds for array of dimension 1"),
    (lambda: lax.top_k(np.float32(1), 1), ValueError, "axis -1 is out of bounds for array of dimension 0"),
    (lambda: lax.top_k(X.astype(complex), 1), ValueError, "top_k is not compatible with complex inputs."),
    (lambda: lax.top_k(X, 1.5), TypeError, "concrete values of integer type, got [1.5]."),
)  # fmt: skip


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


# ---- top_k against a stable sort of the bits

WORDS = [np.dtype(t) for t in (np.float32, np.int32, np.uint32)]


def wanted(x, k):
    """Values and places by a stable sort of the bits in their total order."""
    bits = x.view(np.int32)
    order = {"f": np.where(bits < 0, bits ^ 0x7FFFFFFF, bits), "i": bits, "u": x}[x.dtype.kind]
    places = np.argsort(-order.astype(np.int64), -1, kind="stable")[..., :k]
    return np.take_along_axis(x, places, -1), places.astype(np.int32)


def same(got, want):
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.ascontiguousarray(w)
        assert g.dtype == w.dtype and g.shape == w.shape and g.tobytes() == w.tobytes()


def numbers(rng, shape, dtype, kind):
    """Any bits, few values, those in order, or each the same."""
    x = rng.integers(0, 2**32, shape, np.uint32)
    x = {"any": x, "few": x % 5, "upward": x, "same": x * 0}[kind].view(dtype)
    return np.sort(x, -1) if kind == "upward" else x


@pytest.mark.parametrize("kind", ("any", "few", "upward", "same"))
@pytest.mark.parametrize("dtype", WORDS, ids=str)
def test_top_k_orders(dtype, kind):
    rng = np.random.default_rng(0)
    for n in (1, 2, 127, 128, 129, 700, 5000):
        for k in {0, 1, 2, 16, 17, 100, n // 3, n - 1, n}:
            if k <= n:
                x = numbers(rng, (3, n), dtype, kind)
                same(lax.top_k(x, k), wanted(x, k))


@pytest.mark.parametrize(
    "shape, k", [((300_001,), 100), ((3, 270_000), 9000), ((40, 5000), 30), ((2, 5, 70), 70), ((0, 9), 2)]
)
@pytest.mark.parametrize("dtype", WORDS, ids=str)
def test_top_k_on_threads(shape, k, dtype):
    x = numbers(np.random.default_rng(1), shape, dtype, "any")
    same(jax.jit(lambda x: lax.top_k(x, k))(x), wanted(x, k))
    same(lax.top_k(x, k), wanted(x, k))


def test_top_k_of_other_axes_and_types():
    x = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    for y, axis in ((x, 0), (x.astype(np.float16), 1), (x[:, ::2], 1), (x.T, 1)):
        want = wanted(np.moveaxis(y, axis, -1).astype(np.float32), 3)
        for function in (lax.top_k, jax.jit(lax.top_k, static_argnums=1, static_argnames="axis")):
            values, places = function(y, 3, axis=axis)
            same([np.moveaxis(np.asarray(places), axis, -1)], [want[1]])
            np.testing.assert_array_equal(np.moveaxis(np.asarray(values), axis, -1), want[0])
