"""Programs derived from the body of a scan."""

import numpy as np
import pytest

import onax
from onax import lax
from onax._control.scan_bodies import (
    derive_at_fixed_point,
    drop_forwarded,
    jvp_body,
    linear_body,
    stack_avals,
    transpose_body,
)
from onax._core.evaluate import eval_jaxpr
from onax._transforms.jvp import jvp_jaxpr


def body_of(f, *args):
    """The closed program of `f`, whose arguments are constants, carry and slices."""
    return onax.make_jaxpr(f)(*args)


def run(jaxpr, *args):
    return [np.asarray(x).tolist() for x in eval_jaxpr(jaxpr, jaxpr.consts, *args)]


def test_types_of_results_get_the_length_in_front_except_the_carry():
    avals = body_of(lambda x: (x, x), np.ones(3, np.float32)).out_avals
    assert [a.shape for a in stack_avals(avals, 5, 1)] == [(3,), (5, 3)]


def test_results_that_are_arguments_are_dropped():
    body = body_of(lambda c, a, b, x: (a, b * c, x, x + c), 2.0, 3.0, 4.0, 5.0)
    shorter, same, slices = drop_forwarded(body, 1, 2)
    assert same == [True, False]
    assert slices == [0, None]
    assert run(shorter, 3.0, 2.0, 4.0, 5.0) == [8.0, 7.0]  # (a, c, b, x) -> (b * c, x + c)
    assert drop_forwarded(body, 1, 2)[0] is shorter


def test_a_body_without_such_results_stays_itself():
    body = body_of(lambda a, x: (a + x, a * x), 1.0, 2.0)
    assert drop_forwarded(body, 0, 1)[0] is body


@pytest.mark.parametrize(
    "active, expected", [([False, False, True], [True, True]), ([False, False, False], [False] * 2)]
)
def test_flags_of_the_carry_grow_to_the_fixed_point(active, expected):
    body = body_of(lambda a, b, x: (b, b + x), 1.0, 2.0, 3.0)  # a tangent of x reaches b, and a one step later
    _, flags = derive_at_fixed_point(jvp_jaxpr, body, active, [0, 2], 1)
    assert flags == [*expected, active[2]]


def test_a_jvp_body_has_primals_before_tangents_in_each_group():
    body = body_of(lambda c, a, x: (a * c, a + x), 2.0, 3.0, 4.0)
    derived, nonzeros, out_nz = jvp_body(body, [True, False, True], [1, 1])
    assert nonzeros == [True, True, True]
    assert list(out_nz) == [True, True]
    # (c, c', a, a', x, x') -> (a c, (a c)', a + x, a' + x')
    assert run(derived, 2.0, 10.0, 3.0, 20.0, 4.0, 30.0) == [6.0, 70.0, 7.0, 50.0]


def test_a_linear_body_takes_no_constants_and_slices_that_it_does_not_read():
    linear = body_of(lambda same, stacked, c, unread, a, x, y: a * same + stacked * x, *map(float, range(7)))
    body, reads_const, reads_x = linear_body(linear, [True, False], 2, 1)
    assert reads_const == [False, False]
    assert reads_x == [True, False]
    assert run(body, 2.0, 3.0, 4.0, 5.0) == [3.0 * 2.0 + 5.0 * 4.0]  # (same, a, x, stacked)


def test_a_transposed_body_adds_to_the_sums_of_its_constants():
    body = body_of(lambda c, a, plain: (lax.mul(c, plain), lax.mul(a, plain)), 1.0, 1.0, 3.0)
    transposed = transpose_body(body, [True], 1, [False], [True])
    # (sum, cotangent of the carry, of y, plain slice) -> (sum + 3 ct_carry, 3 ct_y)
    assert run(transposed, 100.0, 2.0, 5.0, 3.0) == [106.0, 15.0]


def test_derived_bodies_are_kept_with_the_body():
    body = body_of(lambda a, x: (lax.mul(a, x), a), 1.0, 2.0)
    assert transpose_body(body, [], 1, [False], [True]) is transpose_body(body, [], 1, [False], [True])
