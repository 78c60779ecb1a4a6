"""Signals, images, money and light: filters, spectra, options, fractals, rays, generative models."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {
        **filters(jax), **images(jax), **options(jax), **fractal(jax), **rays(jax), **autoencoder(jax), **flows(jax),
        **diffusion(jax), **orbits(jax), **convolutional(jax),
    }  # fmt: skip


def filters(jax):
    """A signal cleaned in the frequency domain, its short-time spectrum, and a recursive filter."""
    jnp, lax, fft = jax.numpy, jax.lax, jax.numpy.fft
    rng = np.random.default_rng(39)
    time = np.arange(1024) / 256
    signal = jnp.asarray((np.sin(2 * np.pi * 5 * time) + rng.normal(size=1024, scale=0.5)).astype(np.float32))

    def low_pass(signal, cut):
        spectrum = fft.rfft(signal)
        return fft.irfft(jnp.where(fft.rfftfreq(1024, 1 / 256) < cut, spectrum, 0), 1024)

    def spectrogram(signal):
        starts = jnp.arange(0, 1024 - 128 + 1, 64)
        frames = signal[starts[:, None] + jnp.arange(128)] * jnp.hanning(128)
        return jnp.log1p(jnp.abs(fft.rfft(frames)) ** 2)

    def resonator(signal, angle):
        def step(state, x):
            one, two = state
            y = 0.05 * x + 1.9 * jnp.cos(angle) * one - 0.9025 * two
            return (y, one), y

        return lax.scan(step, (jnp.float32(0), jnp.float32(0)), signal)[1]

    def smooth(signal):
        window = jnp.hanning(21)
        return jnp.convolve(signal, window / window.sum(), mode="same")

    return {
        "low-pass filter": (low_pass, (signal, 8.0)),
        "spectrogram": (spectrogram, (signal,)),
        "recursive filter": (resonator, (signal, 0.12)),
        "smoothing by a window": (smooth, (signal,)),
    }


def images(jax):
    """Edges of an image, a bilateral filter, and noise removed by total variation."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(40)
    x, y = np.meshgrid(np.linspace(0, 6, 64), np.linspace(0, 6, 64))
    image = jnp.asarray((np.sin(x) * np.cos(y) > 0) + rng.normal(size=(64, 64), scale=0.1), jnp.float32)

    def edges(image):
        padded = jnp.pad(image, 1, mode="edge")
        sobel = jnp.asarray([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
        kernels = jnp.stack([sobel, sobel.T])[:, None]
        across, down = lax.conv_general_dilated(padded[None, None], kernels, (1, 1), "VALID")[0]
        return jnp.hypot(across, down) > 1.0

    def bilateral(image):
        padded = jnp.pad(image, 2, mode="reflect")
        total, weight = jnp.zeros_like(image), jnp.zeros_like(image)
        for i in range(5):
            for j in range(5):
                near = padded[i : i + 64, j : j + 64]
                w = jnp.exp(-((i - 2) ** 2 + (j - 2) ** 2) / 4 - (near - image) ** 2 / 0.1)
                total, weight = total + w * near, weight + w
        return total / weight

    def variation(image, noisy):
        down, across = jnp.diff(image, axis=0), jnp.diff(image, axis=1)
        edges = jnp.sum(jnp.sqrt(down**2 + 1e-3)) + jnp.sum(jnp.sqrt(across**2 + 1e-3))
        return 0.5 * jnp.sum((image - noisy) ** 2) + 0.2 * edges

    def denoise(noisy):
        step = lambda _, image: image - 0.05 * jax.grad(variation)(image, noisy)
        return lax.fori_loop(0, 10, step, noisy)

    return {
        "edges": (edges, (image,)),
        "bilateral filter": (bilateral, (image,)),
        "total variation": (denoise, (image,)),
    }


def options(jax):
    """Prices of options: by simulated paths with their sensitivities, by a tree, by implicit steps."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random

    def simulated(p, key):
        spot, rate, volatility = p
        draws = random.normal(key, (20, 500))

        def step(log_price, z):
            return log_price + (rate - 0.5 * volatility**2) * 0.05 + volatility * 0.05**0.5 * z, None

        end, _ = lax.scan(step, jnp.full(500, jnp.log(spot)), draws)
        return jnp.exp(-rate) * jnp.mean(jax.nn.softplus(10 * (jnp.exp(end) - 1.0)) / 10)

    def american(spot, rate, volatility, steps=64):
        up = jnp.exp(volatility / steps**0.5)
        share = (jnp.exp(rate / steps) - 1 / up) / (up - 1 / up)
        places = jnp.arange(steps + 1)

        def back(values, level):
            prices = spot * up ** (2 * places - level).astype(jnp.float32)
            going = jnp.exp(-rate / steps) * (share * jnp.roll(values, -1) + (1 - share) * values)
            return jnp.maximum(going, 1.0 - prices), None

        values = jnp.maximum(1.0 - spot * up ** (2 * places - steps).astype(jnp.float32), 0)
        return lax.scan(back, values, jnp.arange(steps - 1, -1, -1))[0][0]

    def thomas(lower, diagonal, upper, right):
        def down(state, row):
            c, d = state
            a, b, u, r = row
            scale = 1 / (b - a * c)
            return (u * scale, (r - a * d) * scale), (u * scale, (r - a * d) * scale)

        _, (c, d) = lax.scan(down, (jnp.float32(0), jnp.float32(0)), (lower, diagonal, upper, right))
        up = lambda x, row: ((x := row[1] - row[0] * x), x)
        return lax.scan(up, jnp.float32(0), (c, d), reverse=True)[1]

    def implicit(values):
        n = values.shape[0]
        off = jnp.full(n, -0.4)
        step = lambda _, v: thomas(off.at[0].set(0), jnp.full(n, 1.81), off.at[-1].set(0), v)
        return lax.fori_loop(0, 10, step, values)

    p = jnp.asarray([1.0, 0.05, 0.2])
    return {
        "option by simulation": (simulated, (p, random.key(19))),
        "option by simulation: sensitivities": (jax.value_and_grad(simulated), (p, random.key(19))),
        "American option by a tree": (american, (1.0, 0.05, 0.2)),
        "option by implicit steps": (implicit, (jnp.maximum(jnp.linspace(-1.0, 1.0, 100), 0),)),
    }


def fractal(jax):
    """The set of Mandelbrot, and Newton's fractal of the third roots."""
    jnp, lax = jax.numpy, jax.lax
    x, y = np.meshgrid(np.linspace(-2.1, 0.7, 48), np.linspace(-1.2, 1.2, 40))
    plane = jnp.asarray(x + 1j * y, jnp.complex64)

    def mandelbrot(c):
        def step(_, state):
            z, count = state
            inside = jnp.abs(z) <= 2
            return jnp.where(inside, z * z + c, z), count + inside

        return lax.fori_loop(0, 20, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]

    def newton(z):
        z = lax.fori_loop(0, 6, lambda _, z: z - (z**3 - 1) / (3 * z**2 + 1e-6), z)
        return jnp.abs(z[..., None] - jnp.exp(2j * jnp.pi * jnp.arange(3) / 3)).min(-1)

    grid = jnp.asarray((x[::4, ::4] + 0.7 + 1j * y[::4, ::4]), jnp.complex64)
    return {"Mandelbrot": (mandelbrot, (plane,)), "Newton's method in the plane": (newton, (grid,))}


def rays(jax):
    """Rays that march to the surface of a scene, with normals by gradients."""
    jnp, lax = jax.numpy, jax.lax

    def scene(p):
        ball = jnp.linalg.norm(p - jnp.asarray([0.0, 0.0, 3.0])) - 1.0
        floor = p[1] + 1.0
        return jnp.minimum(ball, floor)

    def march(direction):
        def going(state):
            far, near, count = state
            return (near > 1e-3) & (far < 20.0) & (count < 40)

        def step(state):
            far, _, count = state
            near = scene(far * direction)
            return far + near, near, count + 1

        far, _, _ = lax.while_loop(going, step, (jnp.float32(0), jnp.float32(1), 0))
        return far

    def shade(direction):
        direction = direction / jnp.linalg.norm(direction)
        far = march(direction)
        normal = jax.grad(scene)(far * direction)
        light = jnp.maximum(normal @ jnp.asarray([0.6, 0.7, -0.4]), 0.05)
        return jnp.where(far < 20.0, light, 0.0)

    x, y = np.meshgrid(np.linspace(-1, 1, 24), np.linspace(-0.6, 0.8, 16))
    directions = jnp.asarray(np.stack([x, y, np.full_like(x, 1.5)], -1).reshape(-1, 3).astype(np.float32))
    return {
        "ray marching: one ray": (shade, (directions[200],)),
        "ray marching: picture": (jax.vmap(shade), (directions,)),
    }


def dense(jax, seed, *sizes):
    """Weights and offsets of layers."""
    rng = np.random.default_rng(seed)
    draw = lambda n, m: rng.normal(size=(n, m), scale=n**-0.5).astype(np.float32)
    return [(jax.numpy.asarray(draw(n, m)), jax.numpy.zeros(m)) for n, m in zip(sizes[:-1], sizes[1:])]


def apply_dense(jax, layers, x):
    """The layers on x, with tanh between them."""
    for w, b in layers[:-1]:
        x = jax.numpy.tanh(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def autoencoder(jax):
    """A training step of a variational autoencoder."""
    jnp, random = jax.numpy, jax.random
    params = {"encode": dense(jax, 41, 64, 32, 8), "decode": dense(jax, 42, 4, 32, 64)}
    x = jnp.asarray(np.random.default_rng(43).uniform(size=(32, 64)).astype(np.float32))

    def loss(params, x, key):
        mean, log_var = jnp.split(apply_dense(jax, params["encode"], x), 2, -1)
        z = mean + jnp.exp(0.5 * log_var) * random.normal(key, mean.shape)
        scores = apply_dense(jax, params["decode"], z)
        fit = jnp.sum(jnp.maximum(scores, 0) - scores * x + jnp.log1p(jnp.exp(-jnp.abs(scores))), -1)
        return jnp.mean(fit + 0.5 * jnp.sum(mean**2 + jnp.exp(log_var) - 1 - log_var, -1))

    def train(params, x, key):
        value, slopes = jax.value_and_grad(loss)(params, x, key)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, slopes), value

    return {"variational autoencoder: training step": (train, (params, x, random.key(20)))}


def flows(jax):
    """Log-densities of a normalizing flow of coupling layers, and samples by its inverse."""
    jnp = jax.numpy
    layers = [dense(jax, 44 + i, 2, 16, 4) for i in range(4)]
    x = jnp.asarray(np.random.default_rng(48).normal(size=(64, 4)).astype(np.float32))

    def log_density(layers, x):
        total = jnp.zeros(x.shape[0])
        for layer in layers:
            a, b = jnp.split(x, 2, -1)
            shift, scale = jnp.split(apply_dense(jax, layer, a), 2, -1)
            scale = jnp.tanh(scale)
            x, total = jnp.concatenate([b * jnp.exp(scale) + shift, a], -1), total + scale.sum(-1)
        return total - 0.5 * jnp.sum(x**2, -1) - 2 * jnp.log(2 * jnp.pi)

    def inverse(layers, x):
        for layer in layers[::-1]:
            b, a = jnp.split(x, 2, -1)
            shift, scale = jnp.split(apply_dense(jax, layer, a), 2, -1)
            x = jnp.concatenate([a, (b - shift) * jnp.exp(-jnp.tanh(scale))], -1)
        return x

    train = jax.grad(lambda layers, x: -log_density(layers, x).mean())
    return {"normalizing flow: gradient": (train, (layers, x)), "normalizing flow: samples": (inverse, (layers, x))}


def diffusion(jax):
    """Samples of a diffusion model by reverse steps."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    layers = dense(jax, 49, 3, 32, 32, 2)
    betas = jnp.linspace(1e-3, 0.1, 30)
    alphas = jnp.cumprod(1 - betas)

    def step(x, row):
        key, beta, alpha, time = row
        times = jnp.full((x.shape[0], 1), time)
        noise = apply_dense(jax, layers, jnp.concatenate([x, times], -1))
        mean = (x - beta / jnp.sqrt(1 - alpha) * noise) / jnp.sqrt(1 - beta)
        return mean + jnp.sqrt(beta) * random.normal(key, x.shape), None

    def sample(key):
        start, going = random.split(key)
        rows = (random.split(going, 30), betas, alphas, jnp.linspace(0, 1, 30))
        return lax.scan(step, random.normal(start, (64, 2)), rows, reverse=True)[0]

    return {"diffusion model: samples": (sample, (random.key(21),))}


def orbits(jax):
    """Kepler's equation by Newton's method for many orbits, with its implicit derivative."""
    jnp, lax = jax.numpy, jax.lax

    def solve(mean, eccentricity):
        f = lambda e: e - eccentricity * jnp.sin(e) - mean

        def newton(f, start):
            step = lambda _, e: e - f(e) / (1 - eccentricity * jnp.cos(e))
            return lax.fori_loop(0, 8, step, start)

        return lax.custom_root(f, mean, newton, lambda g, y: y / g(1.0))

    def place(mean, eccentricity):
        e = solve(mean, eccentricity)
        return jnp.stack([jnp.cos(e) - eccentricity, jnp.sqrt(1 - eccentricity**2) * jnp.sin(e)])

    means, shapes = jnp.linspace(0.1, 6.0, 100), jnp.linspace(0.0, 0.7, 100)
    velocity = jax.jacfwd(place)
    return {
        "Kepler's equation: 100 orbits": (jax.vmap(place), (means, shapes)),
        "Kepler's equation: velocities": (jax.vmap(velocity), (means, shapes)),
    }


def convolutional(jax):
    """A training step of a small convolutional network with batch norm and pooling."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(50)
    draw = lambda *shape: jnp.asarray(rng.normal(size=shape, scale=0.2).astype(np.float32))
    params = {"one": draw(3, 3, 1, 8), "two": draw(3, 3, 8, 16), "scale": jnp.ones(8), "out": draw(4 * 4 * 16, 10)}
    x, labels = draw(8, 16, 16, 1), jnp.asarray(rng.integers(0, 10, 8))

    def convolve(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(p, x, labels):
        x = convolve(x, p["one"])
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        x = pool(nn.relu((x - mean) * lax.rsqrt(var + 1e-5) * p["scale"]))
        x = pool(nn.relu(convolve(x, p["two"])))
        scores = nn.log_softmax(x.reshape(8, -1) @ p["out"])
        return -jnp.mean(jnp.sum(scores * nn.one_hot(labels, 10), 1))

    def train(p, x, labels):
        value, slopes = jax.value_and_grad(loss)(p, x, labels)
        return jax.tree.map(lambda p, g: p - 0.05 * g, p, slopes), value

    return {"convolutional network: training step": (train, (params, x, labels))}
