"""Programs over a mesh with explicit axes: `cases(jax)` gives the types of their results, or the errors, as text.

The answers of real JAX are recorded.
"""

import re

import numpy as np

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
B = np.ones((4, 8, 8), np.float32)
IDS = np.array([1, 7, 2, 2, 0, 5, 3, 7], np.int32)
IMAGES, WEIGHTS = np.ones((8, 4, 5, 5), np.float32), np.ones((2, 4, 3, 3), np.float32)


def cases(jax):
    """name -> (function without arguments that returns text as codes, ())."""
    programs = {**_elementwise(jax), **_shapes(jax), **_products(jax), **_indexing(jax), **_control(jax), **_moved(jax)}
    programs |= {**_stated(jax), **_regions(jax), **_gradients(jax), **_matrices(jax)}
    return {name: (lambda row=row: _text(jax, *row), ()) for name, row in programs.items()}


def _text(jax, function, args, specs):
    """The types of the results of the compiled function, or the first line of its error, as codes of characters."""
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    with jax.set_mesh(mesh):
        placed = [jax.device_put(x, jax.NamedSharding(mesh, s)) for x, s in zip(args, specs)]
        try:
            found = "; ".join(str(jax.typeof(x)) for x in jax.tree.leaves(jax.jit(function)(*placed)))
        except Exception as error:
            found = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    found = re.sub(r", device_kind=\w+, num_cores=None, platform=\w+|, memory_kind=\w+", "", found)
    return np.frombuffer(found.encode(), np.uint8)


def _elementwise(jax):
    jnp, spec = jax.numpy, jax.P
    both = lambda a, b: a + b
    return {
        "sin": (jnp.sin, (Z,), [spec("x", "y")]),
        "same shardings": (both, (Z, Z), [spec("x"), spec("x")]),
        "one sharding": (both, (Z, Z), [spec("x"), spec()]),
        "shardings of two dimensions": (both, (Z, Z), [spec("x"), spec(None, "y")]),
        "two axes of one dimension": (both, (Z, Z), [spec("x"), spec("y")]),
        "one axis of two dimensions": (both, (Z, Z), [spec("x"), spec(None, "x")]),
        "a row": (both, (Z, Z[0]), [spec("x"), spec("y")]),
        "a constant": (lambda a: a + Z, (Z,), [spec("x")]),
        "where": (lambda a: jnp.where(a > 0, a, 0.0), (Z,), [spec("x")]),
        "clip": (lambda a: jnp.clip(a, 0, 1), (Z,), [spec("x")]),
        "astype": (lambda a: a.astype(jnp.bfloat16), (Z,), [spec("x", "y")]),
        "softmax": (jax.nn.softmax, (Z,), [spec("x", "y")]),
        "relu": (jax.nn.relu, (Z,), [spec("x", "y")]),
        "zeros_like": (jnp.zeros_like, (Z,), [spec("x")]),
        "arange": (lambda a: a + jnp.arange(8.0), (Z,), [spec("x", "y")]),
    }


def _shapes(jax):
    jnp, lax, spec = jax.numpy, jax.lax, jax.P
    reshape = lambda *shape: lambda a: a.reshape(shape)
    return {
        "sum": (lambda a: a.sum(0), (Z,), [spec("x", "y")]),
        "sum of all": (lambda a: a.sum(), (Z,), [spec("x", "y")]),
        "max": (lambda a: a.max(0), (Z,), [spec("x", "y")]),
        "prod": (lambda a: a.prod(0), (Z,), [spec("x", "y")]),
        "argmax": (lambda a: jnp.argmax(a, 0), (Z,), [spec("x", "y")]),
        "mean": (lambda a: a.mean(), (Z,), [spec("x", "y")]),
        "transpose": (lambda a: a.T, (Z,), [spec("x", "y")]),
        "merged": (reshape(64), (Z,), [spec("x")]),
        "merged, both split": (reshape(64), (Z,), [spec("x", "y")]),
        "merged, the second split": (reshape(64), (Z,), [spec(None, "y")]),
        "divided": (reshape(4, 2, 8), (Z,), [spec("x")]),
        "divided by two axes": (reshape(4, 2, 8), (Z,), [spec(("x", "y"))]),
        "divided into too few": (reshape(2, 4, 8), (Z,), [spec("x")]),
        "divided last dimension": (reshape(8, 4, 2), (Z,), [spec(None, "x")]),
        "a dimension of length 1": (reshape(8, 1, 8), (Z,), [spec("x", "y")]),
        "a product whose batch and contracted dimensions do not fit": (
            lambda a, b: jnp.einsum("bik,bkj->bij", a, b), (Z[None].repeat(8, 0),) * 2,
            [spec("x", None, "y"), spec("y", "x", None)],
        ),
        "merged with dimensions of length 1": (
            lambda a: a.reshape(8, 8, 1, 1).reshape(64, 1).reshape(8, 8, 1), (Z,), [spec("x")],
        ),
        "merged before dimensions of length 1": (
            lambda a: a.reshape(8, 4, 2).reshape(8, 4, 2, 1, 1).reshape(8, 8), (Z,), [spec("x", "y")],
        ),
        "divided before dimensions of length 1": (reshape(8, 4, 2, 1), (Z,), [spec("x", "y")]),
        "other dimensions": (reshape(16, 4), (Z,), [spec("x")]),
        "squeeze": (lambda a: a[:, :1].squeeze(1), (Z,), [spec("x")]),
        "rev": (lambda a: lax.rev(a, (0,)), (Z,), [spec("x")]),
        "broadcast_to": (lambda a: jnp.broadcast_to(a[None], (3, 8, 8)), (Z,), [spec("x")]),
        "tile": (lambda a: jnp.tile(a, (1, 2)), (Z,), [spec("x")]),
        "stack": (lambda a, b: jnp.stack([a, b]), (Z, Z), [spec("x"), spec("x")]),
        "split": (lambda a: jnp.split(a, 2, 1)[0], (Z,), [spec("x")]),
        "concatenate": (lambda a, b: jnp.concatenate([a, b], 1), (Z, Z), [spec("x"), spec("x")]),
        "concatenate along a split dimension": (
            lambda a, b: jnp.concatenate([a, b], 0), (Z, Z), [spec("x"), spec("x")],
        ),
        "pad": (lambda a: jnp.pad(a, ((0, 0), (1, 1))), (Z,), [spec("x")]),
        "sort": (lambda a: jnp.sort(a, 1), (Z,), [spec("x")]),
        "sort a split dimension": (lambda a: jnp.sort(a, 0), (Z,), [spec("x")]),
        "cumsum": (lambda a: jnp.cumsum(a, 1), (Z,), [spec("x")]),
        "cumsum of a split dimension": (lambda a: jnp.cumsum(a, 0), (Z,), [spec("x")]),
        "top_k": (lambda a: lax.top_k(a, 2), (Z,), [spec("x")]),
        "top_k of a split dimension": (lambda a: lax.top_k(a, 2), (Z,), [spec("x", "y")]),
        "fft": (jnp.fft.fft, (Z,), [spec("x")]),
        "windows": (lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 2), (1, 1), "VALID"), (Z,), [spec("x")]),
    }  # fmt: skip


def _products(jax):
    jnp, lax, spec = jax.numpy, jax.lax, jax.P
    product = lambda a, b: a @ b
    conv = lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME")
    return {
        "rows": (product, (Z, Z), [spec("x"), spec()]),
        "rows and columns": (product, (Z, Z), [spec("x"), spec(None, "y")]),
        "both contracted dimensions": (product, (Z, Z), [spec(None, "x"), spec("x")]),
        "one contracted dimension": (product, (Z, Z), [spec(None, "x"), spec()]),
        "contracted dimensions that differ": (product, (Z, Z), [spec(None, "x"), spec("y")]),
        "rows and columns along one axis": (product, (Z, Z), [spec("x"), spec(None, "x")]),
        "split weights": (product, (Z, Z), [spec("x"), spec("x")]),
        "a batch": (jnp.matmul, (B, B), [spec("x"), spec("x")]),
        "vmap of a product": (jax.vmap(product, (0, None)), (B, Z), [spec("x"), spec()]),
        "a convolution": (conv, (IMAGES, WEIGHTS), [spec("x"), spec()]),
        "dot with out_sharding": (
            lambda a, b: jnp.dot(a, b, out_sharding=spec("x")), (Z, Z), [spec(None, "x"), spec("x")],
        ),
        "einsum with out_sharding": (
            lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=spec("x")), (Z, Z), [spec(None, "x"), spec("x")],
        ),
        "matmul with out_sharding": (
            lambda a, b: jnp.matmul(a, b, out_sharding=spec("y")), (Z, Z), [spec(None, "x"), spec("x")],
        ),
        "reshape with out_sharding": (
            lambda a: lax.reshape(a, (64,), out_sharding=spec("x")), (Z,), [spec("x", "y")],
        ),
        "broadcast_in_dim with out_sharding": (
            lambda a: lax.broadcast_in_dim(a, (8, 8, 8), (1, 2), out_sharding=spec("y", "x")), (Z,), [spec("x")],
        ),
    }  # fmt: skip


def _indexing(jax):
    lax, spec = jax.lax, jax.P
    return {
        "a slice of a whole dimension": (lambda a: a[:, :3], (Z,), [spec("x")]),
        "a slice of a split dimension": (lambda a: a[:4], (Z,), [spec("x")]),
        "a slice that cannot be split": (lambda a: a[:3], (Z,), [spec("x")]),
        "an index": (lambda a: a[0], (Z,), [spec("x", "y")]),
        "dynamic_slice": (lambda a: lax.dynamic_slice(a, (0, 0), (8, 3)), (Z,), [spec("x")]),
        "dynamic_slice that cannot be split": (lambda a: lax.dynamic_slice(a, (0, 0), (3, 3)), (Z,), [spec("x")]),
        "dynamic_update_slice": (lambda a: lax.dynamic_update_slice(a, a[:, :3], (0, 0)), (Z,), [spec("x")]),
        "rows of a table": (lambda t, i: t[i], (Z, IDS), [spec(None, "y"), spec()]),
        "split indices": (lambda t, i: t[i], (Z, IDS), [spec(None, "y"), spec("x")]),
        "split indices with out_sharding": (
            lambda t, i: t.at[i].get(out_sharding=spec("x", "y")), (Z, IDS), [spec(None, "y"), spec("x")],
        ),
        "additions to a split table": (lambda t, i: t.at[i].add(1.0), (Z, IDS), [spec("x"), spec()]),
        "additions to split columns": (lambda t, i: t.at[i].add(1.0), (Z, IDS), [spec(None, "y"), spec()]),
    }  # fmt: skip


def _control(jax):
    jnp, lax, spec = jax.numpy, jax.lax, jax.P
    loss = lambda w, a: (jax.nn.log_softmax(jnp.tanh(a @ w)) ** 2).mean()
    return {
        "scan": (lambda a: lax.scan(lambda c, x: (c + x, c), a[0], a), (Z,), [spec(None, "y")]),
        "scan over a split dimension": (
            lambda a: lax.scan(lambda c, x: (c + x, c), jnp.zeros(8), a), (Z,), [spec("x")],
        ),
        "a carry that becomes split": (
            lambda a: lax.scan(lambda c, x: (c + x, c), jnp.zeros(8), a), (Z,), [spec(None, "y")],
        ),
        "fori_loop": (lambda a: lax.fori_loop(0, 3, lambda i, c: c * 2, a), (Z,), [spec("x")]),
        "while_loop": (lambda a: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1.0, a), (Z,), [spec("x")]),
        "cond": (lambda a: lax.cond(True, lambda c: c + 1, lambda c: c * 2, a), (Z,), [spec("x")]),
        "a branch of zeros": (
            lambda a: lax.cond(True, lambda c: c + 1, jnp.zeros_like, a), (Z,), [spec("x")],
        ),
        "vmap": (jax.vmap(lambda a: jnp.sin(a).sum()), (Z,), [spec("x", "y")]),
        "gradient": (jax.grad(lambda a: jnp.sin(a).sum()), (Z,), [spec("x", "y")]),
        "gradient of a product": (jax.grad(lambda a, b: (a @ b).sum()), (Z, Z), [spec("x"), spec()]),
        "a call": (lambda a: jax.jit(lambda b: b.T)(a), (Z,), [spec("x")]),
        "checkpoint": (jax.grad(lambda a: jax.checkpoint(jnp.sin)(a).sum()), (Z,), [spec("x")]),
        "value of a loss": (loss, (Z, Z), [spec(None, "y"), spec("x")]),
    }  # fmt: skip


def _moved(jax):
    lax, spec, sharding = jax.lax, jax.P, jax.sharding
    return {
        "reshard": (lambda a: sharding.reshard(a, spec("y")), (Z,), [spec("x")]),
        "with_sharding_constraint": (lambda a: lax.with_sharding_constraint(a, spec("x")), (Z,), [spec("x")]),
        "a constraint that does not hold": (lambda a: lax.with_sharding_constraint(a, spec("y")), (Z,), [spec("x")]),
        "auto_axes": (
            lambda a: sharding.auto_axes(lambda b: b.reshape(16, 4) * 2, out_sharding=spec("x"))(a), (Z,), [spec("x")],
        ),
        "shard_map": (
            lambda a: jax.shard_map(lambda b: b * 2, in_specs=spec("x"), out_specs=spec("x"))(a), (Z,), [spec("x")],
        ),
    }  # fmt: skip


def _stated(jax):
    jnp, spec, random = jax.numpy, jax.P, jax.random
    key = lambda: random.key(0)
    conv = lambda **options: lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", **options)
    stated = {"out_sharding": spec("x", "y")}
    return {
        "normal": (lambda: random.normal(key(), (8, 4), **stated), (), []),
        "randint": (lambda: random.randint(key(), (8, 4), 0, 9, **stated), (), []),
        "bernoulli": (lambda: random.bernoulli(key(), 0.5, (8, 4), **stated), (), []),
        "gamma": (lambda: random.gamma(key(), 2.0, (8, 4), **stated), (), []),
        "permutation": (lambda: random.permutation(key(), 8, out_sharding=spec("x")), (), []),
        "initializer": (lambda: jax.nn.initializers.normal()(key(), (8, 4), **stated), (), []),
        "rng_bit_generator": (
            lambda: jax.lax.rng_bit_generator(np.zeros(4, np.uint32), (8, 4), **stated)[1], (), [],
        ),
        "zeros stated": (lambda: jnp.zeros((8, 4), **stated), (), []),
        "full stated": (lambda: jnp.full((8, 4), 2.0, **stated), (), []),
        "ones_like": (jnp.ones_like, (Z,), [spec("x", "y")]),
        "array stated": (lambda: jnp.array(Z, **stated), (), []),
        "arange stated": (lambda: jnp.arange(8, out_sharding=spec("x")), (), []),
        "broadcast_to stated": (lambda: jnp.broadcast_to(jnp.arange(4.0), (8, 4), **stated), (), []),
        "repeat stated": (lambda: jnp.repeat(jnp.arange(4), 2, out_sharding=spec("x")), (), []),
        "percentile stated": (lambda a: jnp.percentile(a, 50, axis=1, out_sharding=spec("x")), (Z,), [spec()]),
        "tensordot stated": (lambda a: jnp.linalg.tensordot(a, a, axes=1, **stated), (Z,), [spec("x", "y")]),
        "method reshape stated": (lambda a: a.reshape(64, out_sharding=spec("x")), (Z,), [spec(None, "y")]),
        "convolution stated": (conv(**stated), (IMAGES, WEIGHTS), [spec("x"), spec("y")]),
        "convolution of a sharded kernel": (conv(), (IMAGES, WEIGHTS), [spec("x"), spec("y")]),
        "convolution of sharded features": (conv(), (IMAGES, WEIGHTS), [spec(None, "x"), spec()]),
        "fft along a sharded dimension": (lambda a: jnp.fft.fft(a, axis=0), (Z,), [spec("x", "y")]),
    }  # fmt: skip


def _regions(jax):
    spec, sharding = jax.P, jax.sharding

    def shown(a):
        """Ends with an error that says the type of the argument and the explicit axes."""
        raise TypeError(f"{jax.typeof(a)}, explicit axes: {sharding.get_abstract_mesh().explicit_axes}")

    auto, explicit = sharding.auto_axes, sharding.explicit_axes
    double = lambda a: a * 2
    return {
        "auto_axes, stated by the call": (lambda a: auto(double)(a, out_sharding=spec("x")), (Z,), [spec("x", "y")]),
        "auto_axes without out_sharding": (lambda a: auto(double)(a), (Z,), [spec("x", "y")]),
        "inside auto_axes": (auto(shown, out_sharding=spec("x")), (Z,), [spec("x", "y")]),
        "inside auto_axes of y": (auto(shown, axes="y", out_sharding=spec("x")), (Z,), [spec("x", "y")]),
        "inside auto_axes of x": (auto(shown, axes=("x",), out_sharding=spec("x")), (Z,), [spec("x", "y")]),
        "auto_axes of y": (auto(double, axes="y", out_sharding=spec("x", "y")), (Z,), [spec("x", "y")]),
        "inside explicit_axes inside auto_axes": (
            auto(explicit(shown, axes="x", in_sharding=spec("x")), out_sharding=spec("x")), (Z,), [spec("x")],
        ),
        "explicit_axes inside auto_axes": (
            auto(explicit(double, axes="x", in_sharding=spec("x")), out_sharding=spec("y")), (Z,), [spec("x")],
        ),
        "explicit_axes without in_sharding": (lambda a: explicit(double)(a), (Z,), [spec("x")]),
    }  # fmt: skip


def _gradients(jax):
    jnp, spec = jax.numpy, jax.P
    conv = lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")
    square = lambda w, a: ((a @ w) ** 2).sum()
    return {
        "gradient by weights, batch sharded": (jax.grad(square), (Z, Z), [spec(), spec("x")]),
        "gradient by sharded weights": (jax.grad(square), (Z, Z), [spec(None, "y"), spec("x")]),
        "gradient by inputs": (jax.grad(square, 1), (Z, Z), [spec(None, "y"), spec("x")]),
        "gradient by a kernel": (
            jax.grad(lambda k, x: jnp.sin(conv(x, k)).sum()), (WEIGHTS, IMAGES), [spec(), spec("x")],
        ),
        "gradient by images": (jax.grad(lambda x, k: (conv(x, k) ** 2).sum()), (IMAGES, WEIGHTS), [spec("x"), spec()]),
        "gradient of stacked products": (
            jax.grad(lambda a, b: jnp.einsum("bij,bjk->bik", a, b).sum()), (B, B), [spec("x"), spec("x")],
        ),
    }  # fmt: skip


def _matrices(jax):
    jnp, lax, spec = jax.numpy, jax.lax, jax.P
    linalg = lax.linalg
    stack = np.stack([3 * np.eye(8, dtype=np.float32) + 0.1] * 4)
    rows = np.ones((4, 8), np.float32)
    of_a_matrix = {
        "cholesky": lambda a: linalg.cholesky(a, symmetrize_input=False),
        "lu": linalg.lu,
        "svd": linalg.svd,
        "eigh": lambda a: linalg.eigh(a, symmetrize_input=False),
        "schur": linalg.schur,
        "hessenberg": linalg.hessenberg,
        "tridiagonal": linalg.tridiagonal,
    }
    found = {}
    for name, function in of_a_matrix.items():
        if name != "cholesky":  # which JAX's own select refuses
            found[f"{name}, stack"] = (function, (stack,), [spec("x")])
        found[f"{name}, rows"] = (function, (stack,), [spec("x", "y")])
    solves = {
        "stack": (spec("x"), spec("x")),
        "other stack": (spec("x"), spec()),
        "summed rows": (spec(), spec(None, "x")),
        "columns": (spec("x"), spec("x", None, "y")),
        "rows of the matrix": (spec(None, "x"), spec()),
        "columns of the matrix": (spec(None, None, "x"), spec()),
    }
    for name, specs in solves.items():
        for left in (True, False):
            solve = lambda a, b, left=left: linalg.triangular_solve(a, b, lower=True, left_side=left)
            found[f"triangular_solve, left_side={left}, {name}"] = (solve, (stack, stack), list(specs))
    return found | {
        "qr, rows": (linalg.qr, (stack,), [spec("x", "y")]),
        "householder_product": (linalg.householder_product, (stack, rows), [spec("x"), spec("x")]),
        "householder_product, other stack": (linalg.householder_product, (stack, rows), [spec("x"), spec()]),
        "symmetric_product, other stack": (linalg.symmetric_product, (stack, stack), [spec("x"), spec("y")]),
        "tridiagonal_solve": (
            lambda a, b: linalg.tridiagonal_solve(a, a, a, b), (rows, stack), [spec("x"), spec("x", None, "y")],
        ),
        "solve": (jnp.linalg.solve, (stack, stack), [spec("x"), spec("x")]),
        "slogdet": (jnp.linalg.slogdet, (stack,), [spec("x")]),
        "gradient of slogdet": (jax.grad(lambda a: jnp.linalg.slogdet(a)[1].sum()), (stack,), [spec("x")]),
        "gradient of solve": (
            jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()), (stack, stack), [spec("x"), spec("x")],
        ),
        "dynamic_update_slice, other sharding": (
            lambda a, b: lax.dynamic_update_slice(a, b, (0, 1)), (rows, rows[:, :4]), [spec("x"), spec()],
        ),
    }  # fmt: skip
