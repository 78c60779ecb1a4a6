"""Compiled loops of 100 steps and their gradients."""

from benchmarks.cases import Case


def loop_programs(jax):
    """name -> (function, arguments): loops of 100 steps of every kind of work."""
    jnp, lax = jax.numpy, jax.lax
    few, table = jnp.linspace(-1, 1, 8, dtype=jnp.float32), jnp.linspace(-1, 1, 512, dtype=jnp.float32).reshape(16, 32)
    small, square = jnp.eye(8, dtype=jnp.float32) * 0.9, jnp.eye(32, dtype=jnp.float32)
    well = jnp.asarray([[5.0, 1, 0, 2], [1, 6, 1, 0], [0, 1, 4, 1], [2, 0, 1, 7]], jnp.float32)
    line, rows = jnp.linspace(0, 1, 64, dtype=jnp.float32), jnp.zeros((100, 8), jnp.float32)

    def steps(step):
        return lambda c, *more: lax.fori_loop(0, 100, lambda i, c: step(i, c, *more), c)

    def riccati(i, p):
        return p - p @ jnp.linalg.inv(p + jnp.eye(4)) @ p

    def inner_while(i, c):
        return lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.001), (0, c))[1]

    def heat(i, u):
        around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return u + 0.1 * (around - 4 * u)

    def cell(w, xs):
        return lax.scan(lambda h, x: (jnp.tanh(h @ w + x), h), xs[0], xs)

    return {
        "elementwise, f32[8]": (steps(lambda i, c: jnp.sin(c) * 1.01 + 0.1), (few,)),
        "tanh(m @ c), f32[8]": (steps(lambda i, c, m: jnp.tanh(m @ c)), (few, small)),
        "tanh(c @ w), f32[16,32]": (steps(lambda i, c, w: jnp.tanh(c @ w)), (table, square)),
        "argmax, f32[8]": (steps(lambda i, c: c + jnp.argmax(c).astype(jnp.float32) * 1e-3), (few,)),
        "max over axis 0, f32[16,32]": (steps(lambda i, c: c + jnp.max(c, 0) * 1e-3), (table,)),
        "cond": (steps(lambda i, c: lax.cond(i % 2 == 0, lambda c: c * 1.01, lambda c: c * 0.99, c)), (few,)),
        "while in the loop": (steps(inner_while), (few,)),
        "cumsum": (steps(lambda i, c: jnp.cumsum(c) * 0.5), (few,)),
        "scatter-add": (steps(lambda i, c: c.at[i % 8].add(1.0)), (few,)),
        "index": (steps(lambda i, c, t: c + t[i]), (jnp.float32(0), jnp.arange(100.0))),
        "complex product": (steps(lambda i, c: c * (0.6 + 0.8j)), (few + 0j,)),
        "sort": (steps(lambda i, c: jnp.sort(-c)), (few,)),
        "update of a row": (steps(lambda i, b: lax.dynamic_update_slice(b, b[:1] + 1, (i, 0))), (rows,)),
        "3-point convolution": (steps(lambda i, c, k: jnp.convolve(c, k, mode="same")), (line, line[:3] + 0.2)),
        "fft of 64": (steps(lambda i, c: jnp.fft.fft(c) / 8), (line + 0j,)),
        "solve 4x4": (steps(lambda i, c, a: jnp.linalg.solve(a, c)), (few[:4], well)),
        "inv 4x4": (steps(lambda i, a: jnp.linalg.inv(a) + 0.01 * jnp.eye(4)), (well,)),
        "Riccati 4x4": (steps(riccati), (well,)),
        "heat, f32[64]": (steps(lambda i, u: u.at[1:-1].add(0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]))), (line,)),
        "heat, f32[32,32]": (steps(heat), (jnp.ones((32, 32), jnp.float32),)),
        "recurrent cell, f32[4,32]": (cell, (square, jnp.ones((100, 4, 32), jnp.float32))),
    }


SMOOTH_LOOPS = (  # those of which the benchmark takes gradients
    "elementwise, f32[8]", "tanh(m @ c), f32[8]", "tanh(c @ w), f32[16,32]", "max over axis 0, f32[16,32]", "cumsum",
    "solve 4x4", "heat, f32[64]", "recurrent cell, f32[4,32]",
)  # fmt: skip


def loop_cases(jax):
    """Compiled loops."""
    for name, (function, args) in loop_programs(jax).items():
        yield Case(f"loop: {name}", function, args)


def loop_gradient_cases(jax):
    """Compiled gradients of loops."""
    programs = loop_programs(jax)
    for name in SMOOTH_LOOPS:
        function, args = programs[name]

        def total(*args, function=function):
            return sum(leaf.sum() for leaf in jax.tree.leaves(function(*args)))

        yield Case(f"gradient of loop: {name}", jax.grad(total), args)
