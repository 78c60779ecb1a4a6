"""Random numbers, sorting, the largest of many, callbacks."""

import numpy as np

from benchmarks.cases import Case


def kernel_cases(jax):
    """What runs by kernels of its own rather than by general operators: random numbers, sorting, callbacks."""
    jnp, random = jax.numpy, jax.random
    key, many = random.key(0), (1_000_000,)
    bits, normal = lambda k: random.bits(k, many), lambda k: random.normal(k, many)
    numbers = normal(key)
    host = lambda v: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((10,), np.float32), v)
    walk = lambda k: jax.lax.fori_loop(0, 1000, lambda i, c: c + random.uniform(random.fold_in(k, i)), 0.0)
    short = jnp.arange(10, dtype=jnp.float32)
    for name, function, argument in (
        ("1e6 random bits", bits, key),
        ("1e6 normal numbers", normal, key),
        ("sort, f32[1e6]", jnp.sort, numbers),
        ("argsort, f32[1e6]", jnp.argsort, numbers),
        ("top_k of 100, f32[1e6]", lambda v: jax.lax.top_k(v, 100), numbers),
        ("pure_callback, f32[10]", host, short),
    ):
        yield Case(f"eager {name}", function, (argument,), jit=False, seconds=0.5)
        yield Case(f"jitted {name}", function, (argument,), seconds=0.5)
    yield Case("jitted 1000 steps of fold_in and uniform", walk, (key,), seconds=0.5)


def random_cases(jax):
    """Compiled loops of many short steps that draw random numbers, and some arithmetic."""
    jnp, random, lax = jax.numpy, jax.random, jax.lax
    key, point = random.key(0), jnp.linspace(-1, 1, 32, dtype=jnp.float32)

    def noise(i, state):
        key, x = state
        key, sub = random.split(key)
        return key, 0.9 * x + 0.1 * random.normal(sub, (32,))

    def metropolis(state, _):
        key, x = state
        key, moving, accepting = random.split(key, 3)
        new = x + 0.3 * random.normal(moving, x.shape)
        better = jnp.exp(0.5 * (x * x - new * new))
        return (key, jnp.where(random.uniform(accepting, x.shape) < better, new, x)), jnp.sum(x)

    def langevin(x, key):
        x = x - 0.01 * x**3 + 0.1 * random.normal(key, x.shape, jnp.float32)
        return x, None

    def dropout(i, x):
        kept = random.bernoulli(random.fold_in(key, i), 0.9, x.shape)
        return jnp.where(kept, jnp.tanh(x) / 0.9, 0.0) + 0.1

    def walk(i, state):
        key, x = state
        key, sub = random.split(key)
        return key, x + random.choice(sub, jnp.array([-1.0, 1.0]))

    def dice(i, state):
        key, counts = state
        key, sub = random.split(key)
        return key, counts + random.randint(sub, (16,), 0, 6)

    for name, function, argument in (
        ("split and normal, f32[32]", lambda s: lax.fori_loop(0, 1000, noise, s), (key, point)),
        ("Metropolis, f32[32]", lambda s: lax.scan(metropolis, s, None, 1000), (key, point)),
        (
            "Langevin over 1000 keys, f32[32]",
            lambda s: lax.scan(langevin, s[1], random.split(s[0], 1000)),
            (key, point),
        ),
        ("dropout by fold_in, f32[32]", lambda x: lax.fori_loop(0, 1000, dropout, x), point),
        ("split and choice, f32[]", lambda s: lax.fori_loop(0, 1000, walk, s), (key, jnp.float32(0))),
        ("split and randint, i32[16]", lambda s: lax.fori_loop(0, 1000, dice, s), (key, jnp.zeros(16, jnp.int32))),
    ):
        yield Case(f"1000 steps of {name}", function, (argument,), seconds=0.5)


def top_k_cases(jax):
    """The largest of many."""
    numbers = jax.random.normal(jax.random.key(0), (1_000_000,))
    for shape, k, dtype in (
        ((1_000_000,), 1, "float32"),
        ((1_000_000,), 100, "float32"),
        ((1_000_000,), 5000, "float32"),
        ((1_000_000,), 100, "int32"),
        ((1000, 1000), 10, "float32"),
        ((64, 10_000), 50, "float32"),
        ((8, 1000), 5, "float32"),
    ):
        values = numbers.ravel()[: shape[0] * shape[-1] if len(shape) > 1 else shape[0]].reshape(shape)
        values = (values * 1e6).astype(dtype) if dtype == "int32" else values
        largest = lambda v, k=k: jax.lax.top_k(v, k)
        yield Case(f"top_k of {k}, {dtype}{list(shape)}", largest, (values,), seconds=0.3)
