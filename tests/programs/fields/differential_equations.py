"""Ordinary differential equations: fixed and adaptive steps, fits through a solver, a continuous adjoint."""

import functools

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**lorenz(jax), **predators(jax), **van_der_pol(jax), **neural_ode(jax), **reaction_network(jax)}


def runge_kutta(field, y, t, h):
    """The state one step of the classical fourth-order method later."""
    k1 = field(y, t)
    k2 = field(y + h / 2 * k1, t + h / 2)
    k3 = field(y + h / 2 * k2, t + h / 2)
    k4 = field(y + h * k3, t + h)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz(jax):
    """Trajectories of the Lorenz system, and its largest Lyapunov exponent by a tangent vector carried along."""
    jnp, lax = jax.numpy, jax.lax

    def field(y, t):
        return jnp.stack([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])

    def step(y):
        return runge_kutta(field, y, 0.0, 0.01)

    def trajectory(y):
        return lax.scan(lambda y, _: (step(y), y), y, None, 100)[1]

    def lyapunov(y, direction):
        def advance(state, _):
            y, v = state
            y, v = jax.jvp(step, (y,), (v,))
            size = jnp.linalg.norm(v)
            return (y, v / size), jnp.log(size)

        _, growth = lax.scan(advance, (y, direction), None, 50)
        return growth.mean() / 0.01

    start = jnp.asarray([1.0, 1.0, 20.0])
    many = jnp.asarray(np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32) + 5)
    return {
        "Lorenz: step": (step, (start,)),
        "Lorenz: step of 64 systems": (step, (many,)),
        "Lorenz: 100 steps": (trajectory, (start,)),
        "Lorenz: Lyapunov exponent": (lyapunov, (start, jnp.asarray([1.0, 0.0, 0.0]))),
    }


def predators(jax):
    """Rates of a predator-prey model fitted to observations, by gradients through the solver."""
    jnp, lax = jax.numpy, jax.lax

    def field(y, rates):
        prey, predator = y
        a, b, c, d = rates
        return jnp.array([a * prey - b * prey * predator, -c * predator + d * prey * predator])

    def solve(rates, y, times):
        def step(y, h):
            y = runge_kutta(lambda y, t: field(y, rates), y, 0.0, h)
            return y, y

        return lax.scan(step, y, jnp.diff(times))[1]

    def loss(log_rates, y, times, observed):
        return jnp.mean((jnp.log(solve(jnp.exp(log_rates), y, times)) - jnp.log(observed)) ** 2)

    def descend(log_rates, y, times, observed):
        value, slope = jax.value_and_grad(loss)(log_rates, y, times, observed)
        return log_rates - 0.05 * slope, value

    def sensitivities(log_rates, y, times):
        return jax.jacfwd(lambda r: solve(jnp.exp(r), y, times)[-1])(log_rates)

    y, times = jnp.asarray([10.0, 5.0]), jnp.linspace(0.0, 5.0, 51)
    guess = jnp.log(jnp.asarray([1.0, 0.1, 1.4, 0.1]))
    observed = solve(jnp.asarray([1.1, 0.11, 1.2, 0.09]), y, times)
    return {
        "predators and prey: solution": (lambda r: solve(jnp.exp(r), y, times), (guess,)),
        "predators and prey: step of a fit": (descend, (guess, y, times, observed)),
        "predators and prey: sensitivities": (sensitivities, (guess, y, times)),
    }


# Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980.
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def adaptive(jax, field, y, t0, t1, *args, tolerance=1e-3):
    """The state at t1, and the number of steps, of the adaptive method of order 5."""
    jnp, lax = jax.numpy, jax.lax

    def attempt(y, t, h):
        slopes = []
        for row in STAGES:
            inner = sum((c * k for c, k in zip(row, slopes) if c), jnp.zeros_like(y))
            slopes.append(field(y + h * inner, t + h * sum(row), *args))
        new = y + h * sum(c * k for c, k in zip(STAGES[-1], slopes) if c)
        error = h * sum(c * k for c, k in zip(ERRORS, slopes) if c)
        scale = tolerance * (1 + jnp.maximum(jnp.abs(y), jnp.abs(new)))
        return new, jnp.sqrt(jnp.mean((error / scale) ** 2))

    def step(state):
        y, t, h, count = state
        h = jnp.minimum(h, t1 - t)
        new, error = attempt(y, t, h)
        accepted = error <= 1
        factor = jnp.clip(0.9 * jnp.maximum(error, 1e-6) ** -0.2, 0.2, 5.0)
        return jnp.where(accepted, new, y), jnp.where(accepted, t + h, t), h * factor, count + 1

    start = (y, jnp.float32(t0), jnp.float32(0.05), 0)
    y, _, _, count = lax.while_loop(lambda s: (s[1] < t1) & (s[3] < 1000), step, start)
    return y, count


def van_der_pol(jax):
    """An oscillator by adaptive steps, with the adjoint equation solved backward for the gradient."""
    jnp = jax.numpy

    def field(y, t, mu):
        return jnp.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    @jax.custom_vjp
    def flow(y, mu):
        return adaptive(jax, field, y, 0.0, 2.0, mu)[0]

    def forward(y, mu):
        end = flow(y, mu)
        return end, (end, mu)

    def backward(saved, bar):
        end, mu = saved

        def augmented(state, t):
            y, adjoint = state[:2], state[2:4]
            velocity, pull = jax.vjp(lambda y, mu: field(y, t, mu), y, mu)
            y_bar, mu_bar = pull(adjoint)
            return -jnp.concatenate([velocity, -y_bar, -mu_bar[None]])

        state = jnp.concatenate([end, bar, jnp.zeros(1)])
        state, _ = adaptive(jax, augmented, state, 0.0, 2.0)
        return state[2:4], state[4]

    flow.defvjp(forward, backward)
    y = jnp.asarray([2.0, 0.0])
    return {
        "Van der Pol: adaptive steps": (lambda y, mu: adaptive(jax, field, y, 0.0, 2.0, mu)[0], (y, 1.5)),
        "Van der Pol: adjoint": (jax.grad(lambda y, mu: flow(y, mu)[0], argnums=(0, 1)), (y, 1.5)),
    }


def neural_ode(jax):
    """A training step of a network that is the right-hand side of a differential equation."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(1)
    draw = lambda *shape: jnp.asarray(rng.normal(size=shape, scale=0.3).astype(np.float32))
    params = {"w1": draw(3, 32), "b1": draw(32), "w2": draw(32, 2), "b2": draw(2)}

    def field(y, t, p):
        times = jnp.full((*y.shape[:-1], 1), t)
        return jnp.tanh(jnp.concatenate([y, times], -1) @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def flow(p, y):
        advance = jax.checkpoint(lambda y, t: (runge_kutta(functools.partial(field, p=p), y, t, 0.1), None))
        return lax.scan(advance, y, jnp.arange(10) * 0.1)[0]

    def loss(p, y, target):
        return jnp.mean((flow(p, y) - target) ** 2)

    @functools.partial(jax.jit, static_argnames="rate")
    def train(p, y, target, rate=0.1):
        value, slopes = jax.value_and_grad(loss)(p, y, target)
        return jax.tree.map(lambda p, g: p - rate * g, p, slopes), value

    y, target = draw(16, 2), draw(16, 2)
    return {
        "neural ODE: flow": (flow, (params, y)),
        "neural ODE: training step": (train, (params, y, target)),
    }


def reaction_network(jax):
    """Robertson's stiff reactions by implicit Euler steps, each solved by Newton's method."""
    jnp, lax = jax.numpy, jax.lax

    def field(y):
        slow, fast, back = 0.04 * y[0], 3e3 * y[1] ** 2, 1e2 * y[1] * y[2]
        return jnp.stack([back - slow, slow - back - fast, fast])

    def implicit_step(y, h):
        residual = lambda z: z - y - h * field(z)

        def newton(z, _):
            return z - jnp.linalg.solve(jax.jacfwd(residual)(z), residual(z)), None

        z, _ = lax.scan(newton, y, None, 4)
        return z, z

    y = jnp.asarray([1.0, 0.0, 0.0])
    return {
        "stiff reactions: step": (lambda y: implicit_step(y, 0.1)[0], (y,)),
        "stiff reactions: 40 steps": (lambda y: lax.scan(implicit_step, y, jnp.full(40, 0.1))[1], (y,)),
    }
