"""Products with exchanged operands in place of transposes."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._tape.products import exchange_operands
from tolerance import assert_ulps


def _names(function, *arguments):
    return [eqn.primitive.name for eqn in exchange_operands(jax.make_jaxpr(function)(*arguments)).eqns]


def _random(*shape):
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.float32)


CASES = {
    "vectors": ((((0,), (0,)), ((), ())), (5, 3), (5, 4), (1, 0)),
    "several free axes": ((((1,), (0,)), ((), ())), (2, 5, 3), (5, 4, 6), (2, 3, 0, 1)),
    "batches": ((((2,), (1,)), ((0,), (2,))), (7, 3, 5), (4, 5, 7), (0, 2, 1)),
    "two batches": ((((3,), (0,)), ((0, 2), (1, 3))), (2, 6, 3, 5), (5, 2, 4, 3), (0, 1, 3, 2)),
    "no free axis": ((((0,), (0,)), ((), ())), (5,), (5, 4), (0,)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_transpose_of_a_product(case):
    numbers, left, right, permutation = CASES[case]
    function = lambda a, b: lax.transpose(lax.dot_general(a, b, numbers), permutation)
    a, b = _random(*left), _random(*right)
    assert _names(function, a, b) == ["dot_general"]
    np.testing.assert_array_equal(jax.jit(function)(a, b), np.asarray(function(a, b)))


def test_transposes_stay_where_they_do_not_exchange_operands():
    a, b = _random(2, 3, 5), _random(2, 5, 4)
    numbers = (((2,), (1,)), ((0,), (0,)))
    for permutation in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        function = lambda a, b, p=permutation: lax.transpose(lax.dot_general(a, b, numbers), p)
        assert _names(function, a, b)[:1] == ["dot_general"]
        np.testing.assert_array_equal(jax.jit(function)(a, b), np.asarray(function(a, b)))
    both = lambda a, b: ((c := lax.dot_general(a, b, numbers)), lax.transpose(c, (0, 2, 1)))
    assert _names(both, a, b) == ["dot_general", "transpose"]


def test_gradients_of_weights_need_no_transpose():
    x, w = _random(6, 5), _random(5, 3)
    gradient = jax.grad(lambda w, x: jnp.sum((x @ w) ** 2))
    assert "transpose" not in _names(gradient, w, x)
    assert_ulps(jax.jit(gradient)(w, x), 2 * x.T @ (x @ w))


def test_precisions_are_exchanged_too():
    a, b = _random(5, 3), _random(5, 4)
    pair = (lax.Precision.HIGHEST, lax.Precision.DEFAULT)
    function = lambda a, b: lax.dot_general(a, b, (((0,), (0,)), ((), ())), precision=pair).T
    (eqn,) = exchange_operands(jax.make_jaxpr(function)(a, b)).eqns
    assert eqn.params["precision"] == pair[::-1]
    assert eqn.outvars[0].aval.shape == (4, 3)
