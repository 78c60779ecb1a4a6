"""Programs with names that came after JAX 0.10.2: `cases(jax)`, for onax and for the JAX whose answers are recorded."""

import numpy as np

JAX_VERSION = "0.12.0.1"


def fault(call):
    """The class and the first line of the error that a call raises, as an array of bytes; the result if it returns."""
    try:
        return call()
    except Exception as error:  # whatever real JAX raises is recorded
        text = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        return np.frombuffer(text.encode(), np.uint8)


def logarithms(jax):
    x, z = np.float32([0.5, 1.0, 8.0, 3.0]), np.complex64([1 + 2j, -3j, 4])
    lax = jax.lax
    yield "log2", lax.log2, (x,)
    yield "log2 of complex numbers", lax.log2, (z,)
    yield "log2 of a Python number", lax.log2, (3.0,)
    yield "derivative of log2", jax.grad(lambda x: lax.log2(x).sum()), (x,)
    yield "log2 at edges", lax.log2, (np.float32([0.0, np.inf, -1.0, np.nan]),)
    yield "log2 of an integer", lambda: fault(lambda: lax.log2(3)), ()
    yield "one_minus_square", lax.one_minus_square, (np.float32([0.9999999, 1e-30, 3.0, -1.0]),)
    yield "one_minus_square of uint8", lax.one_minus_square, (np.uint8([0, 1, 2, 200]),)
    yield "derivative near 0", jax.vmap(jax.grad(lax.one_minus_square)), (np.float32([1e-30, 0.5, -2.0]),)


def polynomials(jax):
    lax, jnp = jax.lax, jax.numpy
    x, a = np.float32([0.5, -1.5, 2.0]), np.float32([1.0, 0.25, -2.0])
    yield "polynomial", lambda x: lax.polynomial(x, [1.0, 5.0, 2.0]), (x,)
    yield "polynomial at a Python number", lambda: lax.polynomial(3.0, [1.0, 5.0, 2.0]), ()
    yield "polynomial at a Python integer", lambda: lax.polynomial(3, [1, 2, 3]), ()
    yield "polynomial without coefficients", lambda x: lax.polynomial(x, []), (x,)
    yield "polynomial of degree 0", lambda x: lax.polynomial(x, [a]), (x,)
    yield "coefficients of an array", lax.polynomial, (x, a)
    yield "coefficients of another dtype", lambda x: lax.polynomial(x, [1.5, 2]), (np.int32([1, 2]),)
    yield "of degree 11", lambda x: lax.polynomial(x, [1.0, -0.5] * 6), (x,)
    yield "with unroll", lambda x: lax.polynomial(x, [1.0, -0.5] * 6, unroll=2), (x,)
    yield (
        "jvp of a polynomial",
        lambda x, a: jax.jvp(lambda x, a: lax.polynomial(x, [1.0, a, a]), (x, a), (a, x)),
        (x, a),
    )
    yield "gradient of a polynomial", jax.grad(lambda x, a: lax.polynomial(x, [a, 1.0, a]).sum(), (0, 1)), (x, a)
    yield "second derivative", jax.vmap(jax.grad(jax.grad(lambda x: lax.polynomial(x, [1.0, 2.0, 3.0, 4.0])))), (x,)
    yield "batched coefficients", jax.vmap(lambda x, a: lax.polynomial(x, [1.0, a, 3.0])), (np.outer(x, a), a)
    wrong = (
        lambda: lax.polynomial(jnp.ones(2), [jnp.ones(3), 1.0]),
        lambda: lax.polynomial(jnp.ones(2), [jnp.ones((1, 3)), 1.0]),
    )
    for i, call in enumerate(wrong):
        yield f"wrong polynomial {i}", lambda call=call: fault(call), ()


def of_numpy(jax):
    jnp = jax.numpy
    f, i = np.float32([[2, 5, 1, 6], [3, -7, np.nan, 4]]), np.int32([[2, 5, 1, 6], [3, -7, -2, 4]])
    yield "minmax", jnp.minmax, (i,)
    yield "minmax with nan", lambda x: jnp.minmax(x, axis=1, keepdims=True), (f,)
    yield "minmax of bool", lambda x: jnp.minmax(x, axis=0), (i > 2,)
    yield "minmax of complex numbers", jnp.minmax, (np.complex64([1 + 2j, 3, -1j]),)
    yield "minmax with initial", lambda x: jnp.minmax(x, axis=(0, -1), initial=3), (i,)
    yield "minmax where", lambda x: jnp.minmax(x, axis=1, initial=(0, 5), where=x > 0), (i,)
    for name, call in {
        "nothing": lambda: jnp.minmax(jnp.zeros((0, 3)), axis=0),
        "where alone": lambda: jnp.minmax(jnp.ones(3), where=jnp.array([True, False, True])),
        "an array as initial": lambda: jnp.minmax(jnp.ones(3), initial=jnp.ones(3)),
    }.items():
        yield f"minmax of {name}", lambda call=call: fault(call), ()
    ties = np.float32([[2, 5, 2, 5], [-0.5, -7, np.inf, 4]])
    for mode in ("largest", "smallest"):
        for axis in (-1, 0):
            yield f"top_k {mode} {axis}", lambda x, m=mode, a=axis: jnp.top_k(x, 2, mode=m, axis=a), (ties,)
        yield f"top_k of integers {mode}", lambda x, m=mode: jnp.top_k(x, 3, mode=m), (i,)
        yield f"top_k of uint8 {mode}", lambda x, m=mode: jnp.top_k(x, 2, mode=m), (np.uint8([0, 255, 7]),)
        yield f"top_k of bool {mode}", lambda x, m=mode: jnp.top_k(x, 2, mode=m), (np.array([False, True, True]),)
    yield "gradient of top_k", jax.grad(lambda x: jnp.top_k(x, 2, mode="smallest")[0].sum()), (np.float32([3, 1, 2]),)
    for name, call in {
        "complex numbers": lambda: jnp.top_k(jnp.ones(3, "complex64"), 1),
        "another mode": lambda: jnp.top_k(jnp.ones(3), 1, mode="middle"),
        "another axis": lambda: jnp.top_k(jnp.ones(3), 1, axis=1),
    }.items():
        yield f"top_k of {name}", lambda call=call: fault(call), ()


def error_functions(jax):
    erfcinv = jax.scipy.special.erfcinv
    y = np.float32([0.0, 2e-38, 1e-30, 1e-3, 0.05, 0.1, 0.3, 0.7, 1.0, 1.4, 1.95, 1.999, 2.0, -0.1, 2.1, np.nan])
    yield "erfcinv", erfcinv, (y,)
    yield "erfcinv of float16", erfcinv, (np.float16([0.01, 0.5, 1.5]),)
    yield "erfcinv of an integer", erfcinv, (1,)
    yield "derivative of erfcinv", jax.vmap(jax.grad(erfcinv)), (y[3:11],)
    yield "second derivative of erfcinv", jax.vmap(jax.grad(jax.grad(erfcinv))), (y[4:11],)
    yield "erfcinv of complex numbers", lambda: fault(lambda: erfcinv(1j)), ()


def calls(jax):
    from importlib import import_module

    core, ad = (import_module(f"{jax.__name__}.{name}") for name in ("extend.core", "interpreters.ad"))
    primitive = core.create_call_primitive("called")

    def call(x):
        program = jax.make_jaxpr(lambda x: jax.numpy.sin(x) * x)(x)
        return primitive.bind(x, call_jaxpr=program)[0]

    yield "a call primitive", call, (2.0,)
    yield "a call primitive, batched", jax.vmap(call), (np.float32([1, 2, 3]),)
    yield "a call primitive, differentiated", jax.grad(call), (2.0,)
    yield "a call primitive, twice", jax.jacfwd(jax.grad(call)), (2.0,)
    yield "a call primitive in checkpoint", jax.grad(jax.checkpoint(call)), (2.0,)
    linear = jax.make_jaxpr(lambda a, x: a * x)(2.0, 3.0)

    def backward():
        return ad.backward_pass(
            linear.jaxpr, False, linear.consts, (2.0, ad.UndefinedPrimal(linear.in_avals[1])), (5.0,)
        )

    yield "backward_pass", lambda: backward()[1], ()
    yield "backward_pass of what is not linear", lambda: type(backward()[0]) is ad.Zero, ()
    derived, nonzero = ad.jvp_jaxpr(linear, [True, False], False)
    yield "jvp_jaxpr", lambda: [core.jaxpr_as_fun(derived)(2.0, 3.0, 1.0), nonzero], ()


def programs(jax):
    from importlib import import_module

    pe = import_module(f"{jax.__name__}.interpreters.partial_eval")
    as_fun = import_module(f"{jax.__name__}.extend.core").jaxpr_as_fun
    program = jax.make_jaxpr(lambda x, y: (jax.numpy.cos(x), -jax.numpy.sin(x) * y, y))(1.0, 2.0)
    yield "move_binders_to_back", lambda: as_fun(pe.move_binders_to_back(program, [True]))(3.0, 5.0), ()
    yield "prune_closed_jaxpr_outputs", lambda: as_fun(pe.prune_closed_jaxpr_outputs(program, [0, 1, 0]))(3.0, 5.0), ()
    for unknown in ([False, True], [True, False], [True, True], [False, False]):
        for instantiate in (False, True, [False, False, True]):

            def split(unknown=unknown, instantiate=instantiate):
                known, rest, flags, avals = pe.partial_eval_jaxpr_nounits(program, unknown, instantiate)
                args = [x for x, flag in zip((3.0, 5.0), unknown) if not flag]
                outs = as_fun(known)(*args)
                residuals = outs[len(outs) - len(avals) :]
                others = [x for x, flag in zip((3.0, 5.0), unknown) if flag]
                return [outs[: len(outs) - len(avals)], as_fun(rest)(*residuals, *others), flags]

            yield f"partial_eval_jaxpr_nounits {unknown} {instantiate}", split, ()


def collectives(jax):
    x, spec = np.arange(8.0, dtype=np.float32).reshape(2, 4), jax.sharding.PartitionSpec("i")

    def scatter(x):
        future = jax.lax.psum_scatter_start(x, "i", scatter_dimension=1, tiled=True)
        return future.done()

    def over_devices(x):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
        return jax.jit(jax.shard_map(scatter, mesh=mesh, in_specs=spec, out_specs=spec))(x)

    yield "psum_scatter_start", over_devices, (x,)

    def total(names):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
        mapped = jax.shard_map(lambda x: jax.lax.psum(x, "i"), mesh=mesh, in_specs=spec, out_specs=type(spec)())
        with jax.sharding.no_collectives(names):
            return jax.jit(mapped)(x)

    yield "no_collectives", lambda: fault(lambda: total({"i"})), ()
    yield "no_collectives over another axis", lambda: total({"j"}), ()
    yield "no_collectives of a text", lambda: fault(lambda: total("i")), ()

    def in_vmap(x):
        with jax.sharding.no_collectives({"i"}):
            return jax.vmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(x)

    yield "no_collectives in vmap", in_vmap, (x,)

    def unchecked(function):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
        mapped = jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        with jax.sharding.no_collectives({"i"}):
            return mapped(x)

    lax = jax.lax
    for name, function in {
        "psum": lambda x: lax.psum(x, "i"),
        "psum_scatter": lambda x: lax.psum_scatter(x, "i", scatter_dimension=1),
        "all_gather": lambda x: lax.all_gather(x, "i", tiled=True),
        "all_to_all": lambda x: lax.all_to_all(x, "i", 1, 1, tiled=True),
        "ppermute": lambda x: lax.ppermute(x, "i", [(0, 1)]),
        "psum of a constant": lambda x: lax.psum(1, "i") * x,
    }.items():
        yield f"no_collectives unchecked, {name}", lambda f=function: fault(lambda: unchecked(f)), ()


def objects(jax):
    from importlib import import_module

    export = import_module(f"{jax.__name__}.export")
    a, b = export.symbolic_shape("a, b", constraints=("a >= 3", "b <= 10"))
    for text, d in {
        "5": 5,
        "(10 - b) b": (10 - b) * b,
        "b b": b * b,
        "a b + 1": a * b + 1,
        "a": a,
        "b": b,
        "a - b": a - b,
        "2a + 1": 2 * a + 1,
        "b % 4": b % 4,
        "10 - b": 10 - b,
    }.items():
        yield f"bounds of {text}", lambda d=d: list(map(float, export.symbolic_dim_bounds(d))), ()
    yield "bounds of a float", lambda: fault(lambda: export.symbolic_dim_bounds(2.5)), ()
    early = jax.make_jaxpr(lambda x: jax.jit(lambda x: x + 1, inline=jax.Inline.JAX_EARLY)(x))(1.0)
    late = jax.make_jaxpr(lambda x: jax.jit(lambda x: x + 1, inline=jax.Inline.XLA_LATE)(x))(1.0)
    yield "inline", lambda: [early.eqns[0].primitive.name == "add", late.eqns[0].primitive.name == "jit"], ()
    yield "kinds", lambda: [k.value for k in jax.sharding.UnreducedKind], ()
    yield "levels", lambda: [k.value for k in jax.CompilerEffortLevel], ()
    yield "no mesh", lambda: [jax.get_mesh().empty, jax.get_abstract_mesh().empty], ()

    def meshes():
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
        before = jax.get_mesh().empty
        with jax.set_mesh(mesh):
            inside = jax.get_mesh() is mesh, jax.get_abstract_mesh() == mesh.abstract_mesh
        with jax.use_abstract_mesh(mesh.abstract_mesh):
            return [before, *inside, jax.get_mesh().empty, jax.get_abstract_mesh().size == 2]

    yield "meshes", meshes, ()
    for name, call in {
        "get_mesh in jit": lambda: jax.jit(lambda: jax.get_mesh().size)(),
        "use_abstract_mesh of a text": lambda: jax.use_abstract_mesh("x"),
    }.items():
        yield name, lambda call=call: fault(call), ()
    metadata = import_module(f"{jax.__name__}.experimental.xla_metadata")

    def twice(x):
        return {"a": x * 2}

    yield "must_fuse_call", metadata.must_fuse_call("1")(twice), (np.float32([1, 2]),)
    yield "xla_metadata_call2", metadata.xla_metadata_call2({"b": 1})(twice), (np.float32([1, 2]),)
    for name, call in {
        "a list": lambda: metadata.xla_metadata_call(twice, a=[1]),
        "no dict": lambda: metadata.xla_metadata_call2(twice, 3),
        "two dicts": lambda: metadata.xla_metadata_call2({"a": 1}, {"b": 2}),
        "ad_metadata": lambda: metadata.xla_metadata_call2(twice, {}, ad_metadata="x"),
    }.items():
        yield f"metadata: {name}", lambda call=call: fault(call), ()
    yield "a key's type", lambda: issubclass(jax.random.Key.__supertype__, jax.Array), ()


def cases(jax):
    """name -> (function, arguments)."""
    families = (logarithms, polynomials, of_numpy, error_functions, calls, programs, collectives, objects)
    return {name: (function, args) for family in families for name, function, args in family(jax)}
