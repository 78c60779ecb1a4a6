"""Checks and rules that the primitives of linear algebra share."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._native.avals import ShapedArray
from onax._prims.linalg_rules import check_operands, check_square, is_square

aval = lambda *shape, dtype=np.float32: ShapedArray(shape, np.dtype(dtype))
WRONG = [
    (
        lambda: check_operands("f", (aval(3, dtype=np.int32),), (1,)),
        TypeError,
        "f does not accept dtype int32 at position 0",
    ),
    (
        lambda: check_operands("f", (aval(3),), (2,)),
        TypeError,
        r"Input 0 to f must have rank at least 2, but got shape=\(3,\)",
    ),
    (lambda: check_operands("f", (aval(3, 3), aval(3, dtype=np.float64)), (2, 1)), TypeError, "f"),
    (lambda: check_operands("f", (aval(2, 3, 3), aval(3)), (2, 1)), TypeError, r"got \[1, 0\] batch dimensions"),
    (
        lambda: check_operands("f", (aval(2, 3, 3), aval(4, 3)), (2, 1)),
        ValueError,
        "0_0 corresponds to two sizes: 2 and 4",
    ),
    (lambda: check_square("f", aval(2, 3)), ValueError, r"The input to f must be a square matrix. Got shape \(2, 3\)"),
]


@pytest.mark.parametrize("call, error, text", WRONG)
def test_faults(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_what_fits():
    check_operands("f", (aval(2, 3, 3), aval(2, 3)), (2, 1))
    check_square("f", aval(4, 3, 3))
    assert is_square(aval(3, 3)) and not is_square(aval(3, 2))


@pytest.mark.parametrize(
    "function", [lax.linalg.cholesky, lambda x: lax.linalg.qr(x)[0], lambda x: lax.linalg.eigh(x)[1]]
)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_mapped_axes_become_leading_ones(function, dim):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 3, 3)).astype(np.float32)
    x = x @ np.swapaxes(x, 1, 2) + np.eye(3, dtype=np.float32)
    got = jax.vmap(function, dim)(np.moveaxis(x, 0, dim))
    np.testing.assert_allclose(got, np.stack([function(m) for m in x]), rtol=1e-4, atol=1e-4)


def test_results_are_weakly_typed_where_all_operands_are():
    weak = lax.full((2, 2), 1.0)
    assert weak.weak_type and all(out.weak_type for out in lax.linalg.qr(weak))
    assert not lax.linalg.qr(np.ones((2, 2), np.float32))[0].weak_type
