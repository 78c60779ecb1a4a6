"""Partial differential equations and automata on grids: by roll, by slices, by convolution."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {
        **heat(jax), **wave(jax), **burgers(jax), **patterns(jax), **life(jax), **poisson(jax), **lattice_gas(jax),
        **shallow_water(jax),
    }  # fmt: skip


def bump(size):
    """A smooth bump on a square grid, and a column of noise beside it."""
    x, y = np.meshgrid(*[np.linspace(-1, 1, size)] * 2, indexing="ij")
    return np.exp(-8 * (x**2 + y**2)).astype(np.float32)


def heat(jax):
    """Heat in a plate: explicit steps, and the gradient of a later temperature with respect to the conductivity."""
    jnp, lax = jax.numpy, jax.lax
    plate = jnp.asarray(bump(64))

    def step(u, conductivity):
        around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return u + conductivity * (around - 4 * u)

    def simulate(u, conductivity):
        return lax.fori_loop(0, 50, lambda _, u: step(u, conductivity), u)

    def later(conductivity, u):
        u, _ = lax.scan(lambda u, _: (step(u, conductivity), None), u, None, 20)
        return jnp.mean(u[24:40, 24:40] ** 2)

    conductivity = jnp.full((64, 64), 0.1)
    return {
        "heat: step": (step, (plate, conductivity)),
        "heat: 50 steps": (simulate, (plate, conductivity)),
        "heat: gradient through 20 steps": (jax.grad(later), (conductivity, plate)),
    }


def wave(jax):
    """The wave equation on a string and on a membrane, with fixed ends, by slices."""
    jnp, lax = jax.numpy, jax.lax

    def string_step(state, _):
        u, before = state
        inner = 2 * u[1:-1] - before[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return (u.at[1:-1].set(inner), u), u[64]

    def membrane_step(u, before):
        laplace = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        inner = 2 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + 0.2 * laplace
        return jnp.pad(inner, 1), u

    line = jnp.asarray(np.exp(-(np.linspace(-4, 4, 128) ** 2)).astype(np.float32))
    plate = jnp.asarray(bump(96))
    return {
        "wave on a string: step": (lambda u, b: string_step((u, b), None)[0], (line, line)),
        "wave on a string: 100 steps": (lambda u, b: lax.scan(string_step, (u, b), None, 100)[1], (line, line)),
        "wave on a membrane: step": (membrane_step, (plate, plate)),
    }


def burgers(jax):
    """Burgers' equation with a flux limiter and two stages a step."""
    jnp, lax = jax.numpy, jax.lax

    def minmod(a, b):
        return 0.5 * (jnp.sign(a) + jnp.sign(b)) * jnp.minimum(jnp.abs(a), jnp.abs(b))

    def rate(u):
        slope = minmod(u - jnp.roll(u, 1), jnp.roll(u, -1) - u)
        left, right = u + 0.5 * slope, jnp.roll(u - 0.5 * slope, -1)
        speed = jnp.maximum(jnp.abs(left), jnp.abs(right))
        flux = 0.25 * (left**2 + right**2) - 0.5 * speed * (right - left)
        return -(flux - jnp.roll(flux, 1)) * 128

    def step(u, h=1e-3):
        first = u + h * rate(u)
        return 0.5 * (u + first + h * rate(first))

    line = jnp.asarray(np.sin(np.linspace(0, 2 * np.pi, 128, endpoint=False)).astype(np.float32) + 0.5)
    return {
        "Burgers' equation: step": (step, (line,)),
        "Burgers' equation: 50 steps": (lambda u: lax.fori_loop(0, 50, lambda _, u: step(u), u), (line,)),
    }


def patterns(jax):
    """Gray and Scott's reaction and diffusion, its Laplacian a convolution."""
    jnp, lax = jax.numpy, jax.lax
    weights = jnp.asarray([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])[None, None]

    def laplacian(u):
        padded = jnp.pad(u, 1, mode="wrap")
        return lax.conv_general_dilated(padded[None, None], weights, (1, 1), "VALID")[0, 0]

    def step(state, _):
        u, v = state
        reaction = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
            v + 0.08 * laplacian(v) + reaction - 0.095 * v,
        )
        return (u, v), None

    seed = bump(48)
    start = (jnp.asarray(1 - 0.5 * seed), jnp.asarray(0.5 * seed))
    return {
        "Gray-Scott: step": (lambda u, v: step((u, v), None)[0], start),
        "Gray-Scott: 20 steps": (lambda u, v: lax.scan(step, (u, v), None, 20)[0], start),
    }


def life(jax):
    """Conway's game on a torus of bytes, and elementary automata of one line."""
    jnp, lax = jax.numpy, jax.lax

    def step(board):
        count = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        return ((count == 3) | ((board == 1) & (count == 2))).astype(board.dtype)

    def rule(cells, number):
        table = (number >> jnp.arange(8)) & 1

        def advance(cells, _):
            code = 4 * jnp.roll(cells, 1) + 2 * cells + jnp.roll(cells, -1)
            return table[code], cells

        return lax.scan(advance, cells, None, 64)[1].sum(0)

    board = jnp.asarray(np.random.default_rng(12).integers(0, 2, (64, 64)).astype(np.uint8))
    cells = jnp.zeros(129, jnp.int32).at[64].set(1)
    return {
        "game of life: step": (step, (board,)),
        "game of life: 50 steps": (lambda b: lax.fori_loop(0, 50, lambda _, b: step(b), b), (board,)),
        "elementary automaton: 64 lines": (rule, (cells, jnp.int32(110))),
    }


def poisson(jax):
    """Poisson's equation by Jacobi's method until it settles, and one multigrid cycle."""
    jnp, lax = jax.numpy, jax.lax
    source = jnp.asarray(bump(33) - bump(33).mean())

    def sweep(u, f):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].set(0.25 * (around + f[1:-1, 1:-1]))

    def residual(u, f):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return jnp.pad(f[1:-1, 1:-1] + around - 4 * u[1:-1, 1:-1], 1)

    def settle(f):
        def step(state):
            u, _, count = state
            new = sweep(u, f)
            return new, jnp.max(jnp.abs(new - u)), count + 1

        start = (jnp.zeros_like(f), jnp.float32(1), 0)
        return lax.while_loop(lambda s: (s[1] > 1e-3) & (s[2] < 100), step, start)[0]

    def cycle(u, f):
        u = lax.fori_loop(0, 2, lambda _, u: sweep(u, f), u)
        if f.shape[0] > 5:
            coarse = 4 * residual(u, f)[::2, ::2]
            error = cycle(jnp.zeros_like(coarse), coarse)
            u = u + jax.image.resize(error, u.shape, "linear")
        return lax.fori_loop(0, 2, lambda _, u: sweep(u, f), u)

    return {
        "Poisson's equation: Jacobi sweeps": (settle, (source,)),
        "Poisson's equation: multigrid cycle": (cycle, (jnp.zeros_like(source), source)),
    }


def lattice_gas(jax):
    """A lattice Boltzmann step in nine directions, with an obstacle."""
    jnp, lax = jax.numpy, jax.lax
    steps = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
    weights = jnp.asarray([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    obstacle = jnp.asarray(bump(48)[:, 8:40] > 0.8)
    directions = jnp.asarray(steps, jnp.float32)

    def equilibrium(density, velocity):
        along = jnp.einsum("qd,dxy->qxy", directions, velocity)
        return weights[:, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * jnp.sum(velocity**2, 0))

    def step(f, _):
        density = f.sum(0)
        velocity = jnp.einsum("qd,qxy->dxy", directions, f) / density
        f = f + (equilibrium(density, velocity) - f) / 0.6
        f = jnp.where(obstacle, f[opposite], f)
        f = jnp.stack([jnp.roll(f[q], tuple(map(int, steps[q])), (0, 1)) for q in range(9)])
        return f, velocity[0].mean()

    flow = jnp.zeros((2, 48, 32)).at[0].set(0.1)
    start = equilibrium(jnp.ones((48, 32)), flow)
    return {
        "lattice Boltzmann: step": (lambda f: step(f, None)[0], (start,)),
        "lattice Boltzmann: 20 steps": (lambda f: lax.scan(step, f, None, 20)[1], (start,)),
    }


def shallow_water(jax):
    """The shallow-water equations on a staggered grid in a dictionary of fields."""
    jnp, lax = jax.numpy, jax.lax

    def step(s, h=0.02):
        u = s["u"] - h * 9.8 * (jnp.roll(s["depth"], -1, 0) - s["depth"])
        v = s["v"] - h * 9.8 * (jnp.roll(s["depth"], -1, 1) - s["depth"])
        u, v = u + h * v * 0.1, v - h * u * 0.1
        east, north = (
            0.5 * (s["depth"] + jnp.roll(s["depth"], -1, 0)) * u,
            0.5 * (s["depth"] + jnp.roll(s["depth"], -1, 1)) * v,
        )
        outflow = east - jnp.roll(east, 1, 0) + north - jnp.roll(north, 1, 1)
        return {"depth": s["depth"] - h * outflow, "u": u, "v": v}

    still = jnp.zeros((64, 64))
    start = {"depth": jnp.asarray(1 + 0.1 * bump(64)), "u": still, "v": still}
    return {
        "shallow water: step": (step, (start,)),
        "shallow water: 25 steps": (lambda s: lax.fori_loop(0, 25, lambda _, s: step(s), s), (start,)),
    }
