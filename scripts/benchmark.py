"""onax beside real JAX: eager operations, jitted calls, first calls (tracing and compiling), steady state, import.

    python scripts/benchmark.py [--rounds 3] [--groups call compile] [--jax PYTHON ...]

Each library runs in processes of its own, in turn (onax, JAX, onax, JAX, ...), with the same number of threads; each
figure is the median over the rounds of the minimum within a round. Only ratios have a meaning on a shared machine.
`--jax` names Pythons that have real JAX, of one version or of several; without it the one of ONAX_ORACLE_PYTHON or
.venv-oracle (`make oracle`) is taken; without any only onax's figures are printed. Ratios are JAX's time over onax's:
above 1 onax is quicker.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


# ---- inside a worker process: the cases, written for `jax`, whichever it is ----


def best(function, seconds=0.15, repeats=5):
    """The least time of one call, in microseconds, over `repeats` batches."""
    function()
    number, elapsed = 1, 0.0
    while elapsed < seconds / repeats:
        started = time.perf_counter()
        for _ in range(number):
            function()
        elapsed = time.perf_counter() - started
        if elapsed < seconds / repeats:
            number *= 2
    times = [elapsed / number]
    for _ in range(repeats - 1):
        started = time.perf_counter()
        for _ in range(number):
            function()
        times.append((time.perf_counter() - started) / number)
    return min(times) * 1e6


def once(make, repeats=5):
    """The least time of one first call, in microseconds: `make()` gives a fresh function to call."""
    times = []
    for _ in range(repeats):
        function = make()
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times) * 1e6


def eager_cases(jax):
    """(name, microseconds) of single operations without jit."""
    jnp = jax.numpy
    x = jnp.arange(10, dtype=jnp.float32)
    y = x + 1
    matrix = jnp.ones((64, 64), jnp.float32)
    loss = jax.grad(lambda w: jnp.sum(jnp.tanh(w * x) ** 2))
    yield "eager x + y, f32[10]", best(lambda: x + y)
    yield "eager x * 2.0", best(lambda: x * 2.0)
    yield "eager jnp.sin(x)", best(lambda: jnp.sin(x))
    yield "eager jnp.sum(x)", best(lambda: jnp.sum(x))
    yield "eager x[3]", best(lambda: x[3])
    yield "eager x.at[2].set", best(lambda: x.at[2].set(1.0))
    yield "eager 64x64 @ 64x64", best(lambda: matrix @ matrix)
    yield "eager small grad", best(lambda: loss(x))


def call_cases(jax):
    """Calls of compiled functions: the cost around the computation."""
    jnp = jax.numpy
    x = jnp.arange(10, dtype=jnp.float32)
    one = jax.jit(lambda v: v + 1)
    tree = {f"layer{i}": {"w": x, "b": x, "g": x} for i in range(30)}
    many = jax.jit(lambda t: jax.tree_util.tree_map(lambda v: v + 1, t))
    yield "jitted call, one array", best(lambda: one(x))
    yield "jitted call, 90 leaves", best(lambda: many(tree))


def mlp(jax):
    """(training step, parameters, images, labels) of the 784-512-512-10 network."""
    import numpy as np

    jnp = jax.numpy
    rng = np.random.default_rng(0)
    sizes = (784, 512, 512, 10)
    params = [
        (jnp.asarray(rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32)), jnp.zeros(m, jnp.float32))
        for n, m in zip(sizes[:-1], sizes[1:])
    ]
    images = jnp.asarray(rng.uniform(size=(128, 784)).astype(np.float32))
    labels = jnp.asarray(np.eye(10, dtype=np.float32)[rng.integers(0, 10, 128)])

    def loss(p, images, labels):
        h = images
        for w, b in p[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = p[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ w + b) * labels, axis=1))

    def step(p, images, labels):
        grads = jax.grad(loss)(p, images, labels)
        return [(w - 0.1 * gw, b - 0.1 * gb) for (w, b), (gw, gb) in zip(p, grads)]

    return step, params, images, labels


def adam_update(params, means, squares):
    """(params, means, squares) after a step of Adam with the parameters as gradients."""

    def update(p, m, v):
        m, v = 0.9 * m + 0.1 * p, 0.999 * v + 0.001 * p * p
        return p - 1e-3 * (m / 0.1) / ((v / 0.001 + 1e-8) ** 0.5 + 1.0), m, v

    return [tuple(update(*leaf) for leaf in zip(*layer)) for layer in zip(params, means, squares)]


def transformer(jax, blocks=12, width=128, heads=4):
    """(gradient of the summed output, parameters, input) of pre-norm blocks with a causal mask."""
    import numpy as np

    jnp = jax.numpy
    rng = np.random.default_rng(0)

    def weight(n, m):
        return jnp.asarray(rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32))

    params = [
        {"qkv": weight(width, 3 * width), "out": weight(width, width), "up": weight(width, 4 * width)}
        | {"down": weight(4 * width, width), "scale": jnp.ones((2, width), jnp.float32)}
        for _ in range(blocks)
    ]
    x = jnp.asarray(rng.normal(size=(8, 64, width)).astype(np.float32))
    mask = jnp.asarray(np.tril(np.ones((64, 64), bool)))

    def norm(h, scale):
        mean = jnp.mean(h, axis=-1, keepdims=True)
        var = jnp.mean((h - mean) ** 2, axis=-1, keepdims=True)
        return (h - mean) / jnp.sqrt(var + 1e-5) * scale

    def attention(p, h):
        q, k, v = jnp.split(h @ p["qkv"], 3, axis=-1)
        split = lambda t: jnp.transpose(t.reshape(8, 64, heads, width // heads), (0, 2, 1, 3))
        scores = split(q) @ jnp.swapaxes(split(k), -1, -2) / (width // heads) ** 0.5
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
        return jnp.transpose(weights @ split(v), (0, 2, 1, 3)).reshape(8, 64, width) @ p["out"]

    def apply(params, x):
        for p in params:
            x = x + attention(p, norm(x, p["scale"][0]))
            x = x + jax.nn.gelu(norm(x, p["scale"][1]) @ p["up"]) @ p["down"]
        return jnp.sum(x**2)

    return jax.grad(apply), params, x


def compile_cases(jax):
    """First calls of fresh functions: tracing, lowering, compiling, and one run."""
    jnp = jax.numpy
    x = jnp.float32(1.5)
    step, *step_args = mlp(jax)
    gradient, params, tokens = transformer(jax)

    def wait(out):
        return jax.block_until_ready(out)

    def fresh(function, *args):
        def make():
            jitted = jax.jit(lambda *a: function(*a))
            return lambda: wait(jitted(*args))

        return make

    yield "first call, scalar function", once(fresh(lambda v: jnp.sin(v) * 2 + 1, x))
    yield "first call, MLP training step", once(fresh(step, *step_args), 3)
    yield "first call, gradient of 12 transformer blocks", once(fresh(gradient, params, tokens), 1)


def steady_cases(jax):
    """Compiled functions on real sizes."""
    jnp = jax.numpy
    big = jnp.ones((1024, 1024), jnp.float32)
    matmul = jax.jit(lambda a, b: a @ b)
    step, *step_args = mlp(jax)
    training = jax.jit(step)
    gradient, params, tokens = transformer(jax)
    model = jax.jit(gradient)
    long = jnp.linspace(0, 1, 1_000_000, dtype=jnp.float32)
    wave = jax.jit(lambda v: jnp.sin(v) * 2 + v * v - jnp.exp(-v) / (1 + v))
    loop = jax.jit(lambda v: jax.lax.scan(lambda c, _: (c * 0.999 + jnp.sin(c) * 0.1, None), v, None, 1000)[0])
    adam = jax.jit(adam_update)
    weights = step_args[0]
    squares = jax.tree_util.tree_map(lambda w: w * w, weights)
    short = jnp.linspace(0, 1, 16, dtype=jnp.float32)
    ready = jax.block_until_ready
    yield "steady matmul 1024", best(lambda: ready(matmul(big, big)), 1.0)
    yield "steady MLP training step", best(lambda: ready(training(*step_args)), 1.0)
    yield "steady gradient of 12 transformer blocks", best(lambda: ready(model(params, tokens)), 2.0, 3)
    yield "steady elementwise chain, f32[1e6]", best(lambda: ready(wave(long)), 0.5)
    yield "steady Adam update of the MLP's weights", best(lambda: ready(adam(weights, weights, squares)), 0.5)
    yield "steady scan of 1000 steps, f32[16]", best(lambda: ready(loop(short)), 0.5)


def kernel_cases(jax):
    """What runs by kernels of its own rather than by general operators: random numbers, sorting, callbacks."""
    import numpy as np

    jnp, random, ready = jax.numpy, jax.random, jax.block_until_ready
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
        jitted = jax.jit(function)
        yield f"eager {name}", best(lambda f=function, a=argument: ready(f(a)), 0.5)
        yield f"jitted {name}", best(lambda f=jitted, a=argument: ready(f(a)), 0.5)
    steps = jax.jit(walk)
    yield "jitted 1000 steps of fold_in and uniform", best(lambda: ready(steps(key)), 0.5)


def random_cases(jax):
    """Compiled loops of many short steps that draw random numbers, and some arithmetic."""
    jnp, random, lax, ready = jax.numpy, jax.random, jax.lax, jax.block_until_ready
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
        jitted = jax.jit(function)
        yield f"1000 steps of {name}", best(lambda f=jitted, a=argument: ready(f(a)), 0.5)


def row_cases(jax):
    """Compiled functions that reduce rows and go on with their elements."""
    jnp, ready = jax.numpy, jax.block_until_ready
    x = jax.random.normal(jax.random.key(0), (512, 1000))
    scale = jnp.linspace(0.5, 1.5, 1000, dtype=jnp.float32)

    def layer_norm(v):
        mean = jnp.mean(v, -1, keepdims=True)
        var = jnp.mean((v - mean) ** 2, -1, keepdims=True)
        return (v - mean) * jax.lax.rsqrt(var + 1e-5) * scale + scale

    loss = lambda v: jnp.sum(jax.nn.log_softmax(v)[:, 0])
    for name, function in (
        ("softmax", jax.nn.softmax),
        ("log_softmax", jax.nn.log_softmax),
        ("logsumexp", lambda v: jax.scipy.special.logsumexp(v, axis=-1)),
        ("layer norm", layer_norm),
        ("RMS norm", lambda v: v * jax.lax.rsqrt(jnp.mean(v * v, -1, keepdims=True) + 1e-6) * scale),
        ("standardised rows", lambda v: (v - v.mean(1, keepdims=True)) / (v.std(1, keepdims=True) + 1e-6)),
        ("rows over their norm", lambda v: v / jnp.linalg.norm(v, axis=1, keepdims=True)),
        ("row sums of squares", lambda v: jnp.sum(v * v, 1)),
        ("mean squared error", lambda v: jnp.mean((v - scale) ** 2)),
        ("gradient of log_softmax", jax.grad(loss)),
        ("gradient of layer norm", jax.grad(lambda v: jnp.sum(layer_norm(v) ** 3))),
    ):
        for shape in ((512, 1000), (4096, 64)):
            if shape[1] == 1000 or not ("norm" in name or "error" in name):
                argument = x if shape[1] == 1000 else x.ravel()[: 4096 * 64].reshape(shape)
                jitted = jax.jit(function)
                yield f"{name}, f32{list(shape)}", best(lambda f=jitted, a=argument: ready(f(a)), 0.3)


def top_k_cases(jax):
    """The largest of many."""
    ready = jax.block_until_ready
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
        jitted = jax.jit(lambda v, k=k: jax.lax.top_k(v, k))
        yield f"top_k of {k}, {dtype}{list(shape)}", best(lambda f=jitted, a=values: ready(f(a)), 0.3)


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
    ready = jax.block_until_ready
    for name, (function, args) in loop_programs(jax).items():
        yield f"loop: {name}", best(lambda f=jax.jit(function), args=args: ready(f(*args)))


def loop_gradient_cases(jax):
    """Compiled gradients of loops."""
    programs, ready = loop_programs(jax), jax.block_until_ready
    for name in SMOOTH_LOOPS:
        function, args = programs[name]

        def total(*args, function=function):
            return sum(leaf.sum() for leaf in jax.tree.leaves(function(*args)))

        yield f"gradient of loop: {name}", best(lambda f=jax.jit(jax.grad(total)), args=args: ready(f(*args)))


def small_programs(jax):
    """name -> (function, arguments): programs without loops of 10 to 200 microseconds."""
    return {**small_networks(jax), **small_algebra(jax), **small_selections(jax)}


def numbers(jax, *shape):
    """Normal numbers, the same in every library."""
    import numpy as np

    return jax.numpy.asarray(np.random.default_rng(len(shape) + sum(shape)).normal(size=shape).astype(np.float32))


def small_networks(jax):
    """Layers and losses."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    draw = lambda *shape: numbers(jax, *shape)
    layers = [(draw(32, 64) * 0.2, draw(64)), (draw(64, 64) * 0.1, draw(64)), (draw(64, 10) * 0.1, draw(10))]
    labels = jnp.arange(64) % 10

    def mlp(layers, x):
        for w, b in layers[:-1]:
            x = nn.gelu(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    def cross_entropy(scores, labels):
        return -jnp.mean(jnp.take_along_axis(nn.log_softmax(scores), labels[:, None], 1))

    def attention(q, k, v):
        scores = jnp.einsum("qhd,khd->hqk", q, k) / 4
        mask = jnp.tril(jnp.ones(scores.shape[1:], bool))
        return jnp.einsum("hqk,khd->qhd", nn.softmax(jnp.where(mask, scores, -jnp.inf)), v)

    def layer_norm(x, scale):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale

    def convolve(x, w):
        return nn.relu(lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))

    x, tokens = draw(64, 32), draw(32, 4, 16)
    loss = lambda layers, x, labels: cross_entropy(mlp(layers, x), labels)
    return {
        "MLP, f32[64,32]": (mlp, (layers, x)),
        "gradient of an MLP's loss": (jax.grad(loss), (layers, x, labels)),
        "cross-entropy, f32[64,10]": (cross_entropy, (draw(64, 10), labels)),
        "attention, f32[32,4,16]": (attention, (tokens, tokens, tokens)),
        "layer norm, f32[64,32]": (layer_norm, (x, x[0])),
        "convolution, f32[4,64,8]": (convolve, (draw(4, 64, 8), draw(3, 8, 16))),
    }


def small_algebra(jax):
    """Matrices, vectors and spectra."""
    jnp, linalg = jax.numpy, jax.scipy.linalg
    draw = lambda *shape: numbers(jax, *shape)
    a = draw(24, 24)
    a = a @ a.T + 24 * jnp.eye(24)

    def regression(x, y):
        return jnp.linalg.solve(x.T @ x + 0.1 * jnp.eye(16), x.T @ y)

    def gaussian(a, x):
        root = jnp.linalg.cholesky(a)
        return jnp.sum(linalg.solve_triangular(root, x, lower=True) ** 2) + jnp.sum(jnp.log(jnp.diag(root)))

    def distances(x, y):
        return jnp.sqrt(jnp.sum((x[:, None] - y) ** 2, -1))

    def rotation(q, points):
        w, x, y, z = q / jnp.linalg.norm(q)
        rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]]
        rows += [[2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]]
        rows += [[2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
        return points @ jnp.array(rows).T

    return {
        "ridge regression, f32[100,16]": (regression, (draw(100, 16), draw(100))),
        "Gaussian density, f32[24,24]": (gaussian, (a, draw(24))),
        "distances, f32[64,8]": (distances, (draw(64, 8), draw(48, 8))),
        "rotation of 100 points": (rotation, (draw(4), draw(100, 3))),
        "bilinear einsum, 16 x 12 x 20": (lambda x, w, y: jnp.einsum("bi,ijk,bk->bj", x, w, y), tuple(
            draw(*shape) for shape in ((16, 12), (12, 8, 20), (16, 20)))),
        "power spectrum, f32[512]": (lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, (draw(512),)),
    }  # fmt: skip


def small_selections(jax):
    """Indices, sorts, sums by segments, random numbers."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    draw = lambda *shape: numbers(jax, *shape)
    index = jnp.arange(128) * 37 % 200

    def gated(x, gate, experts):
        best, which = lax.top_k(x @ gate, 2)
        return jnp.einsum("nk,nkd->nd", jax.nn.softmax(best), experts[which])

    def dropped(key, x):
        return jnp.where(random.bernoulli(key, 0.9, x.shape), x / 0.9, 0.0) + 0.1 * random.normal(key, x.shape)

    def summary(x):
        return jnp.quantile(x, jnp.asarray([0.1, 0.5, 0.9]), axis=0), x.argmax(0), jnp.cumsum(x, 0)[-1]

    return {
        "embedding and its mean, f32[200,32]": (lambda t, i: t[i].reshape(16, 8, 32).mean(1), (draw(200, 32), index)),
        "sums by segments, f32[128,8]": (lambda x, i: jax.ops.segment_sum(x, i // 10, 20), (draw(128, 8), index)),
        "two of eight experts, f32[64,16]": (gated, (draw(64, 16), draw(16, 8), draw(8, 16))),
        "quantiles, argmax, sums, f32[100,8]": (summary, (draw(100, 8),)),
        "interpolation, f32[256]": (
            lambda x, t, v: jnp.interp(x, t, v),
            (draw(256), jnp.linspace(-3, 3, 32), draw(32)),
        ),
        "dropout and noise, f32[16,32]": (dropped, (random.key(0), draw(16, 32))),
    }


def small_cases(jax):
    """Compiled small programs outside loops."""
    ready = jax.block_until_ready
    for name, (function, args) in small_programs(jax).items():
        yield f"small: {name}", best(lambda f=jax.jit(function), args=args: ready(f(*args)))


def program_cases(jax):
    """Compiled steps of programs as users write them, of `tests/programs/fields`."""
    sys.path.insert(0, str(ROOT / "tests"))
    import user_programs

    ready = jax.block_until_ready
    for name, (function, args) in user_programs.programs(jax).items():
        yield f"program: {name}", best(lambda f=jax.jit(function), args=args: ready(f(*args)))


GROUPS = {
    "eager": eager_cases,
    "call": call_cases,
    "compile": compile_cases,
    "steady": steady_cases,
    "kernel": kernel_cases,
    "random": random_cases,
    "rows": row_cases,
    "top_k": top_k_cases,
    "loops": loop_cases,
    "loop_grads": loop_gradient_cases,
    "small": small_cases,
    "programs": program_cases,
}


def worker(module, groups):
    """Runs the cases with the named package; prints one JSON object: its version, and the figures of each group."""
    import importlib

    started = time.perf_counter()
    jax = importlib.import_module(module)
    figures = {"import": {"import": (time.perf_counter() - started) * 1e6}}
    for group in groups:
        figures[group] = dict(GROUPS[group](jax))
    print(json.dumps({"version": jax.__version__, "figures": figures}))


# ---- the driver ----


def oracle_pythons():
    """The Pythons that have real JAX, as far as they are there: that of ONAX_ORACLE_PYTHON, or of .venv-oracle."""
    named = os.environ.get("ONAX_ORACLE_PYTHON")
    candidate = Path(named) if named else ROOT / ".venv-oracle" / "bin" / "python"
    return [str(candidate)] if candidate.exists() else []


def run_worker(python, module, groups):
    """What one worker process printed."""
    command = [python, str(Path(__file__).resolve()), "--worker", module, "--groups", *groups]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    if done.returncode:
        sys.exit(f"{module} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def measured(libraries, groups, rounds):
    """[(name with version, {group: {case: microseconds}})] of (module, Python) pairs, which run in turn."""
    answers = [[run_worker(python, module, groups) for module, python in libraries] for _ in range(rounds)]
    for (module, _), *found in zip(libraries, *answers):
        medians = {
            group: {name: statistics.median(one["figures"][group][name] for one in found) for name in cases}
            for group, cases in found[0]["figures"].items()
        }
        yield f"{'JAX' if module == 'jax' else module} {found[0]['version']}", medians


def shown(microseconds):
    """Microseconds with a fitting unit."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} us"


def table(mine, others):
    """The lines of the table of one group, and below them the mean and the least of the ratios of each JAX."""
    ratios = [{name: theirs[name] / us for name, us in mine.items()} for theirs in others]
    for name, us in mine.items():
        pairs = (f"{shown(theirs[name]):>14}{ratio[name]:>8.2f}" for theirs, ratio in zip(others, ratios))
        yield f"{name:56}{shown(us):>12}{''.join(pairs)}"
    for what, summary in (("geometric mean", statistics.geometric_mean), ("minimum", min)):
        if ratios and len(mine) > 1:
            yield f"{'= ' + what:68}" + "".join(f"{summary(ratio.values()):>22.2f}" for ratio in ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    parser.add_argument("--jax", nargs="+", metavar="PYTHON", help="Pythons that have real JAX")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker, options.groups)
    pythons = oracle_pythons() if options.jax is None else options.jax
    if not pythons:
        print("real JAX is not installed beside the project (make oracle): onax alone\n")
    libraries = [("onax", sys.executable), *(("jax", python) for python in pythons)]
    (mine, figures), *others = measured(libraries, options.groups, options.rounds)
    print(f"{'':56}{mine:>12}" + "".join(f"{name:>14}{'ratio':>8}" for name, _ in others))
    for group, cases in figures.items():
        print(*table(cases, [theirs[group] for _, theirs in others]), sep="\n")


if __name__ == "__main__":
    main()
