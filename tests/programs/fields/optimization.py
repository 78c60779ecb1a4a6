"""Minimization: L-BFGS, conjugate gradients, least squares, proximal steps, Adam, the simplex of Nelder and Mead."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**lbfgs(jax), **fitting(jax), **lasso(jax), **adam(jax), **simplex(jax), **differential_evolution(jax)}


def lbfgs(jax):
    """L-BFGS with a history of eight steps and a line search, on the function of Rosenbrock."""
    jnp, lax = jax.numpy, jax.lax

    def rosenbrock(x):
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def direction(slope, s, y, rho):
        def down(q, row):
            s, y, rho = row
            alpha = rho * jnp.dot(s, q)
            return q - alpha * y, alpha

        def up(r, row):
            s, y, rho, alpha = row
            return r + s * (alpha - rho * jnp.dot(y, r)), None

        q, alphas = lax.scan(down, slope, (s, y, rho), reverse=True)
        scale = jnp.where(rho[-1] > 0, jnp.dot(s[-1], y[-1]) / jnp.maximum(jnp.dot(y[-1], y[-1]), 1e-12), 1e-3)
        return -lax.scan(up, scale * q, (s, y, rho, alphas))[0]

    def search(x, value, slope, along):
        descent = jnp.dot(slope, along)

        def too_long(state):
            size, count = state
            return (rosenbrock(x + size * along) > value + 1e-4 * size * descent) & (count < 20)

        return lax.while_loop(too_long, lambda s: (s[0] * 0.5, s[1] + 1), (jnp.float32(1), 0))[0]

    def step(state, _):
        x, value, slope, s, y, rho = state
        along = direction(slope, s, y, rho)
        new = x + search(x, value, slope, along) * along
        new_value, new_slope = jax.value_and_grad(rosenbrock)(new)
        ds, dy = new - x, new_slope - slope
        curvature = jnp.dot(ds, dy)
        push = lambda rows, row: jnp.concatenate([rows[1:], row[None]])
        ok = curvature > 1e-10
        s, y = jnp.where(ok, push(s, ds), s), jnp.where(ok, push(y, dy), y)
        rho = jnp.where(ok, push(rho, 1 / jnp.where(ok, curvature, 1.0)), rho)
        return (new, new_value, new_slope, s, y, rho), new_value

    x = jnp.linspace(-1.0, 1.5, 16)
    history = (jnp.zeros((8, 16)), jnp.zeros((8, 16)), jnp.zeros(8))
    start = (x, *jax.value_and_grad(rosenbrock)(x), *history)
    return {
        "L-BFGS: step": (lambda *state: step(state, None), start),
        "L-BFGS: 10 steps": (lambda *state: lax.scan(step, state, None, 10)[1], start),
    }


def fitting(jax):
    """Peaks fitted to a spectrum by the method of Levenberg and Marquardt."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(8)
    x = jnp.linspace(0.0, 10.0, 100)

    def peaks(p):
        heights, centres, widths = p.reshape(3, 3)
        return jnp.sum(heights[:, None] * jnp.exp(-0.5 * ((x - centres[:, None]) / widths[:, None]) ** 2), 0)

    truth = jnp.asarray([1.0, 2.0, 0.7, 2.0, 5.0, 8.0, 0.5, 0.8, 0.6])
    noisy = peaks(truth) + jnp.asarray(rng.normal(size=100, scale=0.02).astype(np.float32))

    def step(state, _):
        p, damping = state
        residual = peaks(p) - noisy
        slopes = jax.jacfwd(peaks)(p)
        normal = slopes.T @ slopes
        move = jnp.linalg.solve(normal + damping * jnp.diag(jnp.diag(normal)), slopes.T @ residual)
        new = p - move
        better = jnp.sum((peaks(new) - noisy) ** 2) < jnp.sum(residual**2)
        return (jnp.where(better, new, p), jnp.where(better, damping / 3, damping * 2)), jnp.sum(residual**2)

    start = (truth * 1.1, jnp.float32(0.1))
    return {
        "Levenberg-Marquardt: step": (lambda *s: step(s, None)[0], start),
        "Levenberg-Marquardt: 8 steps": (lambda *s: lax.scan(step, s, None, 8), start),
    }


def lasso(jax):
    """Sparse regression by accelerated proximal steps, until the coefficients settle."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(9)
    x = jnp.asarray(rng.normal(size=(100, 50)).astype(np.float32))
    w = np.zeros(50, np.float32)
    w[:5] = 1
    y = x @ jnp.asarray(w)
    rate = 1 / float(np.linalg.norm(np.asarray(x), 2)) ** 2

    def shrink(v, by):
        return jnp.sign(v) * jnp.maximum(jnp.abs(v) - by, 0)

    def step(state):
        w, z, t, _, count = state
        new = shrink(z - rate * (x.T @ (x @ z - y)), rate * 0.5)
        later = (1 + jnp.sqrt(1 + 4 * t * t)) / 2
        z = new + (t - 1) / later * (new - w)
        return new, z, later, jnp.max(jnp.abs(new - w)), count + 1

    def solve(w):
        start = (w, w, jnp.float32(1), jnp.float32(1), 0)
        return lax.while_loop(lambda s: (s[3] > 1e-3) & (s[4] < 50), step, start)[0]

    zeros = jnp.zeros(50)
    return {
        "lasso: step": (lambda w: step((w, w, 1.0, 1.0, 0)), (zeros,)),
        "lasso: until it settles": (solve, (zeros,)),
    }


def adam(jax):
    """A training step of a network with dropout, clipped gradients, a schedule and Adam."""
    jnp, nn, random = jax.numpy, jax.nn, jax.random
    rng = np.random.default_rng(10)
    sizes = (16, 64, 64, 4)
    params = [
        {"w": jnp.asarray(rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32)), "b": jnp.zeros(m)}
        for n, m in zip(sizes[:-1], sizes[1:])
    ]

    def apply(params, x, key):
        for layer, sub in zip(params[:-1], random.split(key, len(params) - 1)):
            x = nn.relu(x @ layer["w"] + layer["b"])
            x = jnp.where(random.bernoulli(sub, 0.9, x.shape), x / 0.9, 0.0)
        return x @ params[-1]["w"] + params[-1]["b"]

    def loss(params, x, labels, key):
        scores = nn.log_softmax(apply(params, x, key))
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))

    def train(params, means, squares, count, x, labels, key):
        value, slopes = jax.value_and_grad(loss)(params, x, labels, key)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(slopes)))
        slopes = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), slopes)
        count = count + 1
        rate = 1e-3 * jnp.minimum(count / 100, 1.0) * 0.5 * (1 + jnp.cos(jnp.pi * count / 1000))
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
        squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, squares, slopes)

        def move(p, m, v):
            return p - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

        return jax.tree.map(move, params, means, squares), means, squares, count, value

    zeros = jax.tree.map(jnp.zeros_like, params)
    x = jnp.asarray(rng.normal(size=(32, 16)).astype(np.float32))
    labels = jnp.asarray(rng.integers(0, 4, 32))
    args = (params, zeros, zeros, jnp.float32(10), x, labels, random.key(6))
    return {"Adam: training step of a network": (train, args)}


def simplex(jax):
    """The method of Nelder and Mead in four variables: sorts and nested branches."""
    jnp, lax = jax.numpy, jax.lax

    def himmelblau(x):
        pairs = x.reshape(2, 2)
        a, b = pairs[:, 0], pairs[:, 1]
        return jnp.sum((a * a + b - 11) ** 2 + (a + b * b - 7) ** 2)

    def step(state, _):
        points, values = state
        order = jnp.argsort(values)
        points, values = points[order], values[order]
        centre = points[:-1].mean(0)
        mirror = centre + (centre - points[-1])
        value = himmelblau(mirror)

        def expand():
            far = centre + 2 * (centre - points[-1])
            far_value = himmelblau(far)
            better = far_value < value
            new = jnp.where(better, far, mirror)
            return points.at[-1].set(new), values.at[-1].set(jnp.where(better, far_value, value))

        def reflect():
            return points.at[-1].set(mirror), values.at[-1].set(value)

        def contract():
            near = centre + 0.5 * (points[-1] - centre)
            near_value = himmelblau(near)

            def shrink():
                closer = points[0] + 0.5 * (points - points[0])
                return closer, jax.vmap(himmelblau)(closer)

            keep = lambda: (points.at[-1].set(near), values.at[-1].set(near_value))
            return lax.cond(near_value < values[-1], keep, shrink)

        which = jnp.where(value < values[0], 0, jnp.where(value < values[-2], 1, 2))
        state = lax.switch(which, [expand, reflect, contract])
        return state, state[1].min()

    points = jnp.asarray(np.concatenate([np.zeros((1, 4)), np.eye(4)]).astype(np.float32))
    start = (points, jax.vmap(himmelblau)(points))
    return {
        "Nelder-Mead: step": (lambda *s: step(s, None)[0], start),
        "Nelder-Mead: 40 steps": (lambda *s: lax.scan(step, s, None, 40)[1], start),
    }


def differential_evolution(jax):
    """A population that improves by differences of its members."""
    jnp, random = jax.numpy, jax.random

    def ackley(x):
        waves = jnp.exp(jnp.mean(jnp.cos(2 * jnp.pi * x)))
        return -20 * jnp.exp(-0.2 * jnp.sqrt(jnp.mean(x**2))) - waves + 20 + jnp.e

    def generation(population, values, key):
        crossing, *choosing = random.split(key, 4)
        a, b, c = (population[random.permutation(k, 32)] for k in choosing)
        mixed = jnp.where(random.uniform(crossing, (32, 6)) < 0.9, a + 0.7 * (b - c), population)
        new = jax.vmap(ackley)(mixed)
        better = new < values
        return jnp.where(better[:, None], mixed, population), jnp.where(better, new, values)

    population = jnp.asarray(np.random.default_rng(11).uniform(-5, 5, (32, 6)).astype(np.float32))
    args = (population, jax.vmap(ackley)(population), random.key(7))
    return {"differential evolution: generation": (generation, args)}
