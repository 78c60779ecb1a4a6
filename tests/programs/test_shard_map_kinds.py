"""Values inside shard_map that are parts of a sum (unreduced) or whose cotangents are (reduced), as in JAX."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.sharding import ShardingTypeError
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

V = np.arange(4, dtype=np.float32)
U, R, I, Y = P(unreduced={"y"}), P(reduced={"y"}), P(), P("y")


@pytest.fixture(autouse=True, params=MODES)
def mesh(request):
    with eight_devices(MODES[request.param]):
        with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
            yield


def placed(spec):
    """V over the devices; an unreduced one is the sum of a quarter and three quarters of it."""
    if not spec.unreduced:
        return jax.device_put(V, spec)
    parts = jax.device_put(np.stack([V / 4, 3 * V / 4]), Y)
    return jax.jit(lambda a: lax.reduce_sum(a, (0,), out_sharding=spec))(parts)


def cast(to):
    return lambda x: lax.pcast(x, "y", to=to)


def weighted(x):
    """What varies: the value times the number of the device along y."""
    return x * (1.0 + lax.axis_index("y"))


gathered = lambda x: lax.all_gather(x, "y", tiled=True, to="reduced")

# name: (spec of the argument, body, spec of the result, type in the body, type of the whole, its value)
RESULTS = {
    "sum of parts": (U, lambda x: x + x, U, "float32[4]{U:y}", "float32[4]{U:y}", 2 * V),
    "sum over devices": (U, lambda x: lax.psum(x, "y"), I, "float32[4]", "float32[4]", V),
    "part of the sum": (
        U, lambda x: lax.psum_scatter(x, "y", tiled=True), Y, "float32[2]{V:y}", "float32[4@y]", V
    ),
    "reduced": (R, jnp.sin, R, "float32[4]{R:y}", "float32[4]{R:y}", np.sin(V)),
    "reduced as varying": (
        R, cast("varying"), Y, "float32[4]{V:y}", "float32[8@y]", np.concatenate([V, V])
    ),
    "the same as reduced": (I, cast("reduced"), R, "float32[4]{R:y}", "float32[4]{R:y}", V),
    "varying as parts": (Y, cast("unreduced"), U, "float32[2]{U:y}", "float32[2]{U:y}", [2, 4]),
    "parts that the spec states": (Y, lambda x: x, U, "float32[2]{V:y}", "float32[2]{U:y}", [2, 4]),
    "parts, summed": (Y, lambda x: lax.psum(cast("unreduced")(x), "y"), I, "float32[2]", "float32[2]", [2, 4]),
    "gathered": (Y, gathered, R, "float32[4]{R:y}", "float32[4]{R:y}", V),
    "varying times reduced": (Y, lambda x: x * cast("reduced")(jnp.ones(2)), Y, "float32[2]{V:y}", "float32[4@y]", V),
    "parts times reduced": (
        U, lambda x: x * cast("reduced")(jnp.full(4, 3.0)), U, "float32[4]{U:y}", "float32[4]{U:y}", 3 * V
    ),
    "reshape": (U, lambda x: x.reshape(2, 2), U, "float32[2,2]{U:y}", "float32[2,2]{U:y}", V.reshape(2, 2)),
    "sum of elements": (U, lambda x: x.sum(), U, "float32[]{U:y}", "float32[]{U:y}", 6),
    "slice": (U, lambda x: x[1:3], U, "float32[2]{U:y}", "float32[2]{U:y}", V[1:3]),
    "varying over another axis": (
        U, lambda x: lax.pcast(x, "x", to="varying"), P("x", unreduced={"y"}), "float32[4]{V:x, U:y}",
        "float32[8@x]{U:y}", np.concatenate([V, V]),
    ),
    "scan": (
        U, lambda x: lax.scan(lambda c, _: (c + x, None), x, None, length=2)[0], U, "float32[4]{U:y}",
        "float32[4]{U:y}", 3 * V,
    ),
    "cond": (
        U, lambda x: lax.cond(True, lambda x: x + x, lambda x: x, x), U, "float32[4]{U:y}", "float32[4]{U:y}", 2 * V
    ),
    "jit": (U, lambda x: jax.jit(lambda x: x + x)(x), U, "float32[4]{U:y}", "float32[4]{U:y}", 2 * V),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    given, body, stated, inside, outside, expected = RESULTS[name]
    seen = []

    def recording(x):
        out = body(x)
        seen.append(str(jax.typeof(out)))
        return out

    f = jax.shard_map(recording, in_specs=given, out_specs=stated)
    for out in (f(placed(given)), jax.jit(f)(placed(given))):
        assert str(jax.typeof(out)) == outside
        np.testing.assert_allclose(jax.reshard(out, I), expected, rtol=1e-6)
    assert set(seen) == {inside}


ACCEPTS = "cannot accept args which are"
# name: (spec of the argument, body, spec of the result, error, its text)
ERRORS = {
    "a factor": (U, lambda x: 3 * x, U, ShardingTypeError, "LHS should be reduced along the same axes RHS is unre"),
    "two kinds of axes": (
        U,
        lambda x: lax.psum(x, ("x", "y")),
        I,
        ValueError,
        "jax.lax.psum can only accept axis_name",
    ),
    "ppermute": (U, lambda x: lax.ppermute(x, "y", [(0, 1)]), Y, ValueError, f"pvary {ACCEPTS} unreduced. Got f32"),
    "gather": (U, lambda x: lax.all_gather(x, "y"), Y, ValueError, f"pvary {ACCEPTS} unreduced"),
    "largest": (U, lambda x: lax.pmax(x, "y"), Y, ValueError, f"pvary {ACCEPTS} unreduced"),
    "exchange": (U, lambda x: lax.all_to_all(x, "y", 0, 0, tiled=True), Y, ValueError, f"pvary {ACCEPTS} unreduced"),
    "sum of reduced": (R, lambda x: lax.psum(x, "y"), I, ValueError, f"pvary {ACCEPTS} reduced. Got f32"),
    "no linear function": (U, jnp.sin, U, NotImplementedError, "unreduced rule for sin is not implemented"),
    "parts and a whole": (
        U,
        lambda x: x + jnp.zeros_like(x),
        U,
        ShardingTypeError,
        "lhs is unreduced while rhs is not",
    ),
    "a number beside reduced": (R, lambda x: x * 2, R, ShardingTypeError, "Inputs cannot be replicated on the same"),
    "parts as a whole": (U, lambda x: x, I, ValueError, "given out_specs which require replication"),
    "reduced as the same": (R, lambda x: x, I, ValueError, "given out_specs which require replication"),
    "not reduced": (I, lambda x: x, R, ValueError, "out_specs passed to shard_map should be equal to the reduced pres"),
    "no parts": (I, lambda x: x, U, ValueError, "vary_unreduced_cast only accepts inputs that are varying. Got f32"),
    "reduced as parts": (R, cast("unreduced"), U, ValueError, "Unsupported pcast from=reduced, to='unreduced'"),
    "reduced twice": (R, cast("reduced"), R, ValueError, "Unsupported pcast from=reduced, to='reduced'"),
    "the same as parts": (I, cast("unreduced"), U, ValueError, "Unsupported pcast from=invarying, to='unreduced'"),
    "gather of the same": (I, gathered, R, ValueError, "all_gather_reduced only accepts inputs that are varying"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    given, body, stated, error, text = ERRORS[name]
    with pytest.raises(error) as info:
        jax.shard_map(body, in_specs=given, out_specs=stated)(placed(given))
    assert text in str(info.value)


G = np.array([0, 10, 20, 30], np.float32)
# name: (spec of the argument, body, spec of the result, type of the gradient of the sum of squares, its value)
GRADIENTS = {
    "sum over devices": (U, lambda x: lax.psum(x, "y"), I, "float32[4]{R:y}", 2 * V),
    "part of the sum": (U, lambda x: lax.psum_scatter(x, "y", tiled=True), Y, "float32[4]{R:y}", 2 * V),
    "reduced": (R, jnp.sin, R, "float32[4]{U:y}", np.sin(2 * V)),
    "reduced as varying": (R, lambda x: weighted(cast("varying")(x)), Y, "float32[4]{U:y}", G),
    "varying as parts": (Y, lambda x: cast("unreduced")(x * x), U, "float32[4@y]", [0, 40, 32, 120]),
    "the same as reduced": (I, lambda x: weighted(cast("varying")(cast("reduced")(x))), Y, "float32[4]", G),
    "gathered": (Y, lambda x: weighted(cast("varying")(gathered(x))), Y, "float32[4@y]", G),
    "of a product": (R, lambda x: jnp.sin(weighted(x)), Y, "float32[4]{U:y}", np.sin(2 * V) + 2 * np.sin(4 * V)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    given, body, stated, shown, expected = GRADIENTS[name]
    f = jax.shard_map(body, in_specs=given, out_specs=stated)
    grad = jax.grad(lambda x: (jax.reshard(f(x), I) ** 2).sum())
    for g in (grad, jax.jit(grad)):
        found = g(placed(given))
        assert str(jax.typeof(found)) == shown
        np.testing.assert_allclose(jax.reshard(found, I), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("check_vma", [True, False])
def test_parts_without_types(check_vma):
    """Without check_vma the values are the same, and so are gradients."""
    f = lambda given, body, stated: jax.shard_map(body, in_specs=given, out_specs=stated, check_vma=check_vma)
    np.testing.assert_allclose(jax.reshard(f(U, lambda x: lax.psum(x, "y"), I)(placed(U)), I), V)
    np.testing.assert_allclose(jax.reshard(f(Y, lambda x: x, U)(placed(Y)), I), [2, 4])
    loss = lambda x: (jax.reshard(f(Y, lambda x: x * x, U)(x), I) ** 2).sum()
    np.testing.assert_allclose(jax.reshard(jax.grad(loss)(placed(Y)), I), [0, 40, 32, 120])
