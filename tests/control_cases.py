"""Programs with control flow: `cases(jax)` works for onax and for real JAX, whose results are recorded."""

import numpy as np

X = np.array([1.0, 2.0, 3.0], np.float32)
K = np.array([2.0, 3.0, 4.0], np.float32)
M = np.full((4, 3), 0.3, np.float32)
PAIR = np.stack([X, X + 1])
TRUTH = np.array([True, False])


def _total(jax, out):
    return sum(jax.numpy.sum(jax.numpy.sin(leaf)) for leaf in jax.tree_util.tree_leaves(out))


def cases(jax):
    """name -> (function, arguments)."""
    return {**_scans(jax), **_loops(jax), **_branches(jax), **_reductions(jax), **_solvers(jax), **_roots(jax)}


def _scans(jax):
    jnp, lax = jax.numpy, jax.lax
    k = jnp.asarray(K)
    product = lambda x: lax.scan(lambda c, y: (c * y * k[0], c + jnp.sum(k) * y), 1.5, x)
    recurrent = lambda w, x: lax.scan(lambda c, y: (jnp.tanh(c * w + y), c * w), jnp.zeros(3), x)
    loss = lambda w, x: _total(jax, recurrent(w, x))
    return {
        "scan": (product, (X,)),
        "scan backwards": (lambda x: lax.scan(lambda c, y: (c * y, c), 1.0, x, reverse=True), (X,)),
        "scan of nothing": (lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=4), (X,)),
        "scan of nothing backwards": (
            lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=4, reverse=True),
            (X,),
        ),
        "scan of length 0": (lambda x: lax.scan(lambda c, y: (c * 2, c), x, jnp.zeros((0, 2))), (X,)),
        "scan passes values through": (lambda x: lax.scan(lambda c, y: (c, (c, y, k)), x, x), (X,)),
        "scan of trees": (
            lambda p: lax.scan(lambda c, y: ({"s": c["s"] + y["a"] * y["b"]}, (y["a"], None)), {"s": 0.0}, p),
            ({"a": X, "b": K},),
        ),
        "scan in bfloat16": (
            lambda x: lax.scan(lambda c, y: (c * y, c + y), jnp.bfloat16(1.5), x.astype(jnp.bfloat16)),
            (X,),
        ),
        "scan of bools": (lambda x: lax.scan(lambda c, y: (c ^ (y > 2), c), True, x), (X,)),
        "scan promotes a weak carry": (lambda x: lax.scan(lambda c, y: (c + y, c), 0, x), (X,)),
        "scan unrolled": (lambda x: lax.scan(lambda c, y: (c * y, c), 1.0, x, unroll=2), (X,)),
        "map": (lambda x: lax.map(lambda a: a * 2, x), (X,)),
        "map in batches": (lambda x: lax.map(lambda a: a * k[0], x, batch_size=2), (X,)),
        "grad of scan": (jax.grad(lambda x: _total(jax, product(x))), (X,)),
        "grad of scan's constants": (jax.grad(loss, argnums=(0, 1)), (K, M)),
        "jacfwd of scan": (jax.jacfwd(lambda x: product(x)[0]), (X,)),
        "hessian of scan": (jax.hessian(lambda x: product(x)[0]), (X,)),
        "grad of grad of scan": (jax.grad(lambda w: jnp.sum(jax.grad(loss)(w, M) ** 2)), (K,)),
        "vmap of scan": (jax.vmap(product), (PAIR,)),
        "vmap of scan's constant": (jax.vmap(recurrent, in_axes=(0, None)), (PAIR, M)),
        "vmap of scanned values": (
            jax.vmap(lambda w, x: lax.scan(lambda c, y: (jnp.tanh(c * w[0] + y), c), 0.0, x), in_axes=(None, 1)),
            (K, M),
        ),
        "vmap of grad of scan": (jax.vmap(jax.grad(loss), in_axes=(0, None)), (PAIR, M)),
        "jit inside scan": (lambda x: lax.scan(lambda c, y: jax.jit(lambda a, b: (a + b, a))(c, y), 0.0, x), (X,)),
        "grad of a scan in jit": (jax.grad(lambda x: _total(jax, jax.jit(product)(x))), (X,)),
    }


def _loops(jax):
    jnp, lax = jax.numpy, jax.lax
    k = jnp.asarray(K)
    double = lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, x)
    bounded = lambda x, n, y: lax.while_loop(
        lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * y + 1, c[2] + 2), (0, x, n)
    )
    return {
        "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2.0), (0, x)), (X,)),
        "while without a step": (
            lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1]), (0, x)),
            (X,),
        ),
        "while closes over arrays": (
            lambda x: lax.while_loop(lambda c: jnp.sum(c) < k.sum() * x[0] * 10, lambda c: c * x, x),
            (X + 1,),
        ),
        "while promotes a weak carry": (lambda: lax.while_loop(lambda c: c < 3, lambda c: c + 1.5, 0), ()),
        "fori": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * i + x, x), (X,)),
        "fori of dynamic length": (lambda n, x: lax.fori_loop(0, n, lambda i, c: c + i, x), (np.int32(3), X)),
        "fori without a step": (lambda x: lax.fori_loop(4, 2, lambda i, c: c * i, x), (X,)),
        "grad of fori": (jax.grad(lambda x: jnp.sum(lax.fori_loop(0, 3, lambda i, c: c * x, x))), (X,)),
        "jvp of while": (
            lambda x: jax.jvp(lambda v: lax.while_loop(lambda c: c < 9, lambda c: c * c, v), (x,), (x,)),
            (X[1],),
        ),
        "vmap of while": (jax.vmap(double), (np.array([1.0, 3.0, 20.0], np.float32),)),
        "vmap of vmap of while": (jax.vmap(jax.vmap(double)), (np.array([[1.0, 3.0, 20.0], [2, 4, 5]], np.float32),)),
        "jacfwd of vmap of while": (jax.jacfwd(jax.vmap(double)), (np.array([1.0, 3.0, 20.0], np.float32),)),
        "vmap of a constant of vmap of while": (
            jax.vmap(jax.vmap(bounded, in_axes=(None, 0, None)), in_axes=(0, None, 0)),
            (PAIR, np.arange(4, dtype=np.int32), PAIR),
        ),
        "jacfwd of vmap of vmap of while": (
            jax.jacfwd(jax.vmap(jax.vmap(bounded, in_axes=(None, 0, None)), in_axes=(0, None, 0)), argnums=2),
            (PAIR, np.arange(3, dtype=np.int32), PAIR),
        ),
        "vmap of while's constant": (
            jax.vmap(lambda s: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * s), (0, 1.0))),
            (X,),
        ),
        "vmap of fori of mapped length": (
            jax.vmap(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0)),
            (np.arange(4, dtype=np.int32),),
        ),
        "everything nested": (
            lambda x: lax.scan(
                lambda c, y: (
                    lax.fori_loop(0, 3, lambda i, v: lax.cond(i > 1, lambda v: v * y, lambda v: v + 1, v), c),
                    c,
                ),
                1.0,
                x,
            ),
            (X,),
        ),
    }


def _branches(jax):
    jnp, lax = jax.numpy, jax.lax
    k = jnp.asarray(K)
    pick = lambda p, x: lax.cond(p, lambda v: jnp.sin(v) * v, lambda v: v * 2, x)
    three = [lambda v: v, lambda v: v * v, lambda v: -v]
    safe = lambda x: lax.cond(x > 0, lambda v: jnp.sqrt(v), lambda v: v * 0, x)
    return {
        "cond true": (pick, (True, X)),
        "cond false": (pick, (False, X)),
        "cond of a number": (pick, (2.5, X)),
        "cond closes over arrays": (lambda p, x: lax.cond(p, lambda: (x, k), lambda: (k, x)), (False, X)),
        "cond by operand=": (lambda p, x: lax.cond(p, lambda v: v, lambda v: -v, operand=x), (False, X)),
        "switch": (lambda i, x: lax.switch(i, three, x), (np.int32(1), X)),
        "switch beyond": (lambda i, x: lax.switch(i, three, x), (np.int32(9), X)),
        "switch below": (lambda i, x: lax.switch(i, three, x), (np.int32(-4), X)),
        "grad of cond": (jax.grad(lambda x, p: _total(jax, pick(p, x))), (X, True)),
        "grad of switch": (jax.grad(lambda x, i: _total(jax, lax.switch(i, three, x))), (X, np.int32(1))),
        "grad of a branch's constant": (
            jax.grad(lambda y: lax.cond(True, lambda x: (x * y * k).sum(), lambda x: (x + y + k).sum(), X)),
            (K,),
        ),
        "jacfwd of cond": (jax.jacfwd(lambda x: pick(True, x)), (X,)),
        "hessian of cond": (jax.hessian(lambda x: _total(jax, pick(x[1] > 0, x))), (X,)),
        "vmap of operands": (jax.vmap(pick, in_axes=(None, 0)), (True, PAIR)),
        "vmap of the predicate": (jax.vmap(pick), (TRUTH, PAIR)),
        "vmap of a switch's index": (
            jax.vmap(lambda i, x: lax.switch(i, three, x)),
            (np.array([2, 0], np.int32), PAIR),
        ),
        "vmap of grad of cond": (jax.vmap(jax.grad(lambda x, p: _total(jax, pick(p, x)))), (PAIR, TRUTH)),
        "no NaN from a branch not taken": (
            jax.grad(lambda x: jnp.sum(jax.vmap(safe)(x))),
            (np.array([4.0, 0.0], np.float32),),
        ),
    }


def _reductions(jax):
    """reduce by any function, associative_scan."""
    jnp, lax = jax.numpy, jax.lax
    product = lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b + 0 * a, (0,))
    larger = lambda a, b: tuple(jnp.where(a[0] > b[0], p, q) for p, q in zip(a, b))
    argmax = lambda x: lax.reduce((x, jnp.arange(x.shape[0])), (np.float32(-np.inf), 0), larger, (0,))
    moebius = lambda p, q: {"a": p["a"] * q["a"], "b": p["b"] * q["a"] + q["b"]}
    affine = lambda x: lax.associative_scan(moebius, {"a": x, "b": x + 1})["b"]
    return {
        "reduce": (product, (X,)),
        "reduce of no axis": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b, ()), (X,)),
        "reduce of nothing": (lambda x: lax.reduce(x[:0], np.float32(7), lambda a, b: a * b, (0,)), (M,)),
        "reduce of two operands": (argmax, (X,)),
        "reduce over two axes": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b, (0, 1)), (M,)),
        "reduce by a primitive": (lambda x: lax.reduce(x, np.float32(0), lax.add, (1,)), (M,)),
        "grad of reduce": (jax.grad(product), (K,)),
        "jvp of reduce": (lambda x: jax.jvp(product, (x,), (x,)), (K,)),
        "hessian of reduce": (jax.hessian(product), (K,)),
        "vmap of reduce": (jax.vmap(product, in_axes=1), (PAIR,)),
        "vmap of reduce of two operands": (jax.vmap(argmax), (PAIR,)),
        "associative scan": (lambda x: lax.associative_scan(jnp.multiply, x), (X,)),
        "associative scan backwards": (lambda x: lax.associative_scan(jnp.add, x, reverse=True, axis=1), (M,)),
        "associative scan along the last axis": (lambda x: lax.associative_scan(jnp.maximum, x, axis=-1), (M,)),
        "associative scan of one": (lambda x: lax.associative_scan(jnp.add, x[:1]), (X,)),
        "associative scan of none": (lambda x: lax.associative_scan(jnp.add, x[:0]), (X,)),
        "associative scan of bools": (lambda x: lax.associative_scan(jnp.logical_or, x > 2), (X,)),
        "associative scan of trees": (affine, (np.arange(1.0, 7.0, dtype=np.float32),)),
        "grad of associative scan": (jax.grad(lambda x: jnp.sum(affine(x))), (X,)),
        "vmap of associative scan": (jax.vmap(affine), (PAIR,)),
    }


A = np.array([[2.0, 1.0], [0.5, 3.0]], np.float32)
B = np.array([1.0, 2.0], np.float32)


def _solvers(jax):
    """custom_linear_solve by a solver that is exact, so that results do not depend on when it stops."""
    jnp, lax = jax.numpy, jax.lax

    def exact(mv, y):
        a, c = mv(jnp.array([1.0, 0.0])), mv(jnp.array([0.0, 1.0]))
        return jnp.stack([y[0] * c[1] - y[1] * c[0], a[0] * y[1] - a[1] * y[0]]) / (a[0] * c[1] - a[1] * c[0])

    def solve(a, b, **options):
        return lax.custom_linear_solve(lambda x: a @ x, b, exact, **options)

    both = lambda a, b: solve(a, b, transpose_solve=exact)
    total = lambda a, b: jnp.sum(jnp.sin(both(a, b)))
    symmetric = lambda a, b: jnp.sum(solve(a + a.T, b, symmetric=True))
    with_aux = lambda b: lax.custom_linear_solve(
        lambda x: A @ x, b, lambda mv, y: (exact(mv, y), y[0]), lambda mv, y: (exact(mv, y), y[1]), has_aux=True
    )
    return {
        "linear solve": (solve, (A, B)),
        "linear solve of trees": (
            lambda b: lax.custom_linear_solve(
                lambda d: {"p": d["q"], "q": 2 * d["p"]}, b, lambda mv, y: {"p": y["q"] / 2, "q": y["p"]}
            ),
            ({"p": B, "q": B + 1},),
        ),
        "jvp of linear solve": (lambda a, b: jax.jvp(solve, (a, b), (a * a, b)), (A, B)),
        "jvp of linear solve in b": (lambda b: jax.jvp(lambda v: solve(A, v), (b,), (b,)), (B,)),
        "grad of linear solve": (jax.grad(total, argnums=(0, 1)), (A, B)),
        "grad of symmetric linear solve": (jax.grad(symmetric, argnums=(0, 1)), (A, B)),
        "hessian of linear solve": (jax.hessian(total, argnums=1), (A, B)),
        "vmap of linear solve": (jax.vmap(solve, in_axes=(None, 0)), (A, A)),
        "vmap of linear solve's map": (jax.vmap(solve, in_axes=(0, None)), (np.stack([A, A * 1.5]), B)),
        "vmap of grad of linear solve": (jax.vmap(jax.grad(total, argnums=(0, 1)), in_axes=(None, 0)), (A, A)),
        "grad of linear solve with auxiliary output": (
            jax.value_and_grad(lambda b: (lambda x, aux: (jnp.sum(x) + aux, aux))(*with_aux(b)), has_aux=True),
            (B,),
        ),
    }


def _roots(jax):
    """custom_root by solvers that are exact."""
    jnp, lax = jax.numpy, jax.lax
    scalar = lambda g, y: y / g(1.0)
    root = lambda a: lax.custom_root(lambda x: x**3 - a, 1.0, lambda f, x0: -jnp.cbrt(f(0.0 * x0)), scalar)
    tree = lambda a: lax.custom_root(
        lambda d: {"x": d["x"] - a, "y": d["y"] - 2 * a},
        {"x": 0.0, "y": 0.0},
        lambda f, d: jax.tree_util.tree_map(lambda u, v: u - v, d, f(d)),
        lambda g, y: y,
    )
    with_aux = lambda a: lax.custom_root(
        lambda x: x - a, 1.0, lambda f, x0: (x0 - f(x0), {"steps": 3.0 * x0}), scalar, has_aux=True
    )
    return {
        "root": (root, (np.float32(8),)),
        "jvp of root": (lambda a: jax.jvp(root, (a,), (a,)), (np.float32(8),)),
        "grad of root": (jax.grad(root), (np.float32(8),)),
        "grad of grad of root": (jax.grad(jax.grad(root)), (np.float32(8),)),
        "vmap of grad of root": (jax.vmap(jax.grad(root)), (np.array([8.0, 27.0], np.float32),)),
        "grad of jit of root": (jax.grad(lambda a: jax.jit(root)(a)), (np.float32(8),)),
        "grad of root of a tree": (jax.grad(lambda a: tree(a)["y"] * tree(a)["x"]), (np.float32(3),)),
        "root with auxiliary output": (jax.value_and_grad(with_aux, has_aux=True), (np.float32(2),)),
    }
