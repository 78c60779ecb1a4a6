"""Running reductions at the edges: NaN, infinities, narrow types, long axes.  Values: JAX 0.10.2 on the CPU."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import lax
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
f32 = lambda *values: np.array(values, np.float32)
X = np.ones((3, 4), np.float32)

#     name, result, expected values
VALUES = (
    ("max nan", lambda: lax.cummax(f32(1, NAN, 2)), [1, NAN, NAN]),
    ("min nan reverse", lambda: lax.cummin(f32(1, NAN, -2), reverse=True), [NAN, NAN, -2]),
    ("max bf16 nan", lambda: lax.cummax(f32(1, NAN, 2).astype(ml_dtypes.bfloat16)), [1, NAN, NAN]),
    ("max complex", lambda: lax.cummax(np.complex64([1 + 2j, 2 - 1j, 2 + 3j, 1])), [1 + 2j, 2 - 1j, 2 + 3j, 2 + 3j]),
    ("sum wraps", lambda: lax.cumsum(np.full(3, 100, np.uint8)), [100, 200, 44]),
    ("sum int4", lambda: lax.cumsum(np.array([1, -2, 2], ml_dtypes.int4)), [1, -1, 1]),
    ("sum float8", lambda: lax.cumsum(np.array([1, -2, 2], ml_dtypes.float8_e4m3fn)), [1, -1, 1]),
    ("sum f16 overflow", lambda: lax.cumsum(np.float16([3e4, 5e4, -6e4])), [3e4, INF, INF]),
    ("prod wraps", lambda: lax.cumprod(np.full(6, 3, np.uint8)), [3, 9, 27, 81, 243, 217]),
    ("log", lambda: lax.cumlogsumexp(f32(-INF, -INF, 1, INF, NAN, 1)), [-INF, -INF, 1, INF, NAN, NAN]),
)  # fmt: skip


@pytest.mark.parametrize("name, call, want", VALUES, ids=[row[0] for row in VALUES])
def test_values(name, call, want):
    got = np.asarray(call())
    assert_same_bits(got, np.array(want).astype(got.dtype))


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32"])
@pytest.mark.parametrize("call", [lax.cumsum, jax.jit(lax.cumsum)], ids=["eager", "jit"])
def test_a_long_sum_of_ones_does_not_stop(call, dtype):
    assert float(call(np.ones(4096, dtype))[-1]) == 4096


def test_ties_share_the_tangent():
    grad = jax.grad(lambda x: lax.cummax(x).sum())(f32(1, 1, 2, 2, 0))
    assert np.asarray(grad).tolist() == [1.5, 0.5, 2, 1, 0]


def test_gradient_of_a_product_with_zeros():
    x = f32(2, 0, 3, 0)
    want = [np.prod(np.delete(x, j)[:i]) if j <= i else 0 for j in range(4) for i in range(4)]
    got = jax.jacobian(lax.cumprod)(x)
    assert np.asarray(got).T.ravel().tolist() == want


def test_cumsum_transposes_to_the_reverse():
    assert "cumsum[axis=0 reverse=True]" in str(jax.make_jaxpr(jax.grad(lambda x: lax.cumsum(x).sum()))(f32(1, 2)))


#     call, error, words
ERRORS = (
    (lambda: lax.cumsum(X, 2), ValueError, "axis 2 is out of bounds for array of shape (3, 4)"),
    (lambda: lax.cumsum(X, -1), ValueError, "XLA operations do not allow negative axes"),
    (lambda: lax.cumsum(np.float32(1)), ValueError, "axis 0 is out of bounds for array of shape ()"),
    (lambda: lax.cumprod(X > 0), TypeError, "cumprod does not accept dtype bool. Accepted dtypes are subtypes of num"),
    (lambda: lax.cumlogsumexp(np.arange(3)), OverflowError, "cannot convert float infinity to integer"),
    (lambda: lax.cumsum([1.0]), TypeError, "list"),
)


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
