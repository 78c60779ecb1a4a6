"""Functions that make differentiation rules: which tangents they bind, symbolic zeros, transposes."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.rules import (
    add_any_p,
    add_tangents,
    defbilinear,
    defjvp,
    defjvp_zero,
    deflinear,
    deflinear_first,
    tangent_zero,
)
from onax._core.zeros import UndefinedPrimal, Zero
from onax._native.dispatch import Primitive

X, Y = jnp.array([1.0, 2.0]), jnp.array([3.0, 5.0])
ZERO = Zero(X.aval)


def primitive(kernel, **fields):
    return Primitive(f"test_rule_{kernel.__name__}", kernel=kernel, abstract_eval=lambda x, *_, **__: x, **fields)


def value(t):
    return None if type(t) is Zero else np.asarray(t).tolist()


def test_linear_in_all_operands_together():
    p = deflinear(primitive(np.subtract), lambda ct, x, y: [ct, -ct])
    assert value(p.jvp((X, Y), (Y, X))[1]) == [2.0, 3.0]
    assert value(p.jvp((X, Y), (Y, ZERO))[1]) == [3.0, 5.0] and value(p.jvp((X, Y), (ZERO, ZERO))[1]) is None
    assert [value(ct) for ct in p.transpose(X, UndefinedPrimal(X.aval), UndefinedPrimal(X.aval))] == [[1, 2], [-1, -2]]
    left, right = p.transpose(ZERO, UndefinedPrimal(X.aval), Y)
    assert type(left) is Zero and right is None


def test_linear_in_the_first_operand():
    p = primitive(np.multiply)
    deflinear_first(p)
    assert value(p.jvp((X, Y), (Y, ZERO))[1]) == [9.0, 25.0] and value(p.jvp((X, Y), (ZERO, X))[1]) is None


def test_bilinear():
    p = defbilinear(primitive(np.multiply), lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    for tangents, wanted in (((X, ZERO), [3, 10]), ((ZERO, X), [1, 4]), ((X, X), [4, 14]), ((ZERO, ZERO), None)):
        out, tangent = p.jvp((X, Y), tangents)
        assert value(out) == [3.0, 10.0] and value(tangent) == wanted
    linear = UndefinedPrimal(X.aval)
    assert value(p.transpose(X, linear, Y)[0]) == [3, 10] and p.transpose(X, linear, Y)[1] is None
    assert value(p.transpose(X, Y, linear)[1]) == [3, 10] and type(p.transpose(ZERO, Y, linear)[1]) is Zero
    for operands in ((linear, linear), (X, Y)):
        with pytest.raises(TypeError, match="is linear in one operand at a time"):
            p.transpose(X, *operands)


def test_a_rule_for_each_operand():
    p = defjvp(primitive(np.arctan2), lambda g, out, x, y: g * 10, None)
    assert value(p.jvp((X, Y), (X, Y))[1]) == [10.0, 20.0]
    assert value(p.jvp((X, Y), (ZERO, Y))[1]) is None
    both = defjvp(primitive(np.add), lambda g, out, x, y: g, lambda g, out, x, y: out * g)
    assert value(both.jvp((X, Y), (X, Y))[1]) == [1 + 4 * 3, 2 + 7 * 5]


def test_results_without_tangents():
    types = lambda x: [x.update(dtype=np.dtype(bool)), x.update(dtype=np.dtype(int))]
    kernel = lambda x: (x > 1, x.astype(int))
    p = Primitive("test_rule_two", multiple_results=True, kernel=kernel, abstract_eval=types)
    defjvp_zero(p)
    _, tangents = p.jvp((X,), (X,))
    assert [t.aval.dtype for t in tangents] == [jax.dtypes.float0] * 2
    assert tangent_zero(X).aval == X.aval


def test_adding_tangents():
    assert add_tangents(ZERO, X) is X is add_tangents(X, ZERO) and add_tangents(ZERO, ZERO) is ZERO
    assert value(add_tangents(X, Y)) == [4.0, 7.0]
    none = np.zeros(3, jax.dtypes.float0)
    assert add_any_p.bind(none, none).dtype == jax.dtypes.float0


@pytest.mark.parametrize("one, other", [((), (2, 3)), ((2, 3), ()), ((1, 3), (2, 3)), ((2, 1), (1, 3))])
def test_sums_of_cotangents_broadcast_as_batching_passes_them(one, other):
    assert add_any_p.abstract(jnp.ones(one).aval, jnp.ones(other).aval)[0].shape == (2, 3)
