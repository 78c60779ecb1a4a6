"""First calls, and compiled functions on real sizes."""

from benchmarks.cases import Case, FirstCall
from benchmarks.networks import adam_update, mlp, transformer


def compile_cases(jax):
    """First calls of fresh functions."""
    jnp = jax.numpy
    step, *step_args = mlp(jax)
    gradient, *gradient_args = transformer(jax)
    yield FirstCall("first call, scalar function", lambda v: jnp.sin(v) * 2 + 1, (jnp.float32(1.5),))
    yield FirstCall("first call, MLP training step", step, step_args, 3)
    yield FirstCall("first call, gradient of 12 transformer blocks", gradient, gradient_args, 1)


def steady_cases(jax):
    """Compiled functions on real sizes."""
    jnp = jax.numpy
    big = jnp.ones((1024, 1024), jnp.float32)
    step, *step_args = mlp(jax)
    gradient, *gradient_args = transformer(jax)
    long = jnp.linspace(0, 1, 1_000_000, dtype=jnp.float32)
    wave = lambda v: jnp.sin(v) * 2 + v * v - jnp.exp(-v) / (1 + v)
    loop = lambda v: jax.lax.scan(lambda c, _: (c * 0.999 + jnp.sin(c) * 0.1, None), v, None, 1000)[0]
    weights = step_args[0]
    squares = jax.tree_util.tree_map(lambda w: w * w, weights)
    adam_args = weights, weights, squares
    short = jnp.linspace(0, 1, 16, dtype=jnp.float32)
    yield Case("steady matmul 1024", lambda a, b: a @ b, (big, big), seconds=1.0)
    yield Case("steady MLP training step", step, step_args, seconds=1.0)
    yield Case("steady gradient of 12 transformer blocks", gradient, gradient_args, seconds=2.0, repeats=3)
    yield Case("steady elementwise chain, f32[1e6]", wave, (long,), seconds=0.5)
    yield Case("steady Adam update of the MLP's weights", adam_update, adam_args, seconds=0.5)
    yield Case("steady scan of 1000 steps, f32[16]", loop, (short,), seconds=0.5)
