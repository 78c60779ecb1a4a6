"""reduce by a function and associative_scan: neutral reductions, errors.  tests/golden compares values with JAX."""

import operator

import numpy as np
import pytest

import onax as jax
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
    "reduce by a function of a traced value": (
        lambda: jax.jit(lambda y: lax.reduce(X, 0.0, lambda a, b: a + b * y, (0,)))(1.0),
        NotImplementedError,
        "Reduction computations can't close over Tracers",
    ),
    "sum of bools": (
        lambda: lax.reduce(jnp.array([True]), False, lax.add, (0,)),
        TypeError,
        "reduce_sum does not accept dtype bool",
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


REDUCTIONS = [  # function, neutral element, dtype, primitive
    (lax.add, 0, "bfloat16", "reduce_sum"),
    (lax.add, 0, "complex64", "reduce_sum"),
    (lax.mul, 1, "complex64", "reduce_prod"),
    (lax.max, -np.inf, "bfloat16", "reduce_max"),
    (lax.max, False, "bool", "reduce_max"),
    (lax.min, 2**31 - 1, "int32", "reduce_min"),
    (lax.bitwise_xor, 0, "uint8", "reduce_xor"),
    (lax.bitwise_xor, False, "bool", "reduce_xor"),
    (lax.bitwise_and, -1, "int8", "reduce_and"),
    (lax.add, 1, "int32", "reduce"),
    (lambda a, b: a + b, 0, "int32", "reduce"),
]


@pytest.mark.parametrize(("function", "init", "dtype", "primitive"), REDUCTIONS)
def test_reductions_that_have_a_primitive(function, init, dtype, primitive):
    init = np.asarray(init).astype(dtype)
    call = lambda x: lax.reduce(x, init, function, (0,))
    x = jnp.array([1, 0, 1]).astype(dtype)
    assert jax.make_jaxpr(call)(x).eqns[0].primitive.name == primitive
    run = lambda x, init: lax.reduce(x, init, function, (0,))
    want = init
    for element in x:
        want = function(want, element)
    for got in (call(x), jax.jit(call)(x), jax.jit(run)(x, init)):
        assert got.dtype == dtype and got == want


@pytest.mark.parametrize("function", [lax.add, lax.mul, operator.add])
@pytest.mark.parametrize("weak", [(True, True), (True, False), (False, True), (False, False)])
def test_a_reduction_is_weakly_typed_if_both_operands_are(function, weak):
    x = jnp.full(3, 2) if weak[0] else jnp.full(3, 2, "int32")
    run = lambda x, init: lax.reduce(x, init, function, (0,))
    for init in (0, 1):
        init = init if weak[1] else np.int32(init)
        assert [run(x, init).weak_type, jax.jit(run)(x, init).weak_type] == [all(weak)] * 2
