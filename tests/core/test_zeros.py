"""Symbolic zeros: their types, and lists of tangents with and without them."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.zeros import (
    SymbolicZero,
    UndefinedPrimal,
    Zero,
    drop_zeros,
    insert_zeros,
    is_undefined_primal,
    nonzero_flags,
)

AVAL = jnp.ones((2, 3), jnp.float32).aval
INTEGERS = jnp.ones(2, int).aval
ZERO = Zero(AVAL)


@pytest.mark.parametrize("value, dtype", [
    (jnp.ones(2), "float32"), (jnp.ones(2, jnp.bfloat16), "bfloat16"), (jnp.ones(2, complex), "complex64"),
    (jnp.ones(2, int), "float0"), (jnp.ones(2, bool), "float0"), (jax.random.key(0), "float0"),
])  # fmt: skip
def test_the_zero_tangent_of_a_value(value, dtype):
    zero = Zero.from_primal_value(value)
    wanted = jax.dtypes.float0 if dtype == "float0" else np.dtype(getattr(jnp, dtype))
    assert type(zero) is Zero and zero.aval.shape == value.shape and zero.aval.dtype == wanted


def test_flags_dropping_and_inserting_undo_one_another():
    tangents = [1.0, ZERO, 2.0, Zero(INTEGERS)]
    flags = nonzero_flags(tangents)
    assert flags == [True, False, True, False] and drop_zeros(tangents) == [1.0, 2.0]
    again = insert_zeros([1.0, 2.0], flags, [AVAL, AVAL, AVAL, INTEGERS])
    assert nonzero_flags(again) == flags and again[0] == 1.0 and again[2] == 2.0
    assert again[1].aval == AVAL and again[3].aval.dtype == jax.dtypes.float0


def test_what_users_see():
    zero = SymbolicZero(AVAL)
    assert (zero.shape, zero.dtype, zero.ndim, zero.size) == ((2, 3), np.float32, 2, 6)
    assert [repr(c(AVAL)) for c in (Zero, SymbolicZero, UndefinedPrimal)] == [
        "Zero(float32[2,3])", "SymbolicZero", "UndefinedPrimal(float32[2,3])",
    ]  # fmt: skip
    assert is_undefined_primal(UndefinedPrimal(AVAL)) and not is_undefined_primal(ZERO)


def test_symbolic_zeros_of_values():
    for value, dtype in ((jnp.ones(2), np.float32), (jnp.arange(2), jax.dtypes.float0)):
        zero = SymbolicZero.from_primal_value(value)
        assert (zero.shape, zero.dtype) == ((2,), dtype)
