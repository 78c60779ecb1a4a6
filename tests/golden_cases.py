"""Programs whose printed jaxprs must equal real JAX's: `cases(jax)` works for both packages."""

import numpy as np


def cases(jax):
    """name -> (function, arguments)."""
    jnp, lax = jax.numpy, jax.lax
    x = np.array([1.0, 2.0, 3.0], np.float32)
    m = np.ones((3, 4), np.float32)
    i = np.arange(3, dtype=np.int32)
    table = jnp.ones(3)
    return {
        "arithmetic": (lambda a, b: (a + b * 2 - 1.5) / b, (x, x)),
        "scalars are literals": (lambda a: a + np.float32(2) + jnp.array(3.0) + 2, (x,)),
        "constants": (lambda a: (a + table, table), (x,)),
        "no equations": (lambda a, b: (b, a), (x, i)),
        "nothing": (lambda: (), ()),
        "only constants": (lambda: jnp.zeros(3), ()),
        "unary": (lambda a: [jnp.sin(a), jnp.exp(a), -a, abs(a), jnp.sqrt(a), jnp.log1p(a)], (x,)),
        "integer powers": (lambda a: (a**2, a**3, a**-1), (x,)),
        "comparisons": (lambda a, b: ((a > b) & (a == 1), a <= 2), (x, x)),
        "mixed dtypes": (lambda a, b: a * b + 1, (x, i)),
        "casts": (lambda a: (a.astype(jnp.int32), a.astype(jnp.bfloat16), a.astype(bool)), (x,)),
        "where": (lambda a: jnp.where(a > 0, a, 0.0), (x,)),
        "reductions": (lambda a: (jnp.sum(a), jnp.max(a, axis=0), jnp.prod(a, axis=1, keepdims=True)), (m,)),
        "mean": (lambda a: jnp.mean(a, axis=0), (m,)),
        "argmax": (lambda a: jnp.argmax(a, axis=1), (m,)),
        "shapes": (lambda a: a.reshape(2, 6).T[None].squeeze(0), (m,)),
        "broadcast": (lambda a, b: a[:, None] * b + b, (x, m)),
        "matmul": (lambda a, b: a @ b, (x, m)),
        "dot_general": (lambda a, b: lax.dot_general(a, b, (((0,), (0,)), ((), ()))), (m, m)),
        "concatenate": (lambda a: jnp.concatenate([a, a * 2], axis=1), (m,)),
        "static index": (lambda a: (a[0], a[1:, ::2], a[-1, None]), (m,)),
        "array index": (lambda a: a[np.array([0, 2])], (x,)),
        "traced index": (lambda a, k: a[k], (x, np.int32(1))),
        "set": (lambda a: a.at[0].set(3.0), (x,)),
        "add at": (lambda a: a.at[np.array([0, 1])].add(1.0), (x,)),
        "jit": (lambda a: jax.jit(lambda v: v + 1)(a), (x,)),
        "jit of jit": (jax.jit(lambda a: jax.jit(lambda v: v * 2)(a) + 1), (x,)),
        "jit closes over a tracer": (lambda a: jax.jit(lambda v: v + a)(2.0), (x,)),
        "jit closes over an array": (jax.jit(lambda a: a + x), (x,)),
        "one program twice": (lambda a: (lambda f: f(a) + f(a * 2))(jax.jit(lambda v: jnp.sin(v))), (x,)),
        "jvp of jit": (lambda a: jax.jvp(jax.jit(jnp.sin), (a,), (a,)), (x,)),
        "vjp of jit": (lambda a: jax.vjp(jax.jit(lambda v: jnp.sin(v) * 2), a)[1](a), (x,)),
        "grad": (jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2)), (x,)),
        "grad of product": (jax.grad(lambda a: jnp.sum(jnp.sin(a) * a)), (x,)),
        "grad of matmul": (jax.grad(lambda a: jnp.sum(a @ m)), (x,)),
        "value_and_grad": (jax.value_and_grad(lambda a: jnp.sum(jnp.exp(a) / a)), (x,)),
        "vmap": (jax.vmap(lambda a: a * jnp.sum(a)), (m,)),
        "vmap of jit": (jax.vmap(jax.jit(jnp.cos)), (x,)),
        "vmap of matmul": (jax.vmap(lambda a, b: a @ b, in_axes=(1, None)), (m, x)),
        "relu": (jax.nn.relu, (x,)),
        "grad of relu": (jax.grad(lambda a: jnp.sum(jax.nn.relu(a))), (x,)),
        "softmax": (jax.nn.softmax, (x,)),
        "log_softmax": (jax.nn.log_softmax, (m,)),
        "gelu": (jax.nn.gelu, (x,)),
        "one_hot": (lambda k: jax.nn.one_hot(k, 4), (i,)),
        "stop_gradient": (lambda a: lax.stop_gradient(a) * a, (x,)),
    }
