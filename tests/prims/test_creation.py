"""Arrays from nothing: results against NumPy, weak types, errors."""

import numpy as np
import pytest

from onax import lax

X = np.arange(6, dtype=np.float32).reshape(2, 3)

#     name, result, what NumPy gives
RESULTS = (
    ("full", lambda: lax.full((2,), 3, np.int8), np.full(2, 3, np.int8)),
    ("empty", lambda: lax.empty((2,), np.int32), np.zeros(2, np.int32)),
    ("full of -0", lambda: lax.full((2,), np.float32(-0.0)), np.full(2, -0.0, np.float32)),
    ("full_like", lambda: lax.full_like(X, 2), np.full_like(X, 2)),
    ("iota", lambda: lax.iota(np.int8, 300), np.arange(300).astype(np.int8)),
    ("iota f16", lambda: lax.iota(np.float16, 2051), np.arange(2051).astype(np.float16)),
    ("broadcasted_iota", lambda: lax.broadcasted_iota(np.int32, (2, 3), 1),
     np.tile(np.arange(3, dtype=np.int32), (2, 1))),
)  # fmt: skip


@pytest.mark.parametrize("name, call, want", RESULTS, ids=[row[0] for row in RESULTS])
def test_results(name, call, want):
    got = np.asarray(call())
    assert got.dtype == want.dtype and got.shape == want.shape
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def test_weak_types_of_filled_arrays():
    assert lax.full((2,), 1).weak_type and lax.full((2,), 1.0).weak_type
    assert not lax.full((2,), True).weak_type and not lax.full((2,), 1, float).weak_type
    assert not lax.full((2,), np.float32(1)).weak_type and not lax.full_like(X, 1).weak_type
    assert lax.full_like(1, 2.5).weak_type and int(lax.full_like(1, 2.5)) == 2


def test_a_copy_has_memory_of_its_own():
    x = lax.full((3,), 2.0)
    y = lax.copy_p.bind(x)
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer() and y.tolist() == x.tolist()


#     call, error, words
ERRORS = (
    (lambda: lax.full((2,), np.ones(2)), TypeError, "full must be called with scalar fill_value"),
    (lambda: lax.iota(bool, 3), TypeError, "iota does not accept dtype bool"),
    (lambda: lax.broadcasted_iota(int, (2,), 1), ValueError, "iota dimension must be between 0 and len(shape)"),
    (lambda: lax.broadcasted_iota(int, (-2,), 0), TypeError, "iota shape must have every element be nonnegative"),
)


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
