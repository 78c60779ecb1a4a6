"""reduce by a function and associative_scan: neutral reductions, errors.  tests/golden compares values with JAX."""

import pytest

import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
    "reduce of two trees": (
        lambda: lax.reduce((X,), (0.0, 0.0), lambda a, b: a, (0,)),
        ValueError,
        "Operands must have the same tree structure as init_values",
    ),
    "reduce from an array": (
        lambda: lax.reduce(X, X, lax.add, (0,)),
        ValueError,
        "reduce found non-scalar initial value: [(3,)]",
    ),
    "reduce along an axis that is not there": (
        lambda: lax.reduce(X, 0.0, lax.add, (1,)),
        ValueError,
        "reduction axes (1,) contains out-of-bounds indices for float32[3].",
    ),
    "reduce along an axis twice": (
        lambda: lax.reduce(X, 0.0, lax.add, (0, 0)),
        ValueError,
        "duplicate value in 'axes' of reduction: (0, 0)",
    ),
    "reduce to another tree": (
        lambda: lax.reduce(X, 0.0, lambda a, b: (a, b), (0,)),
        TypeError,
        "the computation of reduce must return the structure of its operands",
    ),
    "associative_scan of two lengths": (
        lambda: lax.associative_scan(jnp.add, {"a": jnp.ones((4, 3)), "b": X}),
        ValueError,
        "Array inputs to associative_scan must have the same first dimension. (saw: [(4, 3), (3,)])",
    ),
    "associative_scan of no function": (
        lambda: lax.associative_scan(3, X),
        TypeError,
        "fn argument should be callable",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_a_vanishing_reduction_is_no_operation():
    x = jnp.ones((2, 3))
    assert lax.reduce({"a": x}, {"a": 7.0}, lambda p, q: p, ())["a"] is x
