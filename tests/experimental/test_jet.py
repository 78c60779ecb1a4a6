"""Taylor-mode derivatives against derivatives of the polynomial's image."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental.jet import fact, jet, zero_series, zero_term

X, SERIES = np.float32(0.75), (np.float32(0.5), np.float32(-1), np.float32(2))


@pytest.mark.parametrize("f", [jnp.sin, lambda x: jnp.tanh(x) * x, lambda x: jax.jit(jnp.exp)(x) / x, jax.nn.gelu])
def test_derivatives_along_a_curve(f):
    curve = lambda t: X + SERIES[0] * t + SERIES[1] * t**2 / 2 + SERIES[2] * t**3 / 6
    g, wanted = lambda t: f(curve(t)), []
    for _ in range(4):
        wanted.append(g(0.0))
        g = jax.grad(g)
    value, series = jax.jit(lambda x, s: jet(f, (x,), (s,)))(X, SERIES)
    np.testing.assert_allclose([value, *series], wanted, rtol=2e-5)


def test_polynomials_have_factorials_left_out():
    x = jnp.arange(3.0)
    _, series = jet(lambda x: x**3, (x,), ([jnp.ones(3), jnp.zeros(3), jnp.zeros(3)],), factorial_scaled=False)
    np.testing.assert_allclose(series, [3 * x**2, 3 * x, jnp.ones(3)], rtol=1e-6)


def test_programs_within():
    def loop(x):
        return jax.lax.scan(lambda c, _: (jnp.sin(c), c), x, length=3)[0]

    value, (first, second) = jet(loop, (0.5,), ((1.0, 0.0),))
    np.testing.assert_allclose(first, jax.grad(loop)(0.5), rtol=1e-6)
    np.testing.assert_allclose(second, jax.grad(jax.grad(loop))(0.5), rtol=1e-5)
    assert value == loop(0.5)


def test_no_series():
    assert jet(jnp.sin, (1.0,), ((),)) == (jnp.sin(1.0), [])
    with pytest.raises(ValueError, match="inconsistent lengths"):
        jet(jnp.add, (1.0, 2.0), ((1.0,), ()))


def test_factorials():
    np.testing.assert_allclose([float(fact(n)) for n in range(6)], [1, 1, 2, 6, 24, 120], rtol=1e-5)
    np.testing.assert_allclose(fact(jnp.arange(4)), [1, 1, 2, 6], rtol=1e-5)


def test_results_that_are_no_floats_have_derivatives_0():
    for f in (lambda x: x > 0, lambda x: jnp.sin(x).astype(int)):
        _, series = jet(f, (1.0,), ((1.0, 2.0),))
        assert series == [0, 0] and series[0].dtype == jnp.float32


def test_one_term_for_all_elements():
    _, (rate,) = jet(jnp.sin, (jnp.ones(3),), ((1.0,),))
    assert (rate == jnp.cos(jnp.ones(3))).all()


def test_zeros_of_jax_rules():
    _, series = jet(lambda x: 2.0, (1.0,), ((1.0, 0.0),))
    assert series is not zero_series and [float(t) for t in series] == [0.0, 0.0]
    for zero in (zero_series, zero_term):
        leaves, tree = jax.tree.flatten(zero)
        assert leaves == [] and jax.tree.unflatten(tree, []) is zero
