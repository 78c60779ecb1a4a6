"""Programs over named axes and meshes of eight devices: `cases(jax)` works for onax and for real JAX.

The results of real JAX are recorded.  Where a result lies is part of the result where the name says so.
"""

import numpy as np

X = np.arange(12, dtype=np.float32).reshape(4, 3) / 8
Y = np.arange(32, dtype=np.float32).reshape(4, 4, 2) / 16
Z = np.arange(32, dtype=np.float32).reshape(8, 4) / 16
W = np.arange(4, dtype=np.float32) / 2
RING = [(i, (i + 1) % 4) for i in range(4)]


def cases(jax):
    """name -> (function, arguments)."""
    return {
        **_collectives(jax),
        **_gradients(jax),
        **_nested(jax),
        **_custom_vmap(jax),
        **_pmap(jax),
        **_callbacks(jax),
        **_shard_map(jax),
        **_gradients_in_shard_map(jax),
        **_rules_over_devices(jax),
        **_placed(jax),
        **_printed(jax),
    }


def has_regions(name):
    """Whether a case is a program with a shard_map over all eight devices."""
    return "shard_map" in name and "pmap" not in name and not name.startswith(("where", "printed"))


def _over(jax, f, x=X, **options):
    return lambda *args: jax.vmap(f, axis_name="i", **options)(*args), (x,)


def _collectives(jax):
    jnp, lax = jax.numpy, jax.lax
    over = lambda f, x=X, **options: _over(jax, f, x, **options)
    return {
        "psum": over(lambda x: lax.psum(x, "i")),
        "psum of a tree": over(lambda x: lax.psum({"a": x, "b": (x[0], 2)}, "i")),
        "psum of what is not mapped": over(lambda x: lax.psum(jnp.sin(jnp.ones(2)), "i") + x[:2]),
        "psum of a number": over(lambda x: x * lax.psum(1, "i")),
        "psum of bools": over(lambda x: lax.psum(x > 0.5, "i")),
        "psum of bfloat16": over(lambda x: lax.psum(x.astype(jnp.bfloat16), "i")),
        "psum of int8": over(lambda x: lax.psum((x * 8).astype(jnp.int8), "i")),
        "psum over own axes too": over(lambda x: lax.psum(x, (0, "i"))),
        "psum, not mapped outside": over(lambda x: lax.psum(x, "i"), out_axes=None),
        "pmean": over(lambda x: lax.pmean(x, "i")),
        "pmean of integers": over(lambda x: lax.pmean((x * 8).astype(int), "i")),
        "pmax and pmin": over(lambda x: (lax.pmax(x, "i"), lax.pmin(x, "i"), lax.pmax(x > 1, "i"))),
        "all_gather": over(lambda x: lax.all_gather(x, "i")),
        "all_gather at the end": over(lambda x: lax.all_gather(x, "i", axis=-1)),
        "all_gather tiled": over(lambda x: lax.all_gather(x, "i", tiled=True)),
        "all_gather tiled, second axis": over(lambda x: lax.all_gather(x, "i", axis=1, tiled=True), Y),
        "all_gather of what is not mapped": over(lambda x: lax.all_gather(jnp.arange(2.0), "i", axis=1) + x[0]),
        "psum_scatter": over(lambda x: lax.psum_scatter(x, "i"), Y),
        "psum_scatter tiled": over(lambda x: lax.psum_scatter(x, "i", tiled=True), Y),
        "psum_scatter, second axis": over(lambda x: lax.psum_scatter(x.T, "i", scatter_dimension=1), Y),
        "all_to_all 0 0": over(lambda x: lax.all_to_all(x, "i", 0, 0), Y),
        "all_to_all 0 1": over(lambda x: lax.all_to_all(x, "i", 0, 1), Y),
        "all_to_all 1 0": over(lambda x: lax.all_to_all(x.T, "i", 1, 0), Y),
        "all_to_all tiled": over(lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True), Y),
        "ppermute": over(lambda x: lax.ppermute(x, "i", RING)),
        "pshuffle": over(lambda x: lax.pshuffle(x, "i", [3, 1, 0, 2])),
        "pswapaxes": over(lambda x: lax.pswapaxes(x, "i", 0), Y),
        "axis_index": over(lambda x: lax.axis_index("i")),
        "axis_size": over(lambda x: x * lax.axis_size("i")),
        "mapped behind": over(lambda x: lax.all_gather(x, "i", axis=1) * lax.psum(x, "i")[:, None], X, in_axes=1),
        "normalised": over(lambda x: x / jnp.sqrt(lax.pmean(x**2, "i") + 1)),
    }


def _gradients(jax):
    jnp, lax = jax.numpy, jax.lax

    def of(collective, x=X):
        weighted = lambda y: jnp.sum(jnp.sin(y) * jnp.arange(1.0, 1.0 + y.size).reshape(y.shape))
        return _over(jax, jax.grad(lambda x: weighted(collective(x))), x)

    outside = lambda f, x=X: (jax.grad(lambda x: jnp.sum(jax.vmap(f, axis_name="i")(x) ** 2)), (x,))
    return {
        "grad of psum": of(lambda x: lax.psum(x, "i")),
        "grad of pmean": of(lambda x: lax.pmean(x, "i")),
        "grad of all_gather": of(lambda x: lax.all_gather(x, "i")),
        "grad of all_gather tiled": of(lambda x: lax.all_gather(x, "i", tiled=True)),
        "grad of psum_scatter": of(lambda x: lax.psum_scatter(x, "i"), Y),
        "grad of all_to_all": of(lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True), Y),
        "grad of ppermute": of(lambda x: lax.ppermute(x, "i", RING)),
        "grad outside of psum": outside(lambda x: jnp.sin(x) * lax.psum(x, "i")),
        "grad outside of all_gather": outside(lambda x: lax.all_gather(jnp.sin(x), "i") * x),
        "jvp of psum": (
            lambda x: jax.jvp(lambda x: jax.vmap(lambda y: lax.psum(jnp.sin(y), "i"), axis_name="i")(x), (x,), (x,)),
            (X,),
        ),
        "hessian of psum": _over(jax, jax.hessian(lambda x: jnp.sum(lax.psum(jnp.sin(x), "i") ** 2))),
        "grad of a checkpointed psum": of(jax.checkpoint(lambda x: lax.psum(jnp.sin(x), "i"))),
    }


def _nested(jax):
    jnp, lax = jax.numpy, jax.lax
    over = lambda f, x=X, **options: _over(jax, f, x, **options)

    def two(f):
        return over(lambda x: jax.vmap(f, axis_name="j")(x))

    return {
        "two names": two(lambda y: lax.psum(y, ("i", "j")) + y),
        "inner name": two(lambda y: (lax.psum(y, "j"), lax.axis_index("j"), lax.all_gather(y, "j"))),
        "outer name": two(lambda y: (lax.psum(y, "i"), lax.axis_index("i"), lax.all_gather(y, "i"))),
        "index over two names": two(lambda y: lax.axis_index(("i", "j"))),
        "extremes over two names": two(lambda y: lax.pmax(y, ("j", "i")) - lax.pmin(y, ("i", "j"))),
        "inner name shadows": over(lambda x: jax.vmap(lambda y: lax.psum(y, "i"), axis_name="i")(x)),
        "unnamed vmap inside": over(lambda x: jax.vmap(lambda y: lax.all_gather(y, "i"))(x)),
        "jit inside": over(lambda x: jax.jit(lambda y: lax.psum(y, "i") + lax.axis_index("i"))(x)),
        "jit inside of what is not mapped": over(lambda x: jax.jit(lambda y: lax.axis_index("i") * y)(2) + x),
        "scan inside": over(lambda x: lax.scan(lambda c, a: (c + lax.psum(a, "i"), lax.axis_index("i")), 0.0, x)),
        "cond inside": over(lambda x: lax.cond(x[0] > 0.5, lambda a: lax.psum(a, "i"), lambda a: a, x)),
        "cond of what is not mapped": over(lambda x: lax.cond(True, lambda: lax.axis_index("i"), lambda: 0) + x),
        "while inside": over(
            lambda x: lax.while_loop(lambda c: lax.pmax(c[0], "i") < 9, lambda c: c + lax.psum(c, "i"), x + 1)
        ),
        "while with a mapped condition": over(
            lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: c + lax.psum(c, "i"), x + 1)
        ),
        "custom_jvp inside": over(lambda x: jax.nn.relu(lax.psum(x - 0.5, "i"))),
        "fori_loop inside": over(lambda x: lax.fori_loop(0, 3, lambda i, c: lax.ppermute(c, "i", RING) * 2, x)),
        "axis_size given": (
            lambda: jax.vmap(lambda: lax.axis_index("i") + lax.psum(1, "i"), axis_name="i", axis_size=3)(),
            (),
        ),
        "spmd_axis_name": (lambda x: jax.vmap(lambda y: jnp.sin(y), spmd_axis_name="m")(x), (X,)),
    }


def _custom_vmap(jax):
    jnp, lax = jax.numpy, jax.lax
    custom_vmap, sequential_vmap = jax.custom_batching.custom_vmap, jax.custom_batching.sequential_vmap

    @custom_vmap
    def f(x, y):
        return jnp.sin(x) * y

    @f.def_vmap
    def _(axis_size, in_batched, x, y):
        return f(x, y) + axis_size + 10 * in_batched[0] + 100 * in_batched[1], in_batched[0] or in_batched[1]

    @custom_vmap
    def tree(d, c):
        return {"o": d["a"] + c}, d["b"]

    @tree.def_vmap
    def _(axis_size, in_batched, d, c):
        return ({"o": d["a"] - c}, d["b"]), ({"o": True}, in_batched[0]["b"])

    slow = sequential_vmap(lambda x, y: lax.cond(x.sum() > 1, lambda x: x + y, lambda x: x * 2, x))
    return {
        "custom_vmap": (f, (X, X)),
        "vmap of custom_vmap": (jax.vmap(f), (X, X)),
        "vmap of custom_vmap, one mapped": (jax.vmap(f, in_axes=(0, None)), (X, X[0])),
        "vmap of custom_vmap, other axes": (jax.vmap(f, in_axes=(None, 1), out_axes=1), (X[:, 0], X)),
        "vmap of vmap of custom_vmap": (jax.vmap(jax.vmap(f)), (X, X)),
        "vmap of custom_vmap of trees": (
            jax.vmap(tree, in_axes=({"a": 0, "b": None}, None)),
            ({"a": X, "b": np.float32(1)}, np.float32(2)),
        ),
        "jvp of custom_vmap": (lambda x: jax.jvp(lambda x: f(x, 2 * x), (x,), (x,)), (X,)),
        "jvp of vmap of custom_vmap": (lambda x: jax.jvp(lambda x: jax.vmap(f)(x, 2 * x), (x,), (x,)), (X,)),
        "vmap of jvp of custom_vmap": (lambda x: jax.vmap(lambda x: jax.jvp(f, (x, 1.0), (x, 2.0)))(x[:, 0]), (X,)),
        "custom_vmap in scan": (jax.vmap(lambda x: lax.scan(lambda c, a: (f(c, a), c), 1.0, x)), (X,)),
        "custom_vmap in cond": (
            jax.vmap(lambda x: lax.cond(x[0] > 0.5, lambda a: f(a, a), lambda a: a, x)),
            (X,),
        ),
        "custom_vmap with a collective": _over(jax, lambda x: f(x, lax.psum(x, "i"))),
        "sequential_vmap": (jax.vmap(slow), (X, X)),
        "sequential_vmap, one mapped": (jax.vmap(slow, in_axes=(0, None)), (X, np.float32(3))),
        "sequential_vmap of sequential_vmap": (jax.vmap(jax.vmap(slow, in_axes=(0, None)), in_axes=(0, 0)), (Y, W)),
    }


def _pmap(jax):
    jnp, lax = jax.numpy, jax.lax
    mapped = lambda f, **options: jax.pmap(f, axis_name="i", **options)
    loss = mapped(lambda x: lax.psum(jnp.sin(x), "i") * x)
    return {
        "pmap": (mapped(lambda x: x * lax.psum(x, "i")), (X,)),
        "pmap without a name": (jax.pmap(lambda x: x * 2), (X,)),
        "pmap of axes": (mapped(lambda x, y: x + y, in_axes=(1, None), out_axes=1), (X, X[:, 0])),
        "pmap of a tree": (
            mapped(lambda d, y: {"s": d["a"] + y, "n": lax.axis_index("i")}, in_axes=({"a": 0}, None)),
            ({"a": X}, np.float32(1)),
        ),
        "pmap, one result for all": (mapped(lambda x: lax.pmean(x, "i"), out_axes=None), (X,)),
        "pmap of a constant": (mapped(lambda x: 1.0), (X,)),
        "pmap with groups": (mapped(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]])), (X,)),
        "pmap with gathered groups": (
            mapped(lambda x: lax.all_gather(x, "i", axis_index_groups=[[0, 3], [1, 2]])),
            (X,),
        ),
        "pmap and ppermute with gaps": (mapped(lambda x: lax.ppermute(x, "i", [(0, 1), (3, 2)])), (X,)),
        "grad of pmap": (jax.grad(lambda x: jnp.sum(loss(x))), (X,)),
        "grad in pmap": (mapped(jax.grad(lambda x: jnp.sum(lax.psum(jnp.sin(x), "i") * x))), (X,)),
        "vmap of pmap": (jax.vmap(loss), (X[None],)),
        "jvp of pmap": (lambda x: jax.jvp(loss, (x,), (x,)), (X,)),
        "scan in pmap": (mapped(lambda x: lax.scan(lambda c, a: (c + lax.psum(a, "i"), c), 0.0, x)), (X,)),
    }


def _callbacks(jax):
    """Python is called for each device, those calls only that the device comes to."""
    lax, P = jax.lax, jax.sharding.PartitionSpec
    mapped = lambda f, **options: jax.pmap(f, axis_name="i", **options)
    pure = lambda x, **options: jax.pure_callback(lambda a: np.float32(a.ndim) + np.sin(a), x, x, **options)
    io = lambda x, **options: jax.experimental.io_callback(np.cos, x, x, **options)
    refuse = lambda a: a if (a < 2).any() else np.zeros((5, 5))
    return {
        "pmap and pure_callback": (mapped(lambda x: pure(x) + lax.psum(x, "i")), (X,)),
        "pmap and pure_callback with a method": (mapped(lambda x: pure(x, vmap_method="expand_dims")), (X,)),
        "shard_map and pure_callback": (_mapper(jax)(lambda x: pure(x), P("x", "y"), P("x", "y")), (Z,)),
        "pmap and io_callback": (mapped(lambda x: io(x) * lax.pmax(x, "i")), (X,)),
        "pmap and ordered io_callback": (mapped(lambda x: io(x, ordered=True)), (X,)),
        "pmap and io_callback in cond": (mapped(lambda x: lax.cond(x[0] > 0.5, io, lambda a: a, x)), (X,)),
        "pmap and a callback in cond that some must not reach": (
            mapped(
                lambda x: lax.cond(x[0] < 1, lambda a: jax.experimental.io_callback(refuse, a, a), lambda a: a * 2, x)
            ),
            (X * 2,),
        ),
        "pmap and io_callback in while": (
            mapped(lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: io(c) + c + 1, x)),
            (X,),
        ),
        "pmap and io_callback in scan": (mapped(lambda x: lax.scan(lambda c, a: (io(c) + a, c), 0.0, x)), (X,)),
    }


def _mesh(jax, sizes=(4, 2), names=("x", "y")):
    return jax.make_mesh(sizes, names, (jax.sharding.AxisType.Auto,) * len(sizes))


def _mapper(jax, **options):
    mesh = _mesh(jax)
    return lambda f, i, o, **more: jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **options, **more)


def _shard_map(jax):
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    on = _mapper(jax)
    free = _mapper(jax, check_vma=False)
    matmul = on(lambda a, b: lax.psum(a @ b, "y"), (P("x", "y"), P("y", None)), P("x", None))
    both = P(("x", "y"))
    return {
        "shard_map": (on(lambda x: x * 2 + x.shape[0], P("x", "y"), P("x", "y")), (Z,)),
        "shard_map and psum": (on(lambda x: lax.psum(x, "x"), P("x"), P()), (Z,)),
        "shard_map and psum of all": (on(lambda x: lax.psum(x.sum(), ("x", "y")), P("x", "y"), P()), (Z,)),
        "shard_map puts copies together": (on(lambda x: x, P(), P("x")), (Z[:2],)),
        "shard_map reorders": (on(lambda x: x, P(("x", "y")), P(("y", "x"))), (Z,)),
        "shard_map over one axis": (on(lambda x: x * lax.axis_size("x"), P("x"), P("x"), axis_names={"x"}), (Z,)),
        "shard_map of a matrix product": (matmul, (Z, np.ones((4, 5), np.float32))),
        "shard_map takes the first": (free(lambda x: x, P("x", "y"), P("x")), (Z,)),
        "shard_map and indices": (
            on(lambda x: (lax.axis_index(("x", "y"))[None], lax.axis_index("y")[None]), P("x"), (both, both)),
            (Z,),
        ),
        "shard_map and ppermute": (on(lambda x: lax.ppermute(x, "x", RING), P("x"), P("x")), (Z,)),
        "shard_map and ppermute over two": (
            free(lambda x: lax.ppermute(x, ("x", "y"), [(0, 7), (3, 1)]), both, both),
            (Z,),
        ),
        "shard_map and all_gather over two": (
            free(lambda x: lax.all_gather(x, ("x", "y"), tiled=True), both, P()),
            (Z,),
        ),
        "shard_map and psum_scatter over two": (
            free(lambda x: lax.psum_scatter(x, ("x", "y"), tiled=True), P(), both),
            (Z,),
        ),
        "shard_map and all_to_all": (on(lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True), P("x"), P("x")), (Z,)),
        "shard_map and all_to_all over two": (
            free(lambda x: lax.all_to_all(x, ("x", "y"), 1, 0, tiled=True), both, both),
            (np.arange(64, dtype=np.float32).reshape(8, 8),),
        ),
        "shard_map closes over arrays": (on(lambda x: x + jnp.asarray(W), P("x"), P("x")), (Z,)),
        "shard_map and cond": (
            on(lambda x: lax.cond(x[0, 0] > 1, lambda a: a + 1, lambda a: a, x), P("x"), P("x")),
            (Z,),
        ),
        "vmap of shard_map": (jax.vmap(on(lambda x: x - lax.pmax(x, "x"), P("x"), P("x"))), (np.stack([Z, Z * 2]),)),
        "jvp of shard_map": (lambda z: jax.jvp(on(lambda x: lax.psum(jnp.sin(x), "x"), P("x"), P()), (z,), (z,)), (Z,)),
    }


def _gradients_in_shard_map(jax):
    """Derivatives inside and outside: with respect to what is the same everywhere they are summed over devices."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    programs = {
        "of what varies": lambda w, x: jnp.sum(jnp.sin(x * w)),
        "of a sum of both": lambda w, x: jnp.sum(x + w),
        "of psum": lambda w, x: lax.psum(jnp.sum(jnp.sin(x * w)), "x"),
        "of pmean": lambda w, x: lax.pmean(jnp.sum(jnp.sin(x * w)), "x"),
        "of psum of the same": lambda w, x: lax.psum(jnp.sum(w**2), "x"),
        "of psum times varying": lambda w, x: jnp.sum(lax.psum(w * x, "x") * x),
        "of psum of psum": lambda w, x: lax.psum(jnp.sum(lax.psum(w * x, "x") ** 2), "x"),
        "of all_gather": lambda w, x: jnp.sum(w * lax.all_gather(x, "x", tiled=True)),
        "in scan": lambda w, x: lax.psum(
            lax.scan(lambda c, a: (c + jnp.sum(a * w), None), lax.pcast(0.0, "x", to="varying"), x)[0], "x"
        ),
        "in jit": lambda w, x: jax.jit(lambda w, x: lax.psum(jnp.sum(jnp.sin(x * w)), "x"))(w, x),
    }
    found = {}
    for checked in (True, False):
        on, note = _mapper(jax, check_vma=checked), "" if checked else ", unchecked"
        for name, f in programs.items():
            if not checked and name == "in scan":  # pcast is for the checked kind
                continue
            by_w, by_x = jax.grad(f), jax.grad(f, argnums=1)
            found[f"grad in shard_map {name}{note}"] = (on(by_w, (P(), P("x")), P()), (W, Z))
            found[f"grad of the pieces in shard_map {name}{note}"] = (on(by_x, (P(), P("x")), P("x")), (W, Z))
        outer = on(lambda w, x: lax.psum(jnp.sin(x * w), "x"), (P(), P("x")), P())
        cut = on(lambda w, x: jnp.sin(x * w) * lax.pmean(x, "x"), (P(), P("x")), P("x"))
        for name, f in {"replicated": outer, "cut": cut}.items():
            total = lambda w, x, f=f: jnp.sum(f(w, x) ** 2)
            found[f"grad of shard_map, {name}{note}"] = (jax.grad(total, argnums=(0, 1)), (W, Z))
    return found


def _rules_over_devices(jax):
    """custom_jvp rules that compute results and tangents in one region."""
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    on = _mapper(jax)
    cut, pair = P("x"), lambda x: jnp.stack([x, x + 1])

    def ruled(f, rule):
        f = jax.custom_jvp(f)
        f.defjvp(rule)
        return f

    def of_jvp(f):
        return ruled(f, lambda p, t: jax.jvp(f, p, t))

    both = lambda a, b: (jnp.sin(a), b * lax.psum(jnp.sum(a), "x"))
    functions = {
        "by hand": ruled(jnp.sin, lambda p, t: on(both, (cut, cut), (cut, cut))(*p, *t)),
        "by jvp": of_jvp(on(lambda x: jnp.sin(x) * lax.pmean(x, "x"), cut, cut)),
        "by jvp, replicated": of_jvp(on(lambda x: lax.psum(jnp.sin(x), "x"), cut, P())),
    }
    found = {}
    for name, f in functions.items():
        total = lambda x, f=f: jnp.sum(f(x) * 2)
        found[f"grad of a rule over devices {name}"] = (jax.grad(total), (Z,))
        found[f"grad of vmap of jit of a rule over devices {name}"] = (
            jax.grad(lambda x, f=f: jnp.sum(jax.vmap(jax.jit(f))(pair(x)))),
            (Z,),
        )
    return found


def where(jax, x):
    """(x, for each shard the device's number and where its piece begins and ends, -1 for the end of a whole axis)."""
    rows = [
        [s.device.id, *(n for c in s.index for n in (c.start or 0, -1 if c.stop is None else c.stop))]
        for s in sorted(x.addressable_shards, key=lambda s: s.device.id)
    ]
    return x, np.array(rows, np.int32)


def _placed(jax):
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    mesh = _mesh(jax)
    on = lambda *spec: jax.sharding.NamedSharding(mesh, P(*spec))
    put = lambda *spec: jax.device_put(Z, on(*spec))
    placed = lambda f, *args: (lambda *xs: jax.tree_util.tree_map(lambda x: where(jax, x), f(*xs)), args)
    several = lambda x: (
        x * 2, x.T, x.sum(), x.sum(0), x.sum(1), x.reshape(-1), x.reshape(4, 8), x.reshape(8, 2, 2), x[0], x[:, 0],
        x @ x.T, x.T @ x, jnp.concatenate([x, x]), jnp.stack([x, x]), x[:, None], x[:, :2], x[::-1],
        jnp.where(x > 1, x, 0), jnp.argmax(x, 1), jnp.broadcast_to(x, (2, 8, 4)), x.astype(int), jnp.cumsum(x, 0),
    )  # fmt: skip
    return {
        "where pmap puts": placed(jax.pmap(lambda x: x * 2), X),
        "where pmap puts axis 1": placed(jax.pmap(lambda x: x, out_axes=1), X),
        "where pmap puts one result": placed(jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i", out_axes=None), X),
        "where pmap on named devices puts": placed(lambda x: jax.pmap(lambda x: x, devices=jax.devices()[4:])(x), X),
        "where the gradient of pmap is": placed(
            jax.grad(lambda x: jnp.sum(jax.pmap(lambda y: jnp.sin(y) * lax.psum(y, "i"), axis_name="i")(x))), X
        ),
        "where shard_map puts": placed(_mapper(jax)(lambda x: x, P("y", "x"), P("y", "x")), Z),
        "where jitted shard_map puts": placed(jax.jit(_mapper(jax)(lambda x: x, P("x"), P(None, "x"))), Z.T.copy().T),
        "where device_put puts": placed(lambda x: jax.device_put(x, on(("x", "y"))), Z),
        "where device_put in jit puts": placed(jax.jit(lambda x: jax.device_put(x * 2, on("y"))), Z),
        "where results of sharded operands are": placed(lambda: several(put("x", "y"))),
        "where results of operands sharded once are": placed(lambda: several(put("x"))),
        "where jitted results of sharded operands are": placed(lambda: jax.jit(several)(put("x", "y"))),
        "where in_shardings put": placed(lambda x: jax.jit(lambda x: x * 2, in_shardings=on("x", "y"))(x), Z),
        "where out_shardings put": placed(lambda x: jax.jit(lambda x: (x, x.T), out_shardings=(on("x"), on()))(x), Z),
        "where with_sharding_constraint puts": placed(
            jax.jit(lambda x: lax.with_sharding_constraint(x + 1, on(None, "y"))), Z
        ),
        "where the gradient of jit with shardings is": placed(
            jax.grad(
                lambda x: (jax.jit(lambda x: jnp.sin(x) * 2, in_shardings=on("x"), out_shardings=on("x"))(x)).sum()
            ),
            Z,
        ),
        "where vmap of jit with shardings puts": placed(
            jax.vmap(jax.jit(lambda x: x * 2, in_shardings=on("x"), out_shardings=on(None, "y"))), np.stack([Z, Z])
        ),
        "where jit of jit with shardings puts": placed(
            jax.jit(lambda x: jax.jit(lambda x: x * 2, in_shardings=on("x"))(x).T + 1), Z
        ),
        "where jit with a static argument puts": placed(
            lambda x: jax.jit(lambda x, n: x * n, static_argnums=1, in_shardings=(on("y"),))(x, 3), Z
        ),
        "where a constraint in scan puts": placed(
            jax.jit(
                lambda x: lax.scan(lambda c, a: (lax.with_sharding_constraint(c + a, on("y")), None), jnp.zeros(4), x)[
                    0
                ]
            ),
            Z,
        ),
        "where vmap of a constraint puts": placed(
            jax.jit(jax.vmap(lambda x: lax.with_sharding_constraint(x, on("y")), spmd_axis_name="x")), Z
        ),
        "where a constraint that does not fit puts": placed(
            jax.jit(lambda x: lax.with_sharding_constraint(x, on("x", "y"))), Z[:3]
        ),
        "where sums of unlike shards are": placed(lambda: (put("x", "y") + put("x"), put("x") + put(None, "y"))),
    }


def _printed(jax):
    """The text of programs, as bytes."""
    lax, P = jax.lax, jax.sharding.PartitionSpec
    mesh = _mesh(jax, (4,), ("x",))
    on = lambda *spec: jax.sharding.NamedSharding(mesh, P(*spec))
    printed = lambda f, *args: (
        lambda *xs: np.frombuffer(str(jax.make_jaxpr(f)(*xs)).encode(), np.uint8),
        args,
    )
    free = lambda f, i, o: jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, check_vma=False)
    f = jax.custom_batching.custom_vmap(lambda x, y: (jax.numpy.sin(x) * y, y))
    f.def_vmap(lambda axis_size, in_batched, x, y: ((x, y), (True, True)))
    slow = jax.custom_batching.sequential_vmap(lambda x, y: x + y)
    return {
        "printed pmap": printed(jax.pmap(lambda x: lax.psum(x, "i") + lax.axis_index("i"), axis_name="i"), X),
        "printed pmap without a name": printed(lambda x: jax.pmap(lambda y: y * 2, out_axes=1)(x).sum(), X),
        "printed pmap with a static argument": printed(
            lambda x: jax.pmap(lambda y, n: y * n, static_broadcasted_argnums=1)(x, 3), X
        ),
        "printed pmap of several": printed(jax.pmap(lambda x, y: (x + y, 1.0), in_axes=(0, None)), X, W[:3]),
        "printed shard_map": printed(
            free(lambda x, w: lax.all_gather(x * w, "x", tiled=True), (P("x"), P()), P("x")), Z, W
        ),
        "printed shard_map of constants": printed(free(lambda x: x + jax.numpy.asarray(W), P("x"), P("x")), Z),
        "printed custom_vmap": printed(f, X, X),
        "printed sequential_vmap": printed(jax.vmap(slow, in_axes=(0, None)), X, np.float32(1)),
        "printed sharding_constraint": printed(lambda x: lax.with_sharding_constraint(x * 2, on("x")), Z),
        "printed jit with shardings": printed(
            jax.jit(lambda x, y: (x * y, y), in_shardings=(on("x"), on()), out_shardings=on(None, "x")), Z, Z
        ),
        "printed device_put": printed(lambda x: jax.device_put(x, on("x")), Z),
    }
