"""log2, one_minus_square and polynomial: accuracy, edges, derivatives; the laws test every dtype."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax


@pytest.mark.parametrize("x", [np.float32(8), np.complex64(8), np.float16(8)], ids=lambda x: x.dtype.name)
def test_powers_of_two_have_integer_logarithms(x):
    assert lax.log2(x) == 3


def test_infinite_parts_stay_numbers():
    y = lax.log2(np.complex64([0, np.inf]))
    assert y.real.tolist() == [-np.inf, np.inf] and y.imag.tolist() == [0, 0]


def test_near_one_no_digits_are_lost():
    x = np.float32(1) - np.float32(0.0003)
    assert lax.one_minus_square(x) == np.float32(1 - float(x) ** 2) != 1 - x * x


def test_the_derivative_near_zero_is_not_lost():
    assert jax.grad(lax.one_minus_square)(np.float32(1e-30)) == np.float32(-2e-30)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_horners_rule(way):
    x, coefficients = np.linspace(-2, 2, 9).astype(np.float32), [3.0, -1.0, 0.5, 2.0]
    got = way(lambda x: lax.polynomial(x, coefficients))(x)
    np.testing.assert_array_equal(got, np.polynomial.polynomial.polyval(x, np.float32(coefficients)))


def test_the_derivative_is_one_polynomial_of_lower_degree():
    program = jax.make_jaxpr(jax.grad(lambda x: lax.polynomial(x, [1.0, 2.0, 3.0])))(2.0)
    assert [len(eqn.invars) for eqn in program.eqns if eqn.primitive is lax.polynomial_p] == [4, 3]


def test_linear_in_the_coefficients_alone():
    x, a = jnp.arange(3.0), jnp.ones(3)
    pull = jax.linear_transpose(lambda a: lax.polynomial(x, [1.0 * a, a, a]), a)
    assert pull(jnp.ones(3))[0].tolist() == [1, 3, 7]
    with pytest.raises(TypeError, match="linear in its coefficients"):
        jax.linear_transpose(lambda x: lax.polynomial_p.bind(x, a, a), x)(a)


def test_shapes_must_agree():
    with pytest.raises(TypeError, match=r"polynomial got incompatible shapes for broadcasting: \(2,\), \(3,\)\."):
        lax.polynomial(jnp.ones(2), [jnp.ones(3), 1.0])
    with pytest.raises(TypeError, match="same dtypes"):
        lax.polynomial_p.bind(jnp.ones(2), jnp.ones(2, jnp.int32))
