"""custom_jvp rules that compute results and tangents in one loop, branch or call: `cases(jax)` works for both.

Reverse mode takes these apart.  The derivatives are none of the functions': only the rules are looked at.
"""

import numpy as np

X = np.array([0.35, -0.8, 1.2], np.float32)


def cases(jax):
    """'rule, transformation' -> (function, arguments)."""
    found = {}
    for name, rule in {**_rules(jax), **_of_jvp(jax), **_wrong(jax)}.items():
        f = jax.custom_jvp(jax.numpy.sin)
        f.defjvp(rule)
        for way, transform in _transformations(jax).items():
            found[f"{name}, {way}"] = (transform(f), (X,))
    return found


def _transformations(jax):
    jnp = jax.numpy
    pair = lambda v: jnp.stack([v, v + 1])
    grad = lambda f: jax.grad(lambda v: (f(v) * jnp.arange(1.0, 4.0)).sum())
    return {
        "grad": grad,
        "jvp": lambda f: lambda v: jax.jvp(f, (v,), (v,)),
        "linearize": lambda f: lambda v: jax.linearize(f, v)[1](v),
        "grad of jit": lambda f: grad(jax.jit(f)),
        "grad of vmap": lambda f: grad(lambda v: jax.vmap(f)(pair(v)).sum(0)),
        "grad of vmap of jit": lambda f: grad(lambda v: jax.vmap(jax.jit(f))(pair(v)).sum(0)),
        "grad of map": lambda f: grad(lambda v: jax.lax.map(f, pair(v)).sum(0)),
        "grad of checkpoint": lambda f: grad(jax.checkpoint(f)),
        "hessian": lambda f: jax.hessian(lambda v: f(v).sum()),
        "jvp of grad": lambda f: lambda v: jax.jvp(grad(f), (v,), (v,)),
    }


def _rules(jax):
    jnp, lax = jax.numpy, jax.lax
    ones, step = jnp.ones((2, 3)), lambda c, x: (jnp.cos(c[0] * x), c[1] * c[0] + x * c[1])
    below = lambda c: c[0].sum() < 9
    branches = [lambda a, b: (a * 2, b * jnp.cos(a)), lambda a, b: (a, b * 3), lambda a, b: (a, jnp.zeros(3))]
    both = lambda a, b: (jnp.sin(a), b * jnp.cos(a))

    def stacked(p, t):
        body = lambda c, x: (step(c, x), (c[0] * 2, c[1] * c[0]))
        (_, (ys, dots)) = lax.scan(body, (*p, *t), ones)
        return ys.sum(0), dots.sum(0)

    def found_by_going_round(p, t):
        """The third part of the carry starts known, and is a tangent after a step; the first two after another."""
        return lax.scan(lambda c, x: ((c[0], c[2], c[0] * c[1]), None), (*p, *t, jnp.zeros(3)), jnp.ones((3, 3)))[0][:2]

    def keys(p, t):
        body = lambda c, k: ((c[0] * jax.random.uniform(k), c[1] * c[0], jax.random.split(c[2])[0]), None)
        return lax.scan(body, (*p, *t, jax.random.key(0)), jax.random.split(jax.random.key(1), 3))[0][:2]

    def nested(p, t):
        inner = lambda i, c: (jnp.sin(c[0]), c[1] * c[0])
        body = lambda c, x: (lax.cond(x[0] > 0, lambda d: lax.fori_loop(0, 2, inner, d), lambda d: d, c), None)
        return lax.scan(body, (*p, *t), ones)[0]

    def mapped(p, t):
        out, dot = lax.map(lambda a: both(*a), (p[0][None], t[0][None]))
        return out[0], dot[0]

    return {
        "scan": lambda p, t: lax.scan(lambda c, x: (step(c, x), None), (*p, *t), ones)[0],
        "scan backwards": lambda p, t: lax.scan(lambda c, x: (step(c, x), None), (*p, *t), ones, reverse=True)[0],
        "scan, stacked": stacked,
        "scan, known at first": found_by_going_round,
        "map": mapped,
        "fori_loop": lambda p, t: lax.fori_loop(0, 3, lambda i, c: (jnp.cos(c[0]) + i, c[1] * c[0]), (*p, *t)),
        "while": lambda p, t: lax.while_loop(below, lambda c: (c[0] + 1, c[1] * 2 * c[0]), (*p, *t)),
        "cond": lambda p, t: lax.cond(p[0][0] > 0, *branches[:2], *p, *t),
        "switch": lambda p, t: lax.switch(1, branches, *p, *t),
        "jit": lambda p, t: jax.jit(both)(*p, *t),
        "jit of scan": lambda p, t: jax.jit(lambda *c: lax.scan(lambda c, x: (step(c, x), None), c, ones)[0])(*p, *t),
        "checkpoint": lambda p, t: jax.checkpoint(both)(*p, *t),
        "checkpoint in scan": lambda p, t: lax.scan(jax.checkpoint(lambda c, x: (both(*c), None)), (*p, *t), ones)[0],
        "scan of keys": keys,
        "sort": lambda p, t: tuple(jax.lax.sort((p[0], t[0]), num_keys=1)),
        "nested": nested,
        "function of tangents with a rule": lambda p, t: (jnp.sin(p[0]), jax.jit(_doubled(jax))(t[0] * p[0])),
        "constant tangent": lambda p, t: (p[0], jnp.ones(3)),
        "tangent rounded to integers": lambda p, t: (p[0], t[0].astype("int32").astype("float32")),
    }


def _doubled(jax):
    f = jax.custom_jvp(lambda v: 2 * v)
    f.defjvp(lambda p, t: (f(*p), 3 * t[0]))
    return f


def _of_jvp(jax):
    """Rules that leave both to jax.jvp of a function."""
    jnp, lax = jax.numpy, jax.lax
    functions = {
        "map": lambda v: lax.map(lambda x: jnp.cos(x * v), jnp.ones((2, 3)))[-1],
        "scan": lambda v: lax.scan(lambda c, x: (jnp.cos(c * x), None), v, jnp.ones((2, 3)))[0],
        "cond": lambda v: lax.cond(v[0] > 0, jnp.cos, jnp.sin, v),
        "jit": jax.jit(lambda v: jnp.cos(v) * v),
        "checkpoint": jax.checkpoint(lambda v: jnp.cos(v) * v),
        "while": lambda v: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * jnp.cos(v) + 2, v),
    }

    def rule_of(f):
        def rule(p, t):
            out, tangent = jax.jvp(f, p, t)
            return out, tangent * 2

        return rule

    return {f"jvp of {name}": rule_of(f) for name, f in functions.items()}


def _wrong(jax):
    """Rules whose results depend on tangents."""
    lax = jax.lax
    branches = (lambda a, b: (a * 2, b), lambda a, b: (a, b * 3))
    going = lambda c: c[1].sum() < 9
    return {
        "result of a tangent": lambda p, t: (p[0] + t[0], t[0]),
        "branch chosen by a tangent": lambda p, t: lax.cond(t[0][0] > 0, *branches, *p, *t),
        "loop ended by a tangent": lambda p, t: lax.while_loop(going, lambda c: (c[0] + 1, c[1] + 1), (*p, *t)),
        "carry of a tangent": lambda p, t: lax.fori_loop(0, 2, lambda i, c: (c[0] + c[1], c[1]), (*p, *t)),
    }
