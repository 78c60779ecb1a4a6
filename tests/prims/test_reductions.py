"""Reductions at the edges: empty, NaN, ties, narrow types.  Expected values and words: JAX 0.10.2 on the CPU."""

import ml_dtypes
import numpy as np
import pytest

from onax import lax
from onax._transforms.autodiff import grad, jvp
from tolerance import assert_same_bits

INF, NAN = np.inf, np.nan
BF16 = ml_dtypes.bfloat16
f32 = lambda *values: np.array(values, np.float32)
X = np.ones((2, 3), np.float32)

#     name, result, expected values
VALUES = (
    ("max nan", lambda: lax.reduce_max(f32(1, NAN, 2), (0,)), NAN),
    ("min nan", lambda: lax.reduce_min(f32(1, NAN, 2), (0,)), NAN),
    ("max of nothing", lambda: lax.reduce_max(X[:0], (0,)), [-INF] * 3),
    ("max of no integers", lambda: lax.reduce_max(X[:0].astype(np.int32), (0,)), [-(2**31)] * 3),
    ("min of no u8", lambda: lax.reduce_min(X[:0].astype(np.uint8), (0,)), [255] * 3),
    ("max of no bool", lambda: lax.reduce_max(X[:0] > 0, (0,)), [False] * 3),
    ("and of no u8", lambda: lax.reduce_and(X[:0].astype(np.uint8), (0,)), [255] * 3),
    ("or of nothing", lambda: lax.reduce_or(X[:0] > 0, (0,)), [False] * 3),
    ("prod of nothing", lambda: lax.reduce_prod(X[:0], (0,)), [1] * 3),
    ("max complex", lambda: lax.reduce_max(np.complex64([1 + 2j, 1 + 3j, 0]), (0,)), 1 + 3j),
    ("prod wraps", lambda: lax.reduce_prod(np.full(10, 3, np.uint8), (0,)), 169),
    ("xor", lambda: lax.reduce_xor(np.int32([3, 5, 7]), (0,)), 1),
    ("xor bool", lambda: lax.reduce_xor(np.array([True, True, True]), (0,)), True),
    ("argmax bool", lambda: lax.argmax(np.array([False, True, True]), 0, np.int32), 1),
    ("argmin bool", lambda: lax.argmin(np.array([True, False, False]), 0, np.int32), 1),
    ("argmax wraps", lambda: lax.argmax(np.arange(300), 0, np.uint8), 43),
    ("argmax zeros", lambda: lax.argmax(f32(-0.0, 0.0), 0, np.int32), 0),
)


@pytest.mark.parametrize("name, call, want", VALUES, ids=[row[0] for row in VALUES])
def test_values(name, call, want):
    got = np.asarray(call())
    assert_same_bits(got, np.array(want).astype(got.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16", BF16])
def test_first_nan_wins(dtype):
    x = f32(1, NAN, 5, NAN, -1).astype(dtype)
    assert int(lax.argmax(x, 0, np.int32)) == 1 and int(lax.argmin(x, 0, np.int32)) == 1
    assert int(lax.argmax(f32(1, 5, 5).astype(dtype), 0, np.int32)) == 1


def test_ties_share_the_tangent():
    assert np.asarray(grad(lambda x: lax.reduce_max(x, (0,)))(f32(1, 2, 2))).tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("factors", [(2.0, 0.0, 3.0), (0.0, 0.0, 5.0), (1.0, 2.0, 3.0, 4.0, 5.0), (7.0,)])
def test_gradient_of_a_product_with_zeros(factors):
    want = [np.prod([f for j, f in enumerate(factors) if j != i]) for i in range(len(factors))]
    assert np.asarray(grad(lambda x: lax.reduce_prod(x, (0,)))(f32(*factors))).tolist() == want


def test_tangent_of_an_empty_product_is_zero():
    out, tangent = jvp(lambda x: lax.reduce_prod(x, (0,)), (X[:0],), (X[:0],))
    assert np.asarray(out).tolist() == [1.0] * 3 and np.asarray(tangent).tolist() == [0.0] * 3


#     call, error, words
ERRORS = (
    (lambda: lax.reduce_max(X, (0, 0)), ValueError, "duplicate value in 'axes' of reduction: (0, 0)"),
    (lambda: lax.reduce_max(X, (3,)), ValueError,
     "reduction axes (3,) contains out-of-bounds indices for float32[2,3]."),
    (lambda: lax.reduce_max(X, (-1,)), ValueError, "reduction axes (-1,) contains out-of-bounds"),
    (lambda: lax.reduce_and(X, (0,)), TypeError, "logical reduction requires operand dtype bool or int, got float32."),
    (lambda: lax.reduce_prod(X > 0, (0,)), TypeError, "reduce_prod does not accept dtype bool."),
    (lambda: lax.argmax(X, 2, np.int32), ValueError, "Invalid axis 2 for operand shape (2, 3)"),
    (lambda: lax.argmax(X, -1, np.int32), ValueError, "Invalid axis -1 for operand shape (2, 3)"),
    (lambda: lax.argmax(X, 0, np.float32), TypeError, "index_dtype must be an integer type, but got float32"),
    (lambda: lax.argmin(X[:0], 0, np.int32), ValueError, "operand.shape=(0, 3) axis=0"),
    (lambda: lax.argmax(X.astype(complex), 0, np.int32), TypeError, "complex64"),
)  # fmt: skip


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
