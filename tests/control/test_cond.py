"""cond and switch: operands of branches, errors.  Values are compared with JAX in tests/golden."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
    "predicate of a function": (
        lambda: lax.cond(len, lambda x: x, lambda x: x, 2.0),
        TypeError,
        "Pred type must be either boolean or number, got <built-in function len>.",
    ),
    "index of a tuple": (
        lambda: lax.switch((1.0, 1.0), [lambda x: x, lambda x: x], 2.0),
        TypeError,
        "Branch index must be scalar, got (1.0, 1.0) of shape (2,).",
    ),
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
        "The output of branch 0 has type float32[] but the corresponding output of branch2 has type float32[3], so "
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


def test_an_argument_that_every_branch_returns_is_no_result_of_the_branches():
    """So a mapped predicate does not map it."""

    def f(x, y):
        return lax.cond(x < 3, lambda x, y: (x * 2, y, x), lambda x, y: (x * 3, y, y * x), x, y)

    x, y = jnp.arange(3.0), jnp.array(3.0)
    out, same, last = jax.vmap(f, in_axes=(0, None), out_axes=(0, None, 0))(x, y)
    assert same is y and out.tolist() == [0, 2, 4] and last.tolist() == [0, 1, 2]
    (*_, eqn) = jax.make_jaxpr(f)(1.0, 2.0).eqns
    assert eqn.primitive.name == "cond" and len(eqn.outvars) == 2
    assert jax.jit(f)(4.0, y) == (12, 3, 12) and jax.grad(lambda y: f(4.0, y)[1] * f(4.0, y)[2])(3.0) == 24
    (*_, eqn) = jax.make_jaxpr(lambda i, y: lax.switch(i, [lambda y: (y, y)] * 3, y))(1, 2.0).eqns
    first, *others = eqn.params["branches"]
    assert not eqn.outvars and all(branch is first for branch in others)
