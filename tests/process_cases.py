"""Programs over four devices, which one process or several have: the results must be the same.

`cases(jax, mesh)`: name -> (function, arguments as ndarrays).  `mesh(**sizes)` makes a mesh.
"""

import numpy as np

X = (np.arange(48, dtype=np.float32).reshape(8, 6) - 20) / 8
Y = (np.arange(256, dtype=np.float32).reshape(16, 16) % 37 - 18) / 4
RING = [(i, (i + 1) % 4) for i in range(4)]


def cases(jax, mesh):
    """All programs."""
    return {
        **collectives(jax, mesh),
        **two_axes(jax, mesh),
        **control_flow(jax, mesh),
        **whole_programs(jax, mesh),
        **sharded(jax, mesh),
    }


def collectives(jax, mesh):
    """Each collective over one axis, of dtypes that MPI has and of others."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    line = mesh(x=4)

    def over(f, *args, out=P("x"), check=True):
        specs = tuple(P("x") for _ in args)
        return jax.shard_map(f, mesh=line, in_specs=specs, out_specs=out, check_vma=check), args

    nan = X.copy()
    nan[3, 2] = np.nan
    whole = (X * 8).astype(np.int32)
    return {
        "psum": over(lambda x: lax.psum(x, "x"), X, out=P()),
        "psum of a tree": over(lambda x: lax.psum({"a": x, "b": (x[0], x.sum())}, "x"), X, out=P()),
        "psum of a constant": over(lambda x: x * lax.psum(2, "x"), X),
        "psum of integers": over(lambda x: lax.psum(x, "x"), whole, out=P()),
        "psum of int8": over(lambda x: lax.psum(x.astype(jnp.int8), "x"), whole, out=P()),
        "psum of bools": over(lambda x: lax.psum(x > 0, "x"), X, out=P()),
        "psum of bfloat16": over(lambda x: lax.psum(x.astype(jnp.bfloat16), "x"), X, out=P()),
        "psum of complex64": over(lambda x: lax.psum(x + 1j, "x"), X, out=P()),
        "psum in groups": over(lambda x: lax.psum(x, "x", axis_index_groups=[[0, 2], [1, 3]]), X, check=False),
        "pmean": over(lambda x: lax.pmean(x, "x"), X, out=P()),
        "pmax and pmin": over(lambda x: (lax.pmax(x, "x"), lax.pmin(x, "x")), X, out=P()),
        "pmax and pmin of NaN": over(lambda x: (lax.pmax(x, "x"), lax.pmin(x, "x")), nan, out=P()),
        "pmax of integers": over(lambda x: lax.pmax(x, "x"), whole, out=P()),
        "pmin of float16": over(lambda x: lax.pmin(x.astype(jnp.float16), "x"), X, out=P()),
        "all_gather": over(lambda x: lax.all_gather(x, "x"), X),
        "all_gather at the end, tiled": over(lambda x: lax.all_gather(x, "x", axis=1, tiled=True), X),
        "all_gather of bfloat16": over(lambda x: lax.all_gather(x.astype(jnp.bfloat16), "x"), X),
        "psum_scatter": over(lambda x: lax.psum_scatter(x, "x"), Y),
        "psum_scatter tiled": over(lambda x: lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True), Y),
        "psum_scatter of bfloat16": over(lambda x: lax.psum_scatter(x.astype(jnp.bfloat16), "x"), Y),
        "all_to_all": over(lambda x: lax.all_to_all(x, "x", 0, 1), Y),
        "all_to_all tiled": over(lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True), Y),
        "ppermute": over(lambda x: lax.ppermute(x, "x", RING), X),
        "ppermute to some": over(lambda x: lax.ppermute(x, "x", [(0, 3), (3, 1)]), X),
        "pshuffle": over(lambda x: lax.pshuffle(x, "x", [3, 1, 0, 2]), X),
        "axis_index": over(lambda x: x + lax.axis_index("x"), X),
        "nothing to send": over(lambda x: lax.psum(x[:, :0], "x"), X, out=P()),
        "keys": over(lambda x: jax.random.key_data(lax.all_gather(jax.random.key(lax.axis_index("x")), "x")), X),
    }


def two_axes(jax, mesh):
    """Groups of two devices, which lie in one process or in two."""
    lax, P = jax.lax, jax.sharding.PartitionSpec
    square = mesh(x=2, y=2)

    def over(f, out, check=True):
        return jax.shard_map(f, mesh=square, in_specs=P("x", "y"), out_specs=out, check_vma=check), (Y,)

    return {
        "psum over the first": over(lambda a: lax.psum(a, "x"), P(None, "y")),
        "psum over the second": over(lambda a: lax.psum(a, "y"), P("x")),
        "psum over both": over(lambda a: lax.psum(a, ("x", "y")), P()),
        "all_gather over both, in the other order": over(lambda a: lax.all_gather(a, ("y", "x")), P(None, "x", "y")),
        "a matrix product with partial sums": over(lambda a: lax.psum(a @ a.T, "y"), P("x")),
        "ppermute along each": over(
            lambda a: lax.ppermute(lax.ppermute(a, "x", [(0, 1), (1, 0)]), "y", [(1, 0)]), P("x", "y")
        ),
    }


def control_flow(jax, mesh):
    """Loops and branches in which devices meet, with conditions that differ between them."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    line = mesh(x=4)

    def over(f):
        return jax.shard_map(f, mesh=line, in_specs=P("x"), out_specs=P("x"), check_vma=False), (X,)

    def until_its_own_end(x):
        state = lax.while_loop(
            lambda c: c[0] < lax.axis_index("x") + 1, lambda c: (c[0] + 1, c[1] + lax.psum(c[1], "x")), (0, x)
        )
        return state[1]

    return {
        "scan": over(lambda x: lax.scan(lambda c, _: (c + lax.pmean(c, "x"), c[0, 0]), x, None, 5)[0]),
        "while that ends together": over(
            lambda x: lax.while_loop(lambda c: lax.pmax(c.sum(), "x") < 1e3, lambda c: c + lax.psum(c**2, "x"), x)
        ),
        "while that ends at different times": over(until_its_own_end),
        "cond that differs": over(
            lambda x: lax.cond(lax.axis_index("x") > 1, lambda a: lax.psum(a, "x"), lambda a: a * 2, x)
        ),
        "a callback": over(
            lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + lax.psum(x, "x")
        ),
        "fori_loop over a ring": over(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.ppermute(c, "x", RING) + i, x)),
        "jnp in it": over(lambda x: jnp.sort(x, axis=1) - lax.pmean(jnp.tanh(x), "x")),
    }


def whole_programs(jax, mesh):
    """Programs with several regions, derivatives through them, jit within and around."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    line, square = mesh(x=4), mesh(x=2, y=2)
    mean = jax.shard_map(lambda x: lax.pmean(jnp.sin(x), "x"), mesh=line, in_specs=P("x"), out_specs=P())

    def loss(w, x):
        def part(w, x):
            return lax.pmean((jnp.tanh(x @ w) ** 2).mean(), "x")

        return jax.shard_map(part, mesh=line, in_specs=(P(), P("x")), out_specs=P())(w, x)

    def step(w, x):
        def part(w, x):
            local = jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)
            return w - 0.1 * lax.pmean(local, ("x", "y"))

        specs = (P(), P(("x", "y")))
        return jax.shard_map(part, mesh=square, in_specs=specs, out_specs=P(), check_vma=False)(w, x)

    weights = np.linspace(-1, 1, 18, dtype=np.float32).reshape(6, 3)
    return {
        "two regions": (lambda x: mean(jax.shard_map(
            lambda a: a * 2, mesh=line, in_specs=P("x"), out_specs=P("x"))(x)), (X,)),
        "value and gradient": (jax.value_and_grad(loss), (weights, X)),
        "a step of training": (step, (weights, X)),
        "random numbers": (
            jax.shard_map(
                lambda x: jax.random.normal(jax.random.fold_in(jax.random.key(3), lax.axis_index("x")), x.shape),
                mesh=line, in_specs=P("x"), out_specs=P("x"),
            ),
            (X,),
        ),
    }  # fmt: skip


def sharded(jax, mesh):
    """Functions of sharded arrays, which the compiler partitions."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    square = mesh(x=2, y=2)

    def over(f, *args_and_specs):
        args, specs = args_and_specs[::2], args_and_specs[1::2]
        put = lambda x, spec: jax.device_put(x, jax.sharding.NamedSharding(square, spec))
        return (lambda *args: f(*map(put, args, specs))), args

    def loss(w, x):
        hidden = jnp.tanh(x @ w["in"])
        return -jnp.mean(jax.nn.log_softmax(hidden @ w["out"]))

    def train(up, down, x):
        w = {"in": up, "out": down}
        for _ in range(2):
            value, g = jax.value_and_grad(loss)(w, x)
            w = jax.tree.map(lambda a, b: a - 0.1 * b, w, g)
        return value, w

    constrained = jax.jit(lambda x: lax.with_sharding_constraint(x.T, jax.sharding.NamedSharding(square, P("y"))) * 2)
    draw = jax.jit(
        lambda: jax.random.normal(jax.random.key(7), (8, 6)), out_shardings=jax.sharding.NamedSharding(square, P("x"))
    )
    up, down = np.linspace(-1, 1, 96).reshape(6, 16), np.cos(np.arange(64.0)).reshape(16, 4)
    up, down = up.astype(np.float32), down.astype(np.float32)
    return {
        "operation by operation": over(lambda x: (jnp.sin(x) + 1, x.sum(0), x[2], x.T, x @ x.T), X, P("x", "y")),
        "jit of a product": over(jax.jit(lambda x, y: x @ y), Y, P("x"), Y, P(None, "y")),
        "jit of a product over split dimensions": over(jax.jit(lambda x, y: x @ y), Y, P(None, "y"), Y, P("y")),
        "jit of statistics": over(jax.jit(lambda x: (x.mean(), x.var(0), x.max(1), jnp.sort(x, 0))), X, P("x", "y")),
        "jit with a constraint": over(constrained, Y, P("x")),
        "jit of a scan": over(
            jax.jit(lambda x: lax.scan(lambda c, r: (c + r, c.sum()), jnp.zeros(6), x)), X, P("x", "y")
        ),
        "jit of random numbers": (lambda x: draw() + x, (X,)),
        "jit of an indexed update": over(jax.jit(lambda x: x.at[1].add(1)[::2]), X, P("x")),
        "data-parallel training": over(jax.jit(train), up, P(), down, P(), X, P(("x", "y"))),
        "tensor-parallel training": over(jax.jit(train), up, P(None, "y"), down, P("y"), X, P("x")),
    }
