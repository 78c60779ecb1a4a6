"""Named axes, pmap, shard_map and shardings on eight devices: against real JAX's recorded results; errors.

Everything runs twice: as one program of all devices, and as a program on each, as for devices that are machines of
their own.
"""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.evaluate import jaxpr_as_fun
from onax.experimental.shard_map import shard_map as old_shard_map
from onax.export import export, symbolic_shape
from onax.sharding import Mesh, NamedSharding, auto_axes, explicit_axes, get_mesh, set_mesh
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def test_exported_over_an_axis_of_any_length():
    def normalised(x):
        return x / jnp.sqrt(lax.pmean(x**2, "b") + 1) + lax.axis_index("b") + lax.axis_size("b") + lax.pmax(x, "b")

    f = jax.jit(jax.vmap(normalised, axis_name="b"))
    (n,) = symbolic_shape("n")
    exported = export(f)(jax.ShapeDtypeStruct((n, 3), np.float32))
    for x in (X, X[:2]):
        assert np.allclose(exported.call(x), f(x), rtol=1e-6)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_shards_of_arrays_with_explicit_shardings(transform):
    """The types of shards keep no manual axes; specs that are not given come from the types, also of traced values."""
    x, w = jnp.arange(64.0).reshape(8, 8), jnp.arange(32.0).reshape(8, 4)
    with set_mesh(jax.make_mesh((4, 2), ("x", "y"))):
        a, b = jax.device_put(x, P("x", "y")), jax.device_put(w, P("y", None))
        product = jax.shard_map(
            lambda a, b: lax.psum(a @ b, "y"), in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None)
        )
        out = transform(product)(a, b)
        assert jax.typeof(out).sharding.spec == P("x", None) and np.allclose(out, x @ w)
        rows = jax.device_put(w, P("x"))
        gathered = jax.shard_map(
            lambda w: lax.pmean(jnp.sum(lax.all_gather(w, "x", tiled=True) ** 2), "x"), out_specs=P()
        )
        assert float(transform(gathered)(rows)) == float((w**2).sum())
        slope = transform(jax.grad(gathered))(rows)
        assert jax.typeof(slope).sharding.spec == P("x", None) and np.allclose(slope, 2 * w)


# ---- derivatives: values that are the same on all devices, read by operations that vary and by ones that do not


@jax.custom_vjp
def _cubed(w):
    return w**3


_cubed.defvjp(lambda w: (w**3, w), lambda w, ct: (3 * w**2 * ct,))


def _loss(total, cube=lambda w: w**3):
    """A sum over examples, which `total` adds over devices, and a penalty of weights that are the same on all."""
    return lambda w, x: total(jnp.sum(jnp.tanh(x * w) ** 2)) + jnp.sum(cube(w))


def _descent(loss):
    return lambda w, x: lax.scan(lambda c, _: (c - 0.1 * jax.grad(loss)(c, x), None), w, None, length=3)[0]


DERIVED = {
    "loss": lambda loss: loss,
    "gradient": jax.grad,
    "gradient of the data": lambda loss: lambda w, x: loss(w, jax.grad(loss, 1)(w, x)),
    "product with a Hessian": lambda loss: lambda w, x: jax.jvp(lambda w: jax.grad(loss)(w, x), (w,), (w * 2,))[1],
    "gradient of a gradient": lambda loss: jax.grad(lambda w, x: jnp.sum(jax.grad(loss)(w, x) ** 2)),
    "descent": _descent,
}
AROUND = {
    "value": lambda f: f,
    "compiled": jax.jit,
    "gradient": lambda f: jax.grad(lambda w, x: jnp.sum(f(w, x) ** 2), (0, 1)),
    "checkpoint": lambda f: jax.grad(lambda w, x: jnp.sum(jax.checkpoint(f)(w, x) ** 2), (0, 1)),
    "second": lambda f: jax.grad(
        lambda w, x: jnp.sum(jax.grad(lambda w, x: jnp.sum(jnp.sin(f(w, x))))(w, x) ** 2), (0, 1)
    ),
    "vmap": lambda f: lambda w, x: jax.vmap(f, (0, None))(jnp.stack([w, w / 2]), x),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("derived", DERIVED)
def test_derivatives_are_those_of_the_whole_program(derived, around):
    w, x = jnp.array([0.3, -0.5, 0.8]), jnp.arange(12.0).reshape(4, 3) / 9
    for cube in (lambda w: w**3, _cubed):
        if cube is _cubed and derived == "product with a Hessian":
            continue  # custom_vjp has no forward mode
        body = DERIVED[derived](_loss(lambda v: lax.psum(v, "x"), cube))
        sharded = jax.shard_map(body, mesh=mesh(x=2, y=2), in_specs=(P(), P("x")), out_specs=P())
        whole = DERIVED[derived](_loss(lambda v: v, cube))
        got, expected = (AROUND[around](f)(w, x) for f in (sharded, whole))
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            assert np.allclose(a, b, rtol=2e-4, atol=2e-4), (derived, around, a, b)


def test_what_a_policy_saves_of_a_shard_map():
    f = jax.shard_map(lambda x: jnp.sin(jnp.sin(x.sum()) * x), mesh=mesh(x=4), in_specs=P("x"), out_specs=P("x"))
    x = jnp.arange(8.0) / 5
    expected = jax.grad(lambda x: f(x).sum())(x)
    for policy in (None, jax.checkpoint_policies.everything_saveable, jax.checkpoint_policies.nothing_saveable):
        slope = jax.grad(lambda x, f=jax.checkpoint(f, policy=policy): f(x).sum())
        assert np.allclose(slope(x), expected, atol=1e-6) and np.allclose(jax.jit(slope)(x), expected, atol=1e-6)


# ---- errors


X = np.arange(12, dtype=np.float32).reshape(4, 3)


def mapped(f, i, o, **options):
    return jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=i, out_specs=o, **options)


ERRORS = {
    "a name that is not there": (
        lambda: jax.vmap(lambda x: lax.psum(x, "j"), axis_name="i")(X),
        NameError,
        "Found an unbound axis name: j. To fix this, please call psum under `jax.shard_map`.",
    ),
    "no axis at all": (lambda: lax.psum(X, "i"), NameError, "unbound axis name: i"),
    "no axis to index": (
        lambda: lax.axis_index("i"),
        NameError,
        "Found an unbound axis name: i. To fix this, please call axis_index under `jax.shard_map`.",
    ),
    "the size of no axis": (lambda: lax.axis_size("i"), NameError, "unbound axis name: i"),
    "no derivative": (
        lambda: jax.vmap(jax.grad(lambda x: lax.pmax(x, "i")), axis_name="i")(X[:, 0]),
        NotImplementedError,
        "pmax",
    ),
    "a name twice": (
        lambda: jax.vmap(lambda x: lax.psum(x, ("i", "i")), axis_name="i")(X),
        ValueError,
        "duplicate value in 'axes'",
    ),
    "groups that leave some out": (
        lambda: jax.vmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]), axis_name="i")(X),
        ValueError,
        "axis_index_groups must cover all indices exactly once",
    ),
    "no permutation": (
        lambda: jax.vmap(lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]), axis_name="i")(X),
        ValueError,
        "`perm` does not represent a permutation",
    ),
    "a size that does not fit all_to_all": (
        lambda: jax.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(X),
        ValueError,
        "all_to_all requires the size of the mapped axis axis_name to equal x.shape[split_axis], but they are 4 and 3 "
        "respectively.",
    ),
    "pcast over an axis that is none": (
        lambda: mapped(lambda x: lax.pcast(x, ("x", "q"), to="varying"), P(), P("x"))(X),
        NameError,
        "Found an unbound axis name: q. To fix this, please call pcast under `jax.shard_map`.",
    ),
    "pcast over a set": (
        lambda: mapped(lambda x: lax.pcast(x, {"x"}, to="varying"), P(), P("x"))(X),
        TypeError,
        "axis_name={'x'} must be a tuple or a str. Got {'x'}",
    ),
    "specs that cannot be inferred": (
        lambda: jax.shard_map(lambda x: x, mesh=mesh(x=4), out_specs=P("x"))(X),
        TypeError,
        "shard_map in_specs argument must be a pytree of `jax.sharding.PartitionSpec` instances, but it was `None` "
        "when axis_names=frozenset({'x'}) are of type AxisType.Auto",
    ),
    "pcast outside of shard_map": (
        lambda: jax.vmap(lambda x: lax.pcast(x, "i", to="varying"), axis_name="i")(X),
        ValueError,
        "pvary should be called under jax.shard_map.",
    ),
    "shard_map, not the same everywhere": (
        lambda: mapped(lambda x: x, P("x", "y"), P("x"))(X.repeat(2, 1)),
        ValueError,
        "was given out_specs which require replication which can't be statically inferred given the mesh",
    ),
    "shard_map, varying over axes that specs do not name": (
        lambda: mapped(lambda x: x, P("x"), P())(X),
        ValueError,
        "out_specs is P() which implies that the corresponding output value is only varying across mesh axes {} and "
        "not {x}, but it was inferred to be possibly varying over {x}.",
    ),
    "shard_map, not replicated": (
        lambda: mapped(lambda x: x, P("x", "y"), P("x"))(X.repeat(2, 1)),
        ValueError,
        "implies that the corresponding output value is replicated across mesh axis 'y', but could not infer "
        "replication over any axes.",
    ),
    "shard_map over no mesh": (
        lambda: jax.shard_map(lambda x: x, mesh=Mesh(np.empty((), object), ()), in_specs=P(), out_specs=P())(X),
        ValueError,
        "shard_map requires a non-empty mesh. Got",
    ),
    "shard_map in another, which states its mesh": (
        lambda: mapped(mapped(lambda x: x, P(None, "y"), P(None, "y")), P("x"), P("x"), axis_names={"x"})(X),
        ValueError,
        "should match the mesh passed to shard_map",
    ),
    "device_put to a device in shard_map": (
        lambda: mapped(lambda x: x + jax.device_put(1, jax.devices()[0]), P("x"), P("x"))(X),
        ValueError,
        "device_put with explicit device not allowed within shard_map-decorated functions, but got device",
    ),
    "branches that vary differently": (
        lambda: mapped(lambda x, y: lax.cond(True, lambda: x, lambda: y), (P("x"), P("y")), P("x", "y"))(X, X),
        TypeError,
        "This might be fixed by:\n  * applying `jax.lax.pcast(..., ('y',), to='varying')` to the output of true_fun;",
    ),
    "a carry that varies later": (
        lambda: mapped(lambda x: lax.fori_loop(0, 2, lambda i, c: c + x, jnp.zeros((1, 3))), P("x"), P("x"))(X),
        TypeError,
        "This might be fixed by applying `jax.lax.pcast(..., ('x',), to='varying')` to the initial value of the input "
        "carry",
    ),
    "a tangent that varies where the primal does not": (
        lambda: mapped(lambda x: jax.linearize(jnp.sin, jnp.ones((1, 3)))[1](x), P("x"), P("x"))(X),
        ValueError,
        "This might be fixed by applying `jax.lax.pcast(..., ('x',), to='varying')` to the primal value passed to "
        "`jax.linearize`.",
    ),
    "a cotangent that varies where the result does not": (
        lambda: mapped(lambda x: jax.linear_transpose(lambda y: 2 * y, jnp.ones((1, 3)))(x), P("x"), P("x"))(X),
        TypeError,
        "cotangent type does not match function output",
    ),
    "shard_map of pieces that are unequal": (
        lambda: mapped(lambda x: x, P("x"), P("x"))(X[:3]),
        ValueError,
        "which maps array axis 0 (of size 3) to mesh axis 'x' (of size 4), but 4 does not evenly divide 3",
    ),
    "shard_map, a spec too long": (
        lambda: mapped(lambda x: x, P("x", None, None), P("x"))(X),
        ValueError,
        "in_specs is P('x', None, None) which has length 3",
    ),
    "shard_map, a spec too long for a result": (
        lambda: mapped(lambda x: x.sum(), P("x"), P("x"))(X),
        ValueError,
        "out_specs is P('x',) which has length 1",
    ),
    "shard_map over an axis that is not there": (
        lambda: mapped(lambda x: x, P("z"), P("x"))(X),
        ValueError,
        "in_specs refers to 'z'",
    ),
    "shard_map, specs of another structure": (
        lambda: mapped(lambda x, y: x, (P("x"),), P("x"))(X, X),
        ValueError,
        "pytree structure error: different lengths of tuple at key path\n    shard_map in_specs",
    ),
    "shard_map without a mesh": (
        lambda: jax.shard_map(lambda x: x, in_specs=P("x"), out_specs=P("x"))(X),
        ValueError,
        "The context mesh cannot be empty. Use `jax.set_mesh(mesh)` to enter into a mesh context",
    ),
    "device_put to a spec without a mesh": (
        lambda: jax.device_put(X, P("x")),
        ValueError,
        "Please set a mesh via `jax.set_mesh` if a PartitionSpec is passed to device_put",
    ),
    "one sharded, one elsewhere": (
        lambda: jax.device_put(X, NamedSharding(mesh(x=2), P("x"))) + jax.device_put(X, jax.devices()[5]),
        ValueError,
        "Received incompatible devices for jitted computation. Got argument x of add with shape float32[4,3] and with "
        "device ids [0, 1] on platform CPU and argument y of add with shape float32[4,3] and with device ids [5]",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=re.escape(text)):
        call()


# ---- what the records do not show


def test_collectives_disappear_under_vmap():
    jaxpr = jax.make_jaxpr(jax.vmap(lambda x: lax.psum(x, "i"), axis_name="i", out_axes=None))(X)
    assert [e.primitive.name for e in jaxpr.eqns] == ["reduce_sum"]


def test_collectives_in_an_axis_environment():
    jaxpr = jax.make_jaxpr(lambda x: lax.psum(x, ("i", "j")), axis_env=[("i", 2), ("j", 3)])(1.0)
    (eqn,) = jaxpr.eqns
    assert eqn.params == {"axes": ("i", "j"), "axis_index_groups": None}


def test_a_collective_alone_does_not_run():
    jaxpr = jax.make_jaxpr(lambda x: lax.psum(x, "i"), axis_env=[("i", 2)])(1.0)
    with pytest.raises(NameError, match="Found an unbound axis name: i"):
        jaxpr_as_fun(jaxpr)(1.0)


def test_groups_under_vmap():
    """JAX refuses these under vmap; here they are the groups of pmap."""
    groups = [[0, 2], [1, 3]]
    out = jax.vmap(lambda x: lax.psum_scatter(x[:2], "i", axis_index_groups=groups), axis_name="i")(X)
    sums = np.stack([X[[0, 2], :2].sum(0), X[[1, 3], :2].sum(0)])
    assert np.array_equal(out, [sums[0, 0], sums[1, 0], sums[0, 1], sums[1, 1]])


def test_pbroadcast():
    out = jax.vmap(lambda x: lax.pbroadcast(x, "i", 2), axis_name="i")(X)
    assert np.array_equal(out, np.broadcast_to(X[2], X.shape))
    grad = jax.vmap(jax.grad(lambda x: jnp.sum(lax.pbroadcast(x, "i", 2) * x)), axis_name="i")(X)
    want = np.broadcast_to(X[2], X.shape).copy()
    want[2] += X.sum(0)
    assert np.array_equal(grad, want)


def test_meshes_in_context():
    grid = mesh(x=4)
    assert get_mesh().empty
    with set_mesh(grid):
        assert get_mesh() is grid
        out = jax.shard_map(lambda x: x * 2, in_specs=P("x"), out_specs=P("x"))(X)
        assert jax.device_put(X, P("x")).sharding == out.sharding == NamedSharding(grid, P("x"))
        assert jax.jit(lambda x: x, out_shardings=P("x"))(X).sharding == NamedSharding(grid, P("x"))
    assert get_mesh().empty


def test_moving_between_shardings():
    grid = mesh(x=2, y=2)
    with set_mesh(grid):
        x = jax.device_put(X, P("x"))
        placed = jax.jit(lambda x: lax.with_sharding_constraint(x, P("x")))(X)
        assert x.sharding == placed.sharding == NamedSharding(grid, P("x"))
        with pytest.raises(ValueError, match="reshard cannot contain axis names that are of type Auto or Manual"):
            jax.reshard(X, P("x"))
        assert auto_axes(lambda x: x * 2, out_sharding=P("y"))(x).sharding.spec == P("x")  # all axes are automatic
        assert explicit_axes(lambda x: x, in_sharding=P("y"))(x).sharding.spec == P("y")
    with pytest.raises(ValueError, match="you are not under a mesh context is not allowed"):
        jax.reshard(X, P("x"))


def test_nothing_leaks():
    with jax.checking_leaks():
        jax.pmap(lambda x: x + lax.psum(x, "i"), axis_name="i")(X)
        jax.grad(lambda x: jnp.sum(mapped(lambda y: lax.psum(y * y, "x"), P("x"), P())(x)))(X)


def test_shard_map_under_its_old_name():
    with pytest.warns(DeprecationWarning):
        f = old_shard_map(lambda x: lax.psum(x, "x"), mesh(x=4), P("x"), P(), check_rep=False)
    assert np.array_equal(f(X), X.sum(0, keepdims=True))


def test_arrays_from_pieces():
    sharding = NamedSharding(mesh(x=4), P("x"))
    whole = jax.make_array_from_callback((4, 3), sharding, lambda index: X[index])
    pieces = [s.data for s in whole.addressable_shards]
    again = jax.make_array_from_single_device_arrays((4, 3), sharding, pieces)
    for made in (whole, again):
        assert made.sharding == sharding and np.array_equal(made, X)
    with pytest.raises(ValueError, match=r"Expected 4 per-device arrays .*but got 3"):
        jax.make_array_from_single_device_arrays((4, 3), sharding, pieces[:3])


def test_an_eager_step_of_training():
    """A step of data-parallel training: with check_vma the gradient is summed already."""
    grid = Mesh(np.array(jax.devices()[:4], dtype=object), ("data",))
    loss = lambda w, x, y: jnp.mean((x @ w - y) ** 2)

    def step(w, x, y):
        mean, g = jax.value_and_grad(lambda w: lax.pmean(loss(w, x, y), "data"))(w)
        return mean, w - 0.1 * g

    rng = np.random.default_rng(0)
    w, x = rng.normal(size=3).astype(np.float32), rng.normal(size=(8, 3)).astype(np.float32)
    y = x @ np.array([1, 2, 3], np.float32)
    run = jax.shard_map(step, mesh=grid, in_specs=(P(), P("data"), P("data")), out_specs=(P(), P()))
    for f in (run, jax.jit(run)):
        mean, new = f(w, x, y)
        want, g = jax.value_and_grad(loss)(w, x, y)
        assert np.allclose(mean, want, rtol=1e-5) and np.allclose(new, w - 0.1 * g, rtol=1e-5)


def _unreduced(x, body, out):
    """`body` of a value that is a sum over "y", over four devices of two explicit axes."""
    both = jax.make_mesh((2, 2), ("x", "y"))
    x = jax.device_put(x, NamedSharding(both, P(unreduced={"y"})))
    result = jax.shard_map(body, mesh=both, in_specs=P(unreduced={"y"}), out_specs=out)(x)
    return jax.device_put(result, jax.devices()[0])


V = np.arange(4, dtype=np.float32)
PARTS = {
    "psum": (lambda x: lax.psum(x, "y"), P(), V),
    "psum_scatter": (lambda x: lax.psum_scatter(x, "y", tiled=True), P("y"), V),
    "a sum of parts": (lambda x: x + x, P(unreduced={"y"}), 2 * V),
    "cast to parts": (lambda x: lax.pcast(lax.axis_index("y") + 1.0, "y", to="unreduced"), P(unreduced={"y"}), 3.0),
    "cast to reduced": (lambda x: lax.pcast(jnp.float32(2), "y", to="reduced"), P(reduced={"y"}), 2.0),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_sums(name):
    body, out, expected = PARTS[name]
    assert np.allclose(_unreduced(V, body, out), expected)


def test_gradients_of_parts_of_sums():
    m = jax.make_mesh((2,), ("x",))
    spec = P("x", None)
    f = jax.shard_map(
        lambda x: lax.pcast(x * x, "x", to="unreduced"), mesh=m, in_specs=spec, out_specs=P(unreduced={"x"})
    )
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    weights = np.arange(4, dtype=np.float32).reshape(2, 2)
    whole = lambda x: jax.reshard(f(x), NamedSharding(m, P()))
    grad = jax.grad(lambda x: (whole(x) * weights).sum())(jax.device_put(x, NamedSharding(m, spec)))
    assert np.allclose(grad, 2 * x * np.concatenate([weights, weights]))


@pytest.mark.parametrize(("to", "value", "kind"), [("unreduced", 1.0, "invarying"), ("reduced", None, "varying")])
def test_casts_between_other_kinds(to, value, kind):
    body = lambda x: lax.pcast(x if value is None else jnp.float32(value), "x", to=to)
    with pytest.raises(ValueError, match=f"Unsupported pcast from={kind}, to='{to}'"):
        jax.shard_map(body, mesh=mesh(x=2), in_specs=P("x"), out_specs=P("x"))(V)


def test_results_have_the_specs_that_are_given():
    m = jax.make_mesh((4, 2), ("x", "y"))
    x = jax.device_put(np.ones((4, 2), np.float32), NamedSharding(m, P("x")))
    for spec in (P("x"), P("x", None)):
        out = jax.shard_map(lambda a: a * 2, mesh=m, in_specs=spec, out_specs=spec)(x)
        assert tuple(out.sharding.spec)[: len(spec)] == tuple(spec)  # separate devices add entries for the others
    f = jax.shard_map(lambda a: a * 2, mesh=m, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    assert f(x).sharding.spec == P("x", None)


def test_gradients_of_reduced_arguments_are_unreduced():
    m = jax.make_mesh((4,), ("x",))
    with jax.set_mesh(m):
        x = jax.device_put(np.arange(8, dtype=np.float32).reshape(4, 2) / 8, P("x"))
        w = jax.device_put(np.arange(4, dtype=np.float32).reshape(2, 2), P(reduced={"x"}))
        specs = (P("x"), P(None, None, reduced={"x"}))
        loss = lambda w: jax.shard_map(lambda x, w: jnp.tanh(x @ w), in_specs=specs, out_specs=P("x"))(x, w).sum()
        for g in (jax.grad(loss)(w), jax.jit(jax.grad(loss))(w)):
            assert str(jax.typeof(g)) == "float32[2,2]{U:x}"
            assert np.allclose(
                jax.reshard(g, P()), jax.grad(lambda w: jnp.tanh(x @ w).sum())(jnp.asarray(np.asarray(w)))
            )


def test_a_spread_axis_is_not_summed_by_gradients():
    """Cotangents are sums over devices, not over the examples that `vmap` spreads over an axis of the mesh."""
    f = jax.shard_map(
        lambda x: jnp.sin(jnp.sum(x)), mesh=mesh(x=2, y=2), in_specs=P("y"), out_specs=P(), check_vma=False
    )
    x = jnp.arange(16.0).reshape(4, 4) / 10
    plain = jax.vmap(jax.grad(f))(x)
    for g in (jax.grad(f), jax.jit(jax.grad(f)), jax.grad(jax.jit(f))):
        np.testing.assert_allclose(jax.vmap(g, spmd_axis_name="x")(x), plain, rtol=1e-6)
        np.testing.assert_allclose(jax.jit(jax.vmap(g, spmd_axis_name="x"))(x), plain, rtol=1e-6)


def explicit_mesh():
    return jax.make_mesh((2, 2), ("x", "y"), (jax.sharding.AxisType.Explicit,) * 2)


def identity(spec, over=None, **options):
    return jax.shard_map(lambda x: x, mesh=over or mesh(x=2, y=2), in_specs=spec, out_specs=spec, **options)


def abstract(**sizes):
    return mesh(**sizes).abstract_mesh


SPREAD_ERRORS = {
    "in_specs": (lambda x: jax.vmap(identity(P("x")), spmd_axis_name="x")(x), "cannot appear in shard_map in_specs"),
    "constraint": (
        lambda x: jax.vmap(
            lambda r: lax.with_sharding_constraint(r, NamedSharding(mesh(x=2, y=2), P("x"))), spmd_axis_name="x"
        )(x),
        r"spmd_axis_name \('x',\) cannot appear in with_sharding_constraint spec, but got spec P\('x',\)",
    ),
    "axis_names": (
        lambda x: jax.vmap(identity(P("y"), explicit_mesh(), axis_names={"x", "y"}))(
            jax.device_put(x, NamedSharding(explicit_mesh(), P("x", "y")))
        ),
        r"jax.shard_map requires axis_names=.*to be a subset of mesh.axis_names=frozenset\(\{'y'\}\)",
    ),
    "an AbstractMesh and values on none": (lambda x: identity(P("x"), abstract(x=2))(x), "Please pass `jax.Array`s"),
    "an AbstractMesh and values on another": (
        lambda x: identity(P("z"), abstract(z=2))(jax.device_put(x, NamedSharding(mesh(x=2), P()))),
        "Mesh shape of the input .* does not match the mesh shape passed to shard_map",
    ),
}


@pytest.mark.parametrize("name", SPREAD_ERRORS)
def test_errors_of_meshes_and_spread_axes(name):
    call, message = SPREAD_ERRORS[name]
    with pytest.raises(ValueError, match=message):
        call(jnp.arange(16.0).reshape(4, 4))


def test_spread_axes_may_be_named_with_an_option():
    f = jax.shard_map(
        lambda x, y: x + lax.all_gather(y, "x", tiled=True), mesh=mesh(x=2), in_specs=(P(), P("x")), out_specs=P(),
        check_vma=False,
    )  # fmt: skip
    xs, y = jnp.arange(32.0).reshape(4, 8), jnp.arange(8.0)
    batched = jax.vmap(f, in_axes=(0, None), spmd_axis_name="x")
    with pytest.raises(ValueError, match="cannot appear in shard_map in_specs"):
        batched(xs, y)
    jax.config.update("jax_disable_vmap_shmap_error", True)
    try:
        np.testing.assert_array_equal(batched(xs, y), xs + y)
    finally:
        jax.config.update("jax_disable_vmap_shmap_error", False)


def test_device_put_in_a_compiled_shard_map_moves_nothing():
    f = jax.shard_map(
        lambda x: x + jax.device_put(1, jax.devices()[0]), mesh=mesh(x=4), in_specs=P("x"), out_specs=P("x")
    )
    np.testing.assert_array_equal(jax.jit(f)(X), X + 1)


def test_cotangents_of_integers_leave_a_compiled_shard_map():
    @jax.custom_vjp
    def f(x, y):
        return x

    f.defvjp(lambda x, y: (x, jnp.zeros(y.shape, int)), lambda zeros, g: (g, zeros))
    over = jax.shard_map(
        lambda x, y: lax.psum(f(x, y).sum(), "x"), mesh=mesh(x=4), in_specs=(P("x"), P()), out_specs=P()
    )
    slopes = jax.jit(jax.grad(over, argnums=(0, 1), allow_int=True))(np.ones(8, np.float32), np.arange(8))
    assert slopes[0].tolist() == [1.0] * 8 and slopes[1].dtype == jax.dtypes.float0


def test_a_custom_rule_gets_values_that_vary_and_values_that_do_not():
    total = jax.custom_vjp(lambda x: lax.psum(x, "x"))
    total.defvjp(lambda x: (total(x), None), lambda _, g: (g,))
    f = jax.shard_map(lambda x: total(total(x)), mesh=mesh(x=4), in_specs=P("x"), out_specs=P())
    for way in (f, jax.jit(f)):
        assert way(jnp.ones(4)).tolist() == [16.0]


@pytest.mark.parametrize("used", [[True, False], [False, True], [False, False], [True, True]])
def test_unused_results_and_operands_are_dropped(used):
    over = jax.shard_map(
        lambda x, y: (jnp.sin(x), jnp.cos(y)), mesh=mesh(x=2), in_specs=(P(), P("x")), out_specs=P("x")
    )
    jaxpr = jax.make_jaxpr(over)(jnp.arange(2.0), jnp.arange(4.0)).jaxpr
    pruned, needed = jax.interpreters.partial_eval.dce_jaxpr(jaxpr, used)
    assert needed == used and len(pruned.eqns) == any(used)
    for eqn in pruned.eqns:
        bodies = [e.primitive.name for e in eqn.params["jaxpr"].eqns if e.primitive.name in ("sin", "cos")]
        assert bodies == [name for name, flag in zip(("sin", "cos"), used) if flag]
        assert len(eqn.params["in_specs"]) == len(eqn.params["out_specs"]) == len(bodies)


def test_inferred_specs_name_manual_axes_only():
    over = explicit_mesh()
    with set_mesh(over):
        x = jax.device_put(np.arange(16.0).reshape(4, 4), NamedSharding(over, P("x", "y")))
        f = jax.jit(jax.shard_map(lambda x: (x * x).T, out_specs=P(None, "x"), axis_names={"x"}))
        np.testing.assert_array_equal(f(x), (np.asarray(x) ** 2).T)
        assert f(x).sharding.spec == P("y", "x")


def test_arrays_like_described_shards_vary_as_they_do():
    def f(x):
        described = jax.eval_shape(lambda x: x * 2, x)
        return lax.full_like(described, 1.0) + jnp.zeros_like(described)

    out = jax.shard_map(f, mesh=mesh(x=2), in_specs=P("x"), out_specs=P("x"))(jnp.arange(4.0))
    np.testing.assert_array_equal(out, np.ones(4))
