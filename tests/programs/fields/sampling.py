"""Markov chain Monte Carlo: Hamiltonian, Langevin, tempering, Ising model, simulated annealing."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**hamiltonian(jax), **tempering(jax), **ising(jax), **annealing(jax), **slices(jax)}


def hamiltonian(jax):
    """Hamiltonian Monte Carlo of a logistic regression's posterior."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    rng = np.random.default_rng(5)
    x = jnp.asarray(rng.normal(size=(200, 8)).astype(np.float32))
    labels = jnp.asarray(rng.integers(0, 2, 200).astype(np.float32))

    def log_density(w):
        scores = x @ w
        return jnp.sum(labels * scores - jnp.logaddexp(0.0, scores)) - 0.5 * jnp.sum(w**2)

    slope = jax.grad(log_density)

    def leapfrog(w, p, size, count):
        def step(_, state):
            w, p = state
            w = w + size * p
            return w, p + size * slope(w)

        p = p + 0.5 * size * slope(w)
        w, p = lax.fori_loop(0, count - 1, step, (w, p))
        w = w + size * p
        return w, p + 0.5 * size * slope(w)

    def transition(w, key):
        kicking, accepting = random.split(key)
        p = random.normal(kicking, w.shape)
        new, end = leapfrog(w, p, 0.05, 10)
        energy = lambda w, p: -log_density(w) + 0.5 * jnp.sum(p**2)
        accepted = jnp.log(random.uniform(accepting)) < energy(w, p) - energy(new, end)
        return jnp.where(accepted, new, w), accepted

    w, keys = jnp.zeros(8), random.split(random.key(1), 20)
    return {
        "Hamiltonian Monte Carlo: leapfrog": (lambda w, p: leapfrog(w, p, 0.05, 10), (w, jnp.ones(8))),
        "Hamiltonian Monte Carlo: transition": (transition, (w, keys[0])),
        "Hamiltonian Monte Carlo: 20 transitions": (lambda w, keys: lax.scan(transition, w, keys), (w, keys)),
        "Hamiltonian Monte Carlo: 4 chains": (jax.vmap(transition), (jnp.zeros((4, 8)), keys[:4])),
    }


def tempering(jax):
    """Parallel tempering over a density with several modes."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    centres = jnp.asarray([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    betas = jnp.geomspace(1.0, 0.05, 8)

    def log_density(x):
        return jax.nn.logsumexp(-0.5 * jnp.sum((x - centres) ** 2, -1) / 0.3)

    def exchange(key, x, energies, offset):
        lower = jnp.arange(8) + offset
        partner = jnp.where(jnp.arange(8) % 2 == offset, jnp.arange(8) + 1, jnp.arange(8) - 1)
        partner = jnp.clip(partner, 0, 7)
        gain = (betas - betas[partner]) * (energies[partner] - energies)
        draws = jnp.log(random.uniform(key, (8,)))
        accepted = draws[jnp.minimum(jnp.arange(8), partner)] < gain
        return jnp.where(accepted[:, None], x[partner], x), lower

    def sweep(x, step):
        key, offset = step
        moving, accepting, swapping = random.split(key, 3)
        new = x + random.normal(moving, x.shape) / jnp.sqrt(betas)[:, None] * 0.5
        old_density, density = jax.vmap(log_density)(x), jax.vmap(log_density)(new)
        accepted = jnp.log(random.uniform(accepting, (8,))) < betas * (density - old_density)
        x = jnp.where(accepted[:, None], new, x)
        x, _ = exchange(swapping, x, jnp.where(accepted, density, old_density), offset)
        return x, x[0]

    x, keys = jnp.zeros((8, 2)), random.split(random.key(2), 50)
    offsets = jnp.arange(50) % 2
    return {
        "parallel tempering: sweep": (lambda x, key: sweep(x, (key, 0)), (x, keys[0])),
        "parallel tempering: 50 sweeps": (lambda x, keys: lax.scan(sweep, x, (keys, offsets))[1], (x, keys)),
    }


def ising(jax):
    """Metropolis sweeps of the two-dimensional Ising model, one colour of the chessboard after the other."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    rows, columns = np.indices((32, 32))
    colour = jnp.asarray((rows + columns) % 2 == 0)

    def half(spins, draws, mask, beta):
        around = sum(jnp.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
        flipping = draws < jnp.exp(-2 * beta * (spins * around).astype(jnp.float32))
        return jnp.where(flipping & mask, -spins, spins)

    def sweep(spins, key, beta=0.44):
        draws = random.uniform(key, (2, 32, 32))
        spins = half(spins, draws[0], colour, beta)
        spins = half(spins, draws[1], ~colour, beta)
        return spins, spins.mean(dtype=jnp.float32)

    spins = jnp.asarray(np.random.default_rng(6).choice([-1, 1], (32, 32)).astype(np.int32))
    keys = random.split(random.key(3), 20)
    return {
        "Ising model: sweep": (sweep, (spins, keys[0])),
        "Ising model: 20 sweeps": (lambda s, keys: lax.scan(sweep, s, keys), (spins, keys)),
    }


def annealing(jax):
    """A short round trip through 24 cities by simulated annealing: a stretch of the trip is turned round."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    cities = jnp.asarray(np.random.default_rng(7).uniform(size=(24, 2)).astype(np.float32))

    def length(trip):
        at = cities[trip]
        return jnp.sum(jnp.sqrt(jnp.sum((at - jnp.roll(at, 1, 0)) ** 2, -1)))

    def turned(trip, first, last):
        places = jnp.arange(24)
        inside = (places >= first) & (places <= last)
        return trip[jnp.where(inside, first + last - places, places)]

    def step(state, stage):
        trip, size = state
        key, temperature = stage
        ends, accepting = random.split(key)
        first, last = jnp.sort(random.randint(ends, (2,), 0, 24))
        new = turned(trip, first, last)
        new_size = length(new)
        better = random.uniform(accepting) < jnp.exp((size - new_size) / temperature)
        return lax.cond(better, lambda: (new, new_size), lambda: (trip, size)), size

    trip, keys = jnp.arange(24), random.split(random.key(4), 100)
    heat = jnp.geomspace(0.5, 0.01, 100)
    start = (trip, length(trip))
    return {
        "simulated annealing: step": (lambda t, s, k, h: step((t, s), (k, h))[0], (*start, keys[0], heat[0])),
        "simulated annealing: 100 steps": (lambda t, s, k: lax.scan(step, (t, s), (k, heat))[0], (*start, keys)),
    }


def slices(jax):
    """Slice sampling: the slice is widened and narrowed by loops of unknown length."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random

    def log_density(x):
        return jnp.logaddexp(-0.5 * x**2, -0.5 * (x - 4.0) ** 2 * 4.0)

    def draw(x, key, width=1.0):
        height, place, shrinking = random.split(key, 3)
        level = log_density(x) + jnp.log(random.uniform(height))
        low = x - width * random.uniform(place)
        low = lax.while_loop(lambda v: log_density(v) > level, lambda v: v - width, low)
        high = lax.while_loop(lambda v: log_density(v) > level, lambda v: v + width, low + width)

        def narrow(state):
            key, low, high, new = state
            key, sub = random.split(key)
            low, high = jnp.where(new < x, new, low), jnp.where(new < x, high, new)
            return key, low, high, random.uniform(sub, minval=low, maxval=high)

        key, sub = random.split(shrinking)
        start = (key, low, high, random.uniform(sub, minval=low, maxval=high))
        new = lax.while_loop(lambda s: log_density(s[3]) < level, narrow, start)[3]
        return new, new

    keys = random.split(random.key(5), 8)
    return {
        "slice sampling: draw": (draw, (jnp.float32(0.5), keys[0])),
        "slice sampling: 8 draws": (lambda x, keys: lax.scan(draw, x, keys)[1], (jnp.float32(0.5), keys)),
    }
