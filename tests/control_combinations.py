"""Every transformation of every construct: `cases(jax)` works for onax and for real JAX, whose results are recorded."""

import numpy as np

X = np.array([0.3, 0.7, 1.1], np.float32)
PAIR = np.stack([X, X * np.float32(1.3)])
A = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 0.2], [0.1, 0.2, 2.5]], np.float32)


def cases(jax):
    """'construct, transformation' -> (function, arguments)."""
    found = {}
    for name, function in _constructs(jax).items():
        for way, (transform, *args) in _transformations(jax).items():
            if way not in _IMPOSSIBLE.get(name, ()):
                found[f"{name}, {way}"] = (transform(function), args)
    return found


_REVERSE = "grad, grad of jit, vmap of grad, grad of vmap, jacrev, hessian, jvp of grad, grad of scan, transposed"
_FORWARD = "jvp, linearize, jacfwd, hessian, jvp of grad, transposed"
_IMPOSSIBLE = {
    "while": _REVERSE.split(", "),
    "fori_loop of traced length": _REVERSE.split(", "),
    "custom_vjp": _FORWARD.split(", "),
}


def _constructs(jax):
    jnp, lax = jax.numpy, jax.lax
    ruled = jax.custom_jvp(lambda x: jnp.sin(x) * 2)
    ruled.defjvp(lambda p, t: (ruled(*p), t[0] * jnp.cos(p[0]) * 2))
    pulled = jax.custom_vjp(lambda x: jnp.sin(x) * 2)
    pulled.defvjp(lambda x: (pulled(x), x), lambda r, g: (g * jnp.cos(r) * 3,))
    dots = jax.checkpoint_policies.dots_saveable

    def exact(mv, y):
        return jnp.linalg.inv(jnp.stack([mv(e) for e in jnp.eye(3)], 1)) @ y

    def nest(x):
        inner = lambda v, y: lax.fori_loop(0, 2, lambda i, w: jnp.sin(w) + y, v)
        return lax.scan(lambda c, y: (lax.cond(y > 0.5, inner, lambda v, y: v * y, c, y), None), x, x)[0]

    return {
        "cond": lambda x: lax.cond(x[0] > 0.5, lambda v: jnp.sin(v) * v, lambda v: jnp.exp(v) * 2, x),
        "switch": lambda x: lax.switch(jnp.int32(x[1] * 3), [jnp.sin, jnp.cos, lambda v: v * v[::-1]], x),
        "while": lambda x: lax.while_loop(lambda c: c.sum() < 20, lambda c: c * (1.5 + x), x),
        "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x + i, x),
        "fori_loop of traced length": lambda x: lax.fori_loop(
            0, jnp.int32(x[2] * 3), lambda i, c: jnp.sin(c) * x + i, x
        ),
        "scan": lambda x: lax.scan(lambda c, y: (jnp.sin(c) * y + x, c * y), x, x)[1].sum(0),
        "scan backwards": lambda x: lax.scan(lambda c, y: (jnp.sin(c) * y, c), x, x, reverse=True)[0],
        "map in batches": lambda x: lax.map(lambda y: jnp.sin(y) * x[0], x, batch_size=2),
        "associative_scan": lambda x: lax.associative_scan(lambda a, b: a * b, x),
        "reduce": lambda x: lax.reduce(jnp.outer(x, x), np.float32(1), lambda a, b: a * b + 0 * a, (0,)),
        "checkpoint": jax.checkpoint(lambda x: jnp.sin(A @ x) * x, policy=dots),
        "custom_jvp": ruled,
        "custom_vjp": pulled,
        "custom_linear_solve": lambda x: lax.custom_linear_solve(
            lambda v: A @ v * (1 + 0.1 * x[0]), x, exact, transpose_solve=exact
        ),
        "custom_root": lambda x: lax.custom_root(
            lambda v: v * v - x, x, lambda f, v: jnp.sqrt(v * v - f(v)), lambda g, y: y / g(jnp.ones(3))
        ),
        "piecewise": lambda x: jnp.piecewise(x, [x < 0.5, x > 1.0], [jnp.sin, jnp.cos, lambda v: v * v]),
        "a nest": nest,
        "jit of scan of custom_jvp": jax.jit(lambda x: lax.scan(lambda c, y: (ruled(c) * y, c), x, x)[0]),
        "scan of checkpoint": lambda x: lax.scan(jax.checkpoint(lambda c, y: (jnp.sin(c) * y, c)), x, x)[0],
    }


def _transformations(jax):
    jnp, lax = jax.numpy, jax.lax
    total = lambda f: lambda x: jnp.sum(jnp.sin(f(x)))
    twice = lambda f: lambda x: lax.scan(lambda c, _: (f(c) * 0.5, None), x, None, length=2)[0]
    return {
        "jvp": (lambda f: lambda x: jax.jvp(f, (x,), (x * 2,)), X),
        "linearize": (lambda f: lambda x: jax.linearize(f, x)[1](x), X),
        "grad": (lambda f: jax.grad(total(f)), X),
        "grad of jit": (lambda f: jax.grad(jax.jit(total(f))), X),
        "vmap": (lambda f: jax.vmap(f), PAIR),
        "vmap of vmap": (lambda f: jax.vmap(jax.vmap(f)), PAIR[None]),
        "vmap of grad": (lambda f: jax.vmap(jax.grad(total(f))), PAIR),
        "grad of vmap": (lambda f: jax.grad(lambda b: jnp.sum(jax.vmap(total(f))(b))), PAIR),
        "jacfwd": (lambda f: jax.jacfwd(f), X),
        "jacrev": (lambda f: jax.jacrev(f), X),
        "hessian": (lambda f: jax.hessian(total(f)), X),
        "jvp of grad": (lambda f: lambda x: jax.jvp(jax.grad(total(f)), (x,), (x,)), X),
        "scan": (twice, X),
        "grad of scan": (lambda f: jax.grad(lambda x: jnp.sum(twice(f)(x))), X),
        "transposed": (lambda f: lambda x: jax.linear_transpose(jax.linearize(f, x)[1], x)(x), X),
    }
