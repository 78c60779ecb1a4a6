"""Optimal control: Riccati's equation, iLQR, the cross-entropy method, an unscented look at a drone."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**regulator(jax), **ilqr(jax), **cross_entropy(jax), **shooting(jax)}


def regulator(jax):
    """The gains of a linear-quadratic regulator over a horizon, and until they settle."""
    jnp, lax = jax.numpy, jax.lax
    a = jnp.asarray(np.kron([[1, 0.1], [0, 1]], np.eye(2)), jnp.float32)
    b = jnp.asarray(np.kron([[0.005], [0.1]], np.eye(2)), jnp.float32)

    def step(p, _):
        gain = jnp.linalg.solve(0.1 * jnp.eye(2) + b.T @ p @ b, b.T @ p @ a)
        return jnp.eye(4) + a.T @ p @ (a - b @ gain), gain

    def settle(p):
        def again(state):
            p, _, count = state
            new, _ = step(p, None)
            return new, jnp.max(jnp.abs(new - p)), count + 1

        return lax.while_loop(lambda s: (s[1] > 1e-2) & (s[2] < 100), again, (p, jnp.float32(1), 0))[0]

    p = jnp.eye(4)
    return {
        "regulator: step": (lambda p: step(p, None), (p,)),
        "regulator: 50 steps": (lambda p: lax.scan(step, p, None, 50)[1], (p,)),
        "regulator: until it settles": (settle, (p,)),
    }


def cart_pole(jnp, x, force):
    """A cart and its pole, 0.05 s later."""
    place, angle, speed, turning = x
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = (force + 0.05 * turning**2 * sine) / 1.1
    spin = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    pull = push - 0.05 * spin * cosine / 1.1
    return jnp.stack([place + 0.05 * speed, angle + 0.05 * turning, speed + 0.05 * pull, turning + 0.05 * spin])


def ilqr(jax):
    """Iterative linear-quadratic regulation of a cart with a pole."""
    jnp, lax = jax.numpy, jax.lax
    goal = jnp.asarray([1.0, 0.0, 0.0, 0.0])

    def dynamics(x, u):
        return cart_pole(jnp, x, u[0])

    def cost(x, u):
        return 0.5 * jnp.sum((x - goal) ** 2 * jnp.asarray([1.0, 4.0, 0.1, 0.1])) + 0.005 * jnp.sum(u**2)

    def rollout(x, us):
        step = lambda x, u: (dynamics(x, u), (x, cost(x, u)))
        last, (xs, costs) = lax.scan(step, x, us)
        return jnp.concatenate([xs, last[None]]), costs.sum() + 10 * cost(last, jnp.zeros(1))

    def backward(xs, us):
        a, b = jax.vmap(jax.jacfwd(dynamics, (0, 1)))(xs[:-1], us)
        cx, cu = jax.vmap(jax.grad(cost, (0, 1)))(xs[:-1], us)
        (cxx, _), (cux, cuu) = jax.vmap(jax.hessian(cost, (0, 1)))(xs[:-1], us)

        def step(value, row):
            vx, vxx = value
            a, b, cx, cu, cxx, cux, cuu = row
            qx, qu = cx + a.T @ vx, cu + b.T @ vx
            qxx, qux, quu = cxx + a.T @ vxx @ a, cux + b.T @ vxx @ a, cuu + b.T @ vxx @ b + 1e-3 * jnp.eye(1)
            open_loop, gain = -jnp.linalg.solve(quu, qu), -jnp.linalg.solve(quu, qux)
            return (qx + gain.T @ qu, qxx + gain.T @ qux), (open_loop, gain)

        end = lambda x: 10 * cost(x, jnp.zeros(1))
        last = (jax.grad(end)(xs[-1]), jax.hessian(end)(xs[-1]))
        return lax.scan(step, last, (a, b, cx, cu, cxx, cux, cuu), reverse=True)[1]

    def improve(x, us):
        xs, total = rollout(x, us)
        moves, gains = backward(xs, us)

        def follow(size):
            def step(x, row):
                old, u, move, gain = row
                u = u + size * move + gain @ (x - old)
                return dynamics(x, u), u

            new = lax.scan(step, x, (xs[:-1], us, moves, gains))[1]
            return new, rollout(x, new)[1]

        tried, totals = jax.vmap(follow)(jnp.asarray([1.0, 0.5, 0.25, 0.125]))
        best = jnp.argmin(totals)
        return jnp.where(totals[best] < total, tried[best], us), total

    x, us = jnp.asarray([0.0, 0.2, 0.0, 0.0]), jnp.zeros((30, 1))
    return {
        "iLQR: rollout": (rollout, (x, us)),
        "iLQR: backward pass": (lambda x, us: backward(rollout(x, us)[0], us), (x, us)),
        "iLQR: iteration": (improve, (x, us)),
    }


def cross_entropy(jax):
    """Planning by the cross-entropy method: 64 plans are tried, the best eight are kept."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random

    def value(x, plan):
        def step(x, u):
            x = cart_pole(jnp, x, u)
            return x, -jnp.sum(x**2)

        return lax.scan(step, x, plan)[1].sum()

    def refine(x, mean, spread, key):
        plans = mean + spread * random.normal(key, (64, 15))
        values = jax.vmap(value, (None, 0))(x, plans)
        best = plans[lax.top_k(values, 8)[1]]
        return best.mean(0), best.std(0) + 1e-3, values.max()

    args = (jnp.asarray([0.3, 0.1, 0.0, 0.0]), jnp.zeros(15), jnp.ones(15), random.key(11))
    return {"cross-entropy method: step": (refine, args)}


def shooting(jax):
    """The gradient of a plan's cost through a rollout, and momentum steps along it."""
    jnp, lax = jax.numpy, jax.lax

    def cost(plan, x):
        def step(x, u):
            x = cart_pole(jnp, x, u)
            return x, jnp.sum(x**2) + 0.01 * u**2

        last, costs = lax.scan(step, x, plan)
        return costs.mean() + jnp.sum(last**2)

    def optimize(plan, x):
        def step(state, _):
            plan, velocity = state
            value, slope = jax.value_and_grad(cost)(plan, x)
            velocity = 0.9 * velocity - 0.05 * slope
            return (plan + velocity, velocity), value

        return lax.scan(step, (plan, jnp.zeros_like(plan)), None, 5)[1]

    args = (jnp.zeros(20), jnp.asarray([0.3, 0.1, 0.0, 0.0]))
    return {
        "shooting: gradient": (jax.value_and_grad(cost), args),
        "shooting: 5 steps": (optimize, args),
    }
