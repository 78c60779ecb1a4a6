"""odeint: solutions known in closed form, their gradients, trees, complex numbers, limits of steps."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.experimental.ode import odeint

T = np.linspace(0.0, 2.0, 6)


@pytest.fixture(autouse=True)
def double_precision():
    """What the default tolerances need."""
    with jax.enable_x64(True):
        yield


PROBLEMS = {  # derivative, start, solution
    "growth": (lambda y, t: 0.7 * y, 1.5, lambda t: 1.5 * np.exp(0.7 * t)),
    "of time": (lambda y, t: jnp.cos(t), 0.0, np.sin),
    "stiff": (lambda y, t: -50.0 * (y - 1), 0.0, lambda t: 1 - np.exp(-50 * t)),
    "complex": (lambda y, t: 1j * y, 1.0 + 0j, lambda t: np.exp(1j * t)),
    "resting": (lambda y, t: 0.0 * y, 3.0, lambda t: 3.0 + 0 * t),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("name", PROBLEMS)
def test_known_solutions(name, jitted):
    function, start, solution = PROBLEMS[name]
    solve = lambda y0: odeint(function, y0, T)
    got = (jax.jit(solve) if jitted else solve)(start)
    assert got.shape == T.shape and got.dtype == np.asarray(solution(T)).dtype
    np.testing.assert_allclose(got, solution(T), rtol=1e-6, atol=1e-7)


def test_trees_and_arguments():
    def oscillator(state, t, frequency):
        return {"x": state["v"], "v": -(frequency**2) * state["x"]}

    found = odeint(oscillator, {"x": jnp.ones(2), "v": jnp.zeros(2)}, T, 3.0)
    assert found["x"].shape == (6, 2)
    np.testing.assert_allclose(found["x"][:, 1], np.cos(3 * T), atol=1e-6)
    np.testing.assert_allclose(found["v"][:, 0], -3 * np.sin(3 * T), atol=1e-6)


def test_gradients_in_start_time_and_arguments():
    end = lambda y0, t, rate: odeint(lambda y, t, rate: rate * y, y0, t, rate)[-1]
    times = np.array([0.0, 1.5])
    y0_bar, t_bar, rate_bar = jax.jit(jax.grad(end, (0, 1, 2)))(2.0, times, 0.4)
    y = 2 * np.exp(0.6)
    np.testing.assert_allclose(y0_bar, y / 2, rtol=1e-6)
    np.testing.assert_allclose(t_bar, [-0.4 * y, 0.4 * y], rtol=1e-6)
    np.testing.assert_allclose(rate_bar, 1.5 * y, rtol=1e-6)
    closed_over = jax.grad(lambda rate: odeint(lambda y, t: rate * y, 2.0, times)[-1])(0.4)
    np.testing.assert_allclose(closed_over, 1.5 * y, rtol=1e-6)


def test_mapped_starts():
    starts = jnp.array([1.0, -2.0])
    found = jax.vmap(lambda y0: odeint(lambda y, t: -y, y0, T))(starts)
    np.testing.assert_allclose(found, starts[:, None] * np.exp(-T), rtol=1e-6)


def test_tolerances_and_limits():
    exact = np.exp(-50 * T[-1])
    errors = [
        abs(float(odeint(lambda y, t: y * jnp.cos(5 * t), 1.0, T, rtol=tol, atol=tol)[-1]) - np.exp(np.sin(10) / 5))
        for tol in (1e-3, 1e-6, 1e-9)
    ]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-8
    stopped = odeint(lambda y, t: -50 * y, 1.0, T, mxstep=1)
    assert abs(float(stopped[-1]) - exact) > 1e-3  # one step does not reach the time
    np.testing.assert_allclose(odeint(lambda y, t: y, 1.0, T, hmax=0.01), np.exp(T), rtol=1e-8)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((lambda y, t, name: y, 1.0, T, "text"), "must be arrays or scalars, but got text."),
        ((lambda y, t: y, 1.0, np.arange(3)), "t must be an array of floats"),
        ((lambda y, t: 1j * y, 1.0, T), "carry input and carry output must have equal types"),
        ((lambda y, t: y + t, np.float32(1), np.array(T)), "carry input and carry output must have equal types"),
    ],
)
def test_refusals(args, words):
    with pytest.raises(TypeError, match=words):
        odeint(*args)


def test_second_reverse_mode():
    solve = lambda a, y, t: odeint(lambda y, t, a: -a * y, y, t, a)[-1]
    t = jnp.array([0.0, 0.5, 1.0])
    of_rate = jax.grad(solve)
    np.testing.assert_allclose(jax.jacrev(of_rate)(2.0, 3.0, t), 3 * np.exp(-2.0), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(of_rate, 1)(2.0, 3.0, t), -np.exp(-2.0), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(of_rate, 2)(2.0, 3.0, t)[-1], 3 * np.exp(-2.0), rtol=1e-6)


def test_a_limit_of_steps_ends_where_it_does_in_jax():
    got = odeint(lambda y, t: jnp.sin(10 * t) - y, 1.0, jnp.linspace(0, 1, 4), mxstep=2, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(got, [1.0, 0.8918, 0.4836, 0.4793], atol=5e-5)  # JAX 0.10.2's


def test_gradients_of_weak_starts_are_not_weak():
    start = jax.grad(lambda y: odeint(lambda y, t: -y, y, jnp.array(T)).sum())(1.0)
    assert start.dtype == np.float64 and not start.weak_type
