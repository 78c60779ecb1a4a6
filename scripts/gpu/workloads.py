"""The workloads that the proof times: one source for every peer.

    arguments()       name -> (NumPy arguments, floating-point operations of one call, or None)
    functions(jax)    name -> function, for onax or real JAX

PyTorch and CuPy have the few of them that they say in one call (`timing.py`).
"""

import numpy as np

BLOCKS, WIDTH, HEADS, BATCH, LENGTH = 12, 512, 8, 8, 256  # of the transformer
SIZES, IMAGES = (784, 2048, 2048, 10), 1024  # of the MLP


def _normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _transformer_arguments():
    params = [
        {
            "qkv": _normal(8 * i, WIDTH, 3 * WIDTH) * np.float32(WIDTH**-0.5),
            "out": _normal(8 * i + 1, WIDTH, WIDTH) * np.float32(WIDTH**-0.5),
            "up": _normal(8 * i + 2, WIDTH, 4 * WIDTH) * np.float32(WIDTH**-0.5),
            "down": _normal(8 * i + 3, 4 * WIDTH, WIDTH) * np.float32((4 * WIDTH) ** -0.5),
            "scale": np.ones((2, WIDTH), np.float32),
        }
        for i in range(BLOCKS)
    ]
    return params, _normal(0, BATCH, LENGTH, WIDTH)


def _mlp_arguments():
    params = [
        (_normal(i, n, m) * np.float32(n**-0.5), np.zeros(m, np.float32))
        for i, (n, m) in enumerate(zip(SIZES, SIZES[1:]))
    ]
    labels = np.eye(SIZES[-1], dtype=np.float32)[np.arange(IMAGES) % SIZES[-1]]
    return params, _normal(9, IMAGES, SIZES[0]), labels


def arguments():
    """name -> (NumPy arguments, floating-point operations of one call, or None)."""
    images, kernels = _normal(1, 32, 64, 56, 56), _normal(2, 64, 64, 3, 3)
    heads = tuple(_normal(i, 8, 16, 1024, 64) for i in range(3))
    long, square = _normal(5, 10_000_000), _normal(6, 4096, 4096)
    conv_work = 2 * 32 * 56 * 56 * 64 * 64 * 9
    return {
        "transformer, 12 blocks, forward": (_transformer_arguments(), None),
        "transformer, 12 blocks, training gradient": (_transformer_arguments(), None),
        "MLP training step, batch 1024": (_mlp_arguments(), None),
        "convolution 3x3, 32x64x56x56": ((images, kernels), conv_work),
        "convolution 3x3, gradients": ((images, kernels), 3 * conv_work),
        "attention, 8x16 heads, 1024x64": (heads, 4 * 8 * 16 * 1024 * 1024 * 64),
        "matmul 4096, float32": ((square, square), 2 * 4096**3),
        "matmul 4096, float16": ((square, square), 2 * 4096**3),
        "matmul 4096, bfloat16": ((square, square), 2 * 4096**3),
        "elementwise chain, f32[1e7]": ((long,), None),
        "softmax, f32[4096, 4096]": ((square,), None),
        "scan of 1000 steps, f32[16]": ((np.linspace(0, 1, 16, dtype=np.float32),), None),
        "scan of 100 matrix steps, f32[256]": ((_normal(7, 256, 256) / 16, _normal(8, 256)), None),
    }


def _transformer(jax):
    """The forward function of pre-norm blocks with a causal mask: (params, tokens) -> activations."""
    jnp = jax.numpy
    mask = np.tril(np.ones((LENGTH, LENGTH), bool))

    def norm(h, scale):
        mean = jnp.mean(h, axis=-1, keepdims=True)
        return (h - mean) * jax.lax.rsqrt(jnp.var(h, axis=-1, keepdims=True) + 1e-5) * scale

    def attention(p, h):
        split = lambda t: jnp.transpose(t.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS), (0, 2, 1, 3))
        q, k, v = map(split, jnp.split(h @ p["qkv"], 3, axis=-1))
        scores = jnp.where(mask, q @ jnp.swapaxes(k, -1, -2) * (WIDTH // HEADS) ** -0.5, -1e9)
        mixed = jax.nn.softmax(scores, axis=-1) @ v
        return jnp.transpose(mixed, (0, 2, 1, 3)).reshape(BATCH, LENGTH, WIDTH) @ p["out"]

    def forward(params, x):
        for p in params:
            x = x + attention(p, norm(x, p["scale"][0]))
            x = x + jax.nn.gelu(norm(x, p["scale"][1]) @ p["up"]) @ p["down"]
        return x

    return forward


def _mlp_step(jax):
    """A training step: (params, images, labels) -> params."""
    jnp = jax.numpy

    def loss(p, images, labels):
        h = images
        for w, b in p[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = p[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ w + b) * labels, axis=1))

    def step(p, images, labels):
        return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, p, jax.grad(loss)(p, images, labels))

    return step


def functions(jax):
    """name -> function, for onax or real JAX."""
    jnp, lax = jax.numpy, jax.lax
    forward = _transformer(jax)
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME")
    cast = lambda dtype: lambda a, b: a.astype(dtype) @ b.astype(dtype)
    return {
        "transformer, 12 blocks, forward": forward,
        "transformer, 12 blocks, training gradient": jax.grad(lambda p, x: jnp.sum(forward(p, x) ** 2)),
        "MLP training step, batch 1024": _mlp_step(jax),
        "convolution 3x3, 32x64x56x56": conv,
        "convolution 3x3, gradients": jax.grad(lambda x, w: jnp.sum(conv(x, w) ** 2), argnums=(0, 1)),
        "attention, 8x16 heads, 1024x64": lambda q, k, v: jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 8, axis=-1) @ v,
        "matmul 4096, float32": lambda a, b: a @ b,
        "matmul 4096, float16": cast("float16"),
        "matmul 4096, bfloat16": cast("bfloat16"),
        "elementwise chain, f32[1e7]": lambda v: jnp.sin(v) * 2 + v * v - jnp.exp(-v * v) / (1 + v * v),
        "softmax, f32[4096, 4096]": lambda v: jax.nn.softmax(v, axis=-1),
        "scan of 1000 steps, f32[16]": lambda v: lax.scan(
            lambda c, _: (c * 0.999 + jnp.sin(c) * 0.1, None), v, None, 1000
        )[0],
        "scan of 100 matrix steps, f32[256]": lambda m, v: lax.scan(lambda c, _: (jnp.tanh(m @ c), None), v, None, 100)[
            0
        ],
    }
