"""Operations without jit, and the cost around the computation of jitted calls."""

from benchmarks.cases import Case


def eager_cases(jax):
    """Single operations without jit."""
    jnp = jax.numpy
    x = jnp.arange(10, dtype=jnp.float32)
    y = x + 1
    matrix = jnp.ones((64, 64), jnp.float32)
    loss = jax.grad(lambda w: jnp.sum(jnp.tanh(w * x) ** 2))
    for name, function in (
        ("x + y, f32[10]", lambda: x + y),
        ("x * 2.0", lambda: x * 2.0),
        ("jnp.sin(x)", lambda: jnp.sin(x)),
        ("jnp.sum(x)", lambda: jnp.sum(x)),
        ("x[3]", lambda: x[3]),
        ("x.at[2].set", lambda: x.at[2].set(1.0)),
        ("64x64 @ 64x64", lambda: matrix @ matrix),
        ("small grad", lambda: loss(x)),
    ):
        yield Case(f"eager {name}", function, jit=False, wait=False)


def call_cases(jax):
    """Calls of compiled functions: the cost around the computation."""
    jnp = jax.numpy
    x = jnp.arange(10, dtype=jnp.float32)
    tree = {f"layer{i}": {"w": x, "b": x, "g": x} for i in range(30)}
    many = lambda t: jax.tree_util.tree_map(lambda v: v + 1, t)
    yield Case("jitted call, one array", lambda v: v + 1, (x,), wait=False)
    yield Case("jitted call, 90 leaves", many, (tree,), wait=False)
