"""Types inside shard_map say over which axes of the mesh values vary, as in JAX."""

import pickle

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.core import ShapedArray
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh

X, W = np.arange(8, dtype=np.float32), np.array([0.5, -2.0], np.float32)


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def mapped(f, i, o, **options):
    return jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=i, out_specs=o, **options)


def operations(f, i, o, *args, **options):
    """The operations of a body with the types of their results."""
    body = jax.make_jaxpr(mapped(f, i, o, **options))(*args).eqns[-1].params["jaxpr"]
    return [f"{e.primitive.name} {e.outvars[0].aval.str_short(short_dtypes=True)}" for e in body.eqns]


@jax.custom_vjp
def scaled(v, w):
    return v * w


scaled.defvjp(lambda v, w: (v * w, (v, w)), lambda r, ct: (ct * r[1], ct * r[0]))


@jax.custom_jvp
def product(v, w):
    return v * w


product.defjvp(lambda p, t: (p[0] * p[1], t[1]))

# name: (body, in_specs, out_specs, operations with the types of their results)
BODIES = {
    "operands": (lambda v, w: v * w, (P("x"), P()), P("x"), ["pvary f32[2]{V:x}", "mul f32[2]{V:x}"]),
    "the same on all": (lambda v, w: w + w, (P("x"), P()), P(), ["add f32[2]"]),
    "a result that is sharded": (lambda v, w: w, (P("x"), P()), P(("x", "y")), ["pvary f32[2]{V:(x,y)}"]),
    "sum": (lambda v, w: lax.psum(v, "x"), (P("x"), P()), P(), ["psum_invariant f32[2]"]),
    "sum of the same": (
        lambda v, w: lax.psum(w, "x"), (P("x"), P()), P(), ["pvary f32[2]{V:x}", "psum_invariant f32[2]"],
    ),
    "sums in groups": (
        lambda v, w: lax.psum(v, "x", axis_index_groups=[[0, 1], [2, 3]]), (P("x"), P()), P("x"), ["psum f32[2]{V:x}"],
    ),
    "largest in groups": (
        lambda v, w: lax.pmax(v, "x", axis_index_groups=[[0, 1], [2, 3]]), (P("x"), P()), P("x"), ["pmax f32[2]{V:x}"],
    ),
    "largest": (lambda v, w: lax.pmax(v, "x"), (P("x"), P()), P(), ["pmax f32[2]"]),
    "gather": (lambda v, w: lax.all_gather(v, "x", tiled=True), (P("x"), P()), P("x"), ["all_gather f32[8]{V:x}"]),
    "gather of what is the same then": (
        lambda v, w: lax.all_gather(v, "x", tiled=True, to="invarying"), (P("x"), P()), P(),
        ["all_gather_invariant f32[8]"],
    ),
    "exchange": (
        lambda v, w: lax.ppermute(w, "x", [(0, 1)]), (P("x"), P()), P("x"),
        ["pvary f32[2]{V:x}", "ppermute f32[2]{V:x}"],
    ),
    "index": (
        lambda v, w: lax.axis_index("y"), (P("x"), P()), P(), None,
    ),
    "index of both": (
        lambda v, w: v * lax.axis_index("y").astype(np.float32), (P("x"), P()), P(("x", "y")),
        ["axis_index i32[]{V:y}", "convert_element_type f32[]{V:y}", "pvary f32[2]{V:(x,y)}", "pvary f32[]{V:(x,y)}",
         "mul f32[2]{V:(x,y)}"],
    ),
    "pcast": (lambda v, w: lax.pcast(w, "x", to="varying"), (P("x"), P()), P("x"), ["pvary f32[2]{V:x}"]),
    "like": (
        lambda v, w: lax.full_like(v, 3), (P("x"), P()), P("x"), ["broadcast_in_dim f32[2]", "pvary f32[2]{V:x}"],
    ),
    "scatter": (lambda v, w: v.at[0].add(w[0]), (P("x"), P()), P("x"), None),
    "reduction by a function": (
        lambda v, w: lax.reduce(v, w[0], lambda a, b: a * b + a, (0,)) + v, (P("x"), P()), P("x"), None,
    ),
    "sort": (lambda v, w: lax.sort((v, w * 1), num_keys=1)[1], (P("x"), P()), P("x"), None),
    "jit": (jax.jit(lambda v, w: v * w), (P("x"), P()), P("x"), ["jit f32[2]{V:x}"]),
    "checkpoint": (jax.checkpoint(lambda v, w: v * w), (P("x"), P()), P("x"), ["remat2 f32[2]{V:x}"]),
    "slices of a scan": (
        lambda v, w: lax.scan(lambda c, a: (c, a * w.sum()), 0.0, v)[1], (P("x"), P()), P("x"), None,
    ),
    "branches of an index that varies": (
        lambda v, w: lax.cond(v.sum() > 3, lambda w: w, lambda w: 2 * w, w), (P("x"), P()), P("x"), None,
    ),
    "steps that devices differ in": (
        lambda v, w: lax.while_loop(lambda c: c.sum() < v.sum(), lambda c: c + 1, w), (P("x"), P()), P("x"), None,
    ),
    "callback": (
        lambda v, w: jax.pure_callback(lambda a, b: a + b, jax.ShapeDtypeStruct((2,), np.float32), v, w),
        (P("x"), P()), P("x"), ["pvary f32[2]{V:x}", "pure_callback f32[2]{V:x}"],
    ),
    "gradient": (
        lambda v, w: jax.grad(lambda w: (v * w).sum())(w), (P("x"), P()), P(),
        ["pvary f32[2]{V:x}", "mul f32[2]{V:x}", "reduce_sum f32[]{V:x}", "pvary f32[]{V:x}",
         "broadcast_in_dim f32[2]{V:x}", "mul f32[2]{V:x}", "psum_invariant f32[2]"],
    ),
    "not checked": (lambda v, w: v * lax.pcast(w, "x", to="varying"), (P("x"), P()), P("x"), ["mul f32[2]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_types(name):
    f, i, o, expected = BODIES[name]
    if expected is not None:
        assert operations(f, i, o, X, W, **({"check_vma": False} if name == "not checked" else {})) == expected
    if name == "index":
        return
    options = {"check_vma": False} if name == "not checked" else {}
    found = mapped(f, i, o, **options)(X, W)
    free = mapped(f, i, o, check_vma=False)
    if name not in ("gradient", "gather of what is the same then"):
        assert np.array_equal(found, free(X, W)) and np.array_equal(found, jax.jit(mapped(f, i, o, **options))(X, W))


def test_gradients_of_gathers():
    gather = lambda v: lax.all_gather(v, "x", tiled=True, to="invarying") ** 2
    inner = mapped(lambda v: jax.grad(lambda v: gather(v).sum())(v), P("x"), P("x"))
    outer = jax.grad(lambda x: (mapped(gather, P("x"), P())(x) * x).sum())
    stacked = mapped(lambda v: lax.all_gather(v, "x", to="invarying"), P("x"), P())
    assert np.array_equal(inner(X), 2 * X) and np.array_equal(outer(X), 3 * X**2)
    assert np.array_equal(stacked(X), X.reshape(4, 2))
    assert np.array_equal(jax.grad(lambda x: jnp.sum(stacked(x) * X.reshape(4, 2)))(X), X)


@pytest.mark.parametrize("to", ["varying", "invarying", "reduced"])
def test_gradients_of_uses_that_differ(to):
    def use(v, w):
        everything = lax.all_gather(v, "x", tiled=True, to=to)
        everything = everything if to == "varying" else lax.pcast(everything, "x", to="varying")
        return (everything * w).sum().reshape(1)

    weights = np.arange(32, dtype=np.float32)
    f = mapped(use, (P("x"), P("x")), P("x"))
    assert np.array_equal(jax.grad(lambda x: f(x, weights).sum())(X), weights.reshape(4, 8).sum(0))


SHARD = lambda v, w: v
ERRORS = {
    "sum over some": (lambda v, w: lax.psum(v, ("x", "y")), P(), ValueError, "jax.lax.psum can only accept axis_name"),
    "pcast of some": (
        lambda v, w: lax.pcast(v, ("x", "y"), to="varying"), P(), ValueError, "jax.lax.pcast can only accept axis_name",
    ),
    "pcast twice": (
        lambda v, w: lax.pcast(v, "x", to="varying"), P("x"), ValueError,
        "Unsupported pcast from=varying, to='varying'",
    ),
    "pcast to": (lambda v, w: lax.pcast(v, "x", to="else"), P("x"), ValueError, "Got unexpected `to` value"),
    "carry": (
        lambda v, w: lax.scan(lambda c, _: (c + v, None), w, None, length=2)[0], P("x"), TypeError,
        r"The input carry c has type float32\[2\] but the corresponding output carry component has type "
        r"float32\[2\]\{V:x\}, so the manual axis types do not match.*pcast\(..., \('x',\), to='varying'\)",
    ),
    "carry of a while loop": (
        lambda v, w: lax.while_loop(lambda c: c.sum() < 3, lambda c: c + v, w), P("x"), TypeError,
        "so the manual axis types do not match",
    ),
    "branches": (
        lambda v, w: lax.cond(True, lambda v: v, lambda v: w, v), P("x"), TypeError,
        r"has type float32\[2\]\{V:x\} but the corresponding output of false_fun has type float32\[2\]",
    ),
    "cotangent": (
        lambda v, w: jax.vjp(lambda w: v * w, w)[1](w)[0], P(), ValueError,
        r"got float32\[2\], but expected float32\[2\]\{V:x\}",
    ),
    "backward rule": (
        lambda v, w: jax.grad(lambda w: scaled(v, w).sum())(w), P(), ValueError,
        r"at output\[1\] the bwd rule produced an output of type float32\[2\]\{V:x\} corresponding to an input of type "
        r"float32\[2\], so the manual axis types do not match",
    ),
    "tangent rule": (
        lambda v, w: jax.grad(lambda w: product(v, w).sum())(w), P(), TypeError,
        r"Expected float32\[2\]\{V:x\} \(tangent type of float32\[2\]\{V:x\}\) but got float32\[2\]",
    ),
    "reference": (
        lambda v, w: jax.grad(lambda v: _through(jax.new_ref(w * 0), v))(v), P("x"), ValueError,
        "cannot take a differentiated value of type",
    ),
    "result": (lambda v, w: (v, w), P(), ValueError, "out_specs which require replication"),
}  # fmt: skip


def _through(ref, v):
    ref[...] = v
    return ref[...].sum()


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    f, o, error, words = ERRORS[name]
    with pytest.raises(error, match=f"(?s){words}"):
        mapped(f, (P("x"), P()), o)(X, W)


def test_types_of_values():
    def body(v, w):
        kind = jax.typeof(v)
        assert str(kind) == "float32[2]{V:x}" and kind != jax.typeof(w) and kind.manual_axis_type.varying == {"x"}
        assert kind.update(shape=(3,)).str_short(short_dtypes=True) == "f32[3]{V:x}"
        assert jax.typeof(w).manual_axis_type.empty and kind.mat.to_ct_mat() == kind.mat
        shape = jax.eval_shape(lambda a: 2 * a, v)
        assert shape.manual_axis_type == kind.manual_axis_type == jax.ShapeDtypeStruct.like(v).manual_axis_type
        assert "manual_axis_type=ManualAxisType(varying=frozenset({'x'})" in repr(shape)
        ref = jax.new_ref(jnp.zeros_like(v))
        ref[...] += v
        assert jax.typeof(ref[...]) == kind
        return v * 0 + jax.vmap(lambda a: a * lax.psum(a, "x"))(v)

    assert mapped(body, (P("x"), P()), P("x"))(X, W).shape == (8,)
    kind = ShapedArray(
        (2,), np.dtype(np.float32), manual_axis_type=jax.typeof(X).manual_axis_type.update(varying={"y"})
    )
    assert pickle.loads(pickle.dumps(kind)) == kind and hash(kind) != hash(kind.update(varying=frozenset()))


@pytest.mark.parametrize("fields, error", [
    ({"varying": "x"}, TypeError),
    ({"varying": 3}, TypeError),
    ({"varying": {"x"}, "unreduced": {"x", "y"}}, ValueError),
    ({"unreduced": {"x"}, "reduced": {"x"}}, ValueError),
])  # fmt: skip
def test_types_over_axes_that_cannot_be(fields, error):
    assert jax.sharding.ManualAxisType(varying={"x"}, unreduced={"y"}).vur == {"x", "y"}
    with pytest.raises(error):
        jax.sharding.ManualAxisType(**fields)


def test_vmap_over_a_mesh_axis():
    f = jax.vmap(mapped(lambda v, w: v * w, (P("x"), P()), P("x")), in_axes=(0, None), spmd_axis_name="y")
    body = jax.make_jaxpr(f)(np.stack([X, X]), W).eqns[-1].params["jaxpr"]
    assert [v.aval.varying for v in body.invars] == [{"x", "y"}, set()] and body.out_avals[0].varying == {"x", "y"}
    assert np.array_equal(f(np.stack([X, 2 * X]), W), np.stack([X, 2 * X]) * np.tile(W, 4))


MOVES = {
    "scatter": lambda w, v: v.at[0].add(w[0]) * w,
    "sort": lambda w, v: jnp.sort(v * w),
    "take": lambda w, v: w[jnp.argsort(v)] * v,
    "update": lambda w, v: lax.dynamic_update_slice(v, w[:1] * 2, (1,)),
}


@pytest.mark.parametrize("name", MOVES)
def test_derivatives_of_movements(name):
    loss = lambda w, v: lax.psum((MOVES[name](w, v) ** 2).sum(), "x") + (w**3).sum()
    plain = lambda w, x: sum((MOVES[name](w, v) ** 2).sum() for v in x.reshape(4, 2)) + (w**3).sum()
    second = lambda f: jax.grad(lambda w, x: (jax.grad(f)(w, x) ** 2).sum())
    for derive in (jax.grad, second):
        want = derive(plain)(W, jnp.asarray(X / 4))
        assert np.allclose(mapped(derive(loss), (P(), P("x")), P())(W, X / 4), want, rtol=1e-5)
        assert np.allclose(jax.jit(mapped(derive(loss), (P(), P("x")), P()))(W, X / 4), want, rtol=1e-5)


def test_derivatives_where_devices_choose():
    """The gradient of a value that is the same on all devices, through branches that they choose each for itself."""

    def loss(w, v, closed=False):
        if closed:
            chosen = lax.cond(v.sum() > 3, lambda: w**2, lambda: 3 * w)
        else:
            chosen = lax.cond(v.sum() > 3, lambda w: w**2, lambda w: 3 * w, w)
        return lax.psum((chosen * v).sum(), "x") + (w**3).sum()

    def plain(w, x):
        parts = [jnp.where(v.sum() > 3, w**2, 3 * w) * v for v in x.reshape(4, 2)]
        return sum(p.sum() for p in parts) + (w**3).sum()

    for f in (jax.grad(loss), jax.jit(jax.grad(loss)), jax.grad(jax.checkpoint(loss))):
        assert np.allclose(mapped(f, (P(), P("x")), P())(W, X), jax.grad(plain)(W, X), rtol=1e-5)
    closed = lambda w, v: loss(w, v, closed=True)
    assert np.allclose(mapped(closed, (P(), P("x")), P())(W, X), plain(W, X), rtol=1e-5)
    with pytest.raises(NotImplementedError, match=r"along x each device chooses.*\(\.\.\., \('x',\), to='varying'\)"):
        mapped(jax.grad(closed), (P(), P("x")), P())(W, X)
    second = lambda f: jax.grad(lambda w, x: (jax.grad(f)(w, x) ** 2).sum())
    assert np.allclose(mapped(second(loss), (P(), P("x")), P())(W, X), second(plain)(W, X), rtol=1e-5)
