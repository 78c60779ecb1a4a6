"""Running linear programs backward: cotangents of arguments, sums, symbolic zeros, refusals."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.evaluate import jaxpr_as_fun
from onax._core.zeros import UndefinedPrimal, Zero
from onax._native.dispatch import Primitive
from onax._transforms.transpose import backward_pass, transpose_jaxpr

X = np.array([0.3, -0.7, 1.9], np.float32)
M = np.array([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]], np.float32)


def test_linear_transpose():
    f = lambda x: M @ x * 2
    (back,) = jax.linear_transpose(f, X)(jnp.ones(2))
    np.testing.assert_allclose(np.asarray(back), 2 * M.T @ np.ones(2), rtol=1e-6)


V = jnp.arange(1.0, 4.0)
TRANSPOSED = {
    "scalars": (lambda x, y: (x.sum() + y, 3 * y), (V, 2.0), (1.0, 2.0), ([1.0, 1.0, 1.0], 7.0)),
    "types alone": (jnp.cumsum, (jax.ShapeDtypeStruct((3,), np.float32),), V, ([6.0, 5.0, 3.0],)),
    "integers": (lambda x: x * 2, (jnp.arange(3),), jnp.arange(3), ([0, 2, 4],)),
    "scan": (lambda x: jax.lax.scan(lambda c, y: (c + 2 * y, c), 0.0, x), (V,), (1.0, V), ([12.0, 8.0, 2.0],)),
    "cond": (lambda x: jax.lax.cond(True, lambda v: v * 2, lambda v: v, x), (V,), V, ([2.0, 4.0, 6.0],)),
    "jit": (jax.jit(lambda x: 3 * x[::-1]), (V,), V, ([9.0, 6.0, 3.0],)),
    "an argument without influence": (lambda x, y: x, (V, V), V, ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_linear_transpose_of(name):
    function, primals, cotangents, wanted = TRANSPOSED[name]
    for got, want in zip(jax.linear_transpose(function, *primals)(cotangents), wanted, strict=True):
        np.testing.assert_allclose(got, want)


PROGRAM = jax.make_jaxpr(lambda a, b: (a * 2 + b * jnp.sin(a), b * 3))(V, V)  # linear in b


def test_backward_pass_of_some_arguments():
    linear = UndefinedPrimal(PROGRAM.in_avals[1])
    a, b = backward_pass(PROGRAM, PROGRAM.consts, [V, linear], [V, V])
    assert a is None
    np.testing.assert_allclose(b, np.sin(V) * V + 3 * V, rtol=1e-6)


def test_cotangents_that_vanish():
    linear, zeros = UndefinedPrimal(PROGRAM.in_avals[1]), [Zero(v.aval) for v in PROGRAM.outvars]
    assert type(backward_pass(PROGRAM, (), [V, linear], zeros)[1]) is Zero
    np.testing.assert_array_equal(backward_pass(PROGRAM, (), [V, linear], [zeros[0], V])[1], 3 * V)


def test_sums_are_added_to():
    linear = jax.make_jaxpr(lambda x, y: x + y)(V, V)
    given = [UndefinedPrimal(a) for a in linear.in_avals]
    x, y = backward_pass(linear, (), given, [V], sums=[V * 10, None])
    np.testing.assert_array_equal(x, V * 11)
    np.testing.assert_array_equal(y, V)


@pytest.mark.parametrize("nonzero", [(True, True), (False, True), (False, False)])
def test_transposed_programs(nonzero):
    program, flags = transpose_jaxpr(PROGRAM, (False, True), nonzero)
    assert transpose_jaxpr(PROGRAM, (False, True), nonzero)[0] is program and flags == [any(nonzero)]
    outs = jaxpr_as_fun(program)(V, *[V for flag in nonzero if flag])
    wanted = nonzero[0] * np.sin(V) * V + nonzero[1] * 3 * V
    assert len(outs) == any(nonzero)
    for out in outs:
        np.testing.assert_allclose(out, wanted, rtol=1e-6)


def test_an_operation_without_a_rule_is_named():
    p = Primitive("test_no_transpose", kernel=lambda x: x, abstract_eval=lambda x: x)
    jaxpr = jax.make_jaxpr(lambda x: p.bind(x))(V)
    with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'test_no_transpose' not implemented"):
        backward_pass(jaxpr, (), [UndefinedPrimal(V.aval)], [V])


def test_equations_of_the_backward_pass_keep_their_lines():
    jaxpr = jax.make_jaxpr(jnp.cumsum)(V)
    program, _ = transpose_jaxpr(jaxpr, (True,), (True,))
    assert all(
        e.source_info is not None and e.source_info.backward for e in program.eqns if e.primitive.name == "cumsum"
    )
