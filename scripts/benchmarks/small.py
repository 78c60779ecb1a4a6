"""Compiled programs without loops of 10 to 200 microseconds."""

from benchmarks.cases import Case, numbers


def small_programs(jax):
    """name -> (function, arguments): programs without loops of 10 to 200 microseconds."""
    return {**small_networks(jax), **small_algebra(jax), **small_selections(jax)}


def small_networks(jax):
    """Layers and losses."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    draw = lambda *shape: jnp.asarray(numbers(*shape))
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
    draw = lambda *shape: jnp.asarray(numbers(*shape))
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
    draw = lambda *shape: jnp.asarray(numbers(*shape))
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
    for name, (function, args) in small_programs(jax).items():
        yield Case(f"small: {name}", function, args)
