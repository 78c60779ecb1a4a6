"""Compiled functions that reduce rows and go on with their elements."""

from benchmarks.cases import Case


def row_cases(jax):
    """Compiled functions that reduce rows and go on with their elements."""
    jnp = jax.numpy
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
                yield Case(f"{name}, f32{list(shape)}", function, (argument,), seconds=0.3)
