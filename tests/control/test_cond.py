"""cond and switch: operands of branches, errors.  Values are compared with JAX in tests/golden."""

import pytest

import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
    "predicate shape": (
        lambda: lax.cond(X, lambda x: x, lambda x: x, 2.0),
        TypeError,
        "Pred must be a scalar, got [0. 1. 2.] of shape (3,).",
    ),
    "branch trees": (
        lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 2.0),
        TypeError,
        "cond branch outputs must have the same pytree structure",
    ),
    "branch types": (
        lambda: lax.cond(True, lambda x: x, lambda x: x.astype(int), 2.0),
        TypeError,
        "The output of true_fun has type float32[] but the corresponding output of false_fun has type int32[], so the "
        "dtypes do not match.",
    ),
    "index type": (
        lambda: lax.switch(1.0, [lambda x: x] * 2, 2.0),
        TypeError,
        "Index type must be an integer, got 1.0 as float32",
    ),
    "index shape": (
        lambda: lax.switch(jnp.arange(2), [lambda x: x] * 2, 2.0),
        TypeError,
        "Branch index must be scalar",
    ),
    "no branches": (lambda: lax.switch(1, [], 2.0), ValueError, "Empty branch sequence"),
    "switch's branches": (
        lambda: lax.switch(0, [lambda: 1.0, lambda: 2.0, lambda: X]),
        TypeError,
        "The output of branch 0 has type float32[] but the corresponding output of branch 2 has type float32[3], so "
        "the shapes do not match.",
    ),
    "predicate of a string": (
        lambda: lax.cond("a", lambda: 1, lambda: 2),
        TypeError,
        "Pred must be a scalar, got a of type <class 'str'>",
    ),
    "no predicate": (lambda: lax.cond(None, lambda: 1, lambda: 2), TypeError, "cond predicate is None"),
    "complex predicate": (
        lambda: lax.cond(1j, lambda: 1, lambda: 2),
        TypeError,
        "Pred type must be either boolean or number, got complex64.",
    ),
    "operands twice": (
        lambda: lax.cond(True, lambda x: x, lambda x: x, 3, operand=3),
        TypeError,
        "if 'operand' keyword is passed then no positional operands can be passed",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_branches_with_operands_of_their_own():
    assert lax.cond(True, 3.0, lambda x: x * 2, 4.0, lambda x: x + 1) == 6.0
    assert lax.cond(False, 3.0, lambda x: x * 2, 4.0, lambda x: x + 1) == 5.0
