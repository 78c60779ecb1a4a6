"""Shardings in types: what compiled functions give over a mesh with explicit axes, against JAX's recorded answers."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
import oracle
import sharding_type_cases
from onax import lax
from onax._core.sharding import ShardingTypeError
from onax._transforms.sharding_types import without_sharding_types
from onax.sharding import NamedSharding, auto_axes, reshard
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

RECORDED = oracle.load("sharding_type_cases")
CASES = sharding_type_cases.cases(jax)
Z = sharding_type_cases.Z


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


@pytest.fixture
def mesh():
    return jax.make_mesh((4, 2), ("x", "y"))


def put(mesh, x, *spec):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


@pytest.mark.parametrize("name", CASES)
def test_types_of_results(name):
    answer = RECORDED.get(name)
    assert answer is not None, "not recorded: run `make record`"
    (_, _, codes, _) = answer["ok"][0]
    assert bytes(CASES[name][0]()).decode() == codes.decode()


def test_types_of_arrays_and_tracers(mesh):
    x = put(mesh, Z, "x")
    assert str(jax.typeof(x)) == "float32[8@x,8]"
    assert jax.typeof(x).sharding.spec == P("x", None)
    assert jax.typeof(x).sharding.mesh == mesh.abstract_mesh
    assert str(jax.typeof(put(mesh, Z, ("x", "y")))) == "float32[8@(x,y),8]"
    seen = []
    jax.jit(lambda a: seen.append(jax.typeof(a.T).sharding.spec) or a)(x)
    assert seen == [P(None, "x")]
    assert "d:f32[8@x,8] = dot_general" in str(jax.make_jaxpr(lambda a: jnp.sin(a) @ Z)(x))


def test_automatic_axes_are_in_no_type():
    mesh = jax.make_mesh((4, 2), ("x", "y"), (jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto))
    assert str(jax.typeof(put(mesh, Z, "x", "y"))) == "float32[8@x,8]"
    assert str(jax.typeof(put(mesh, Z, None, "y"))) == "float32[8,8]"


def test_results_lie_as_their_types_say(mesh):
    x = put(mesh, Z, "x", "y")
    for function in (jnp.sin, lambda a: a.T, lambda a: a.sum(0), lambda a: a.reshape(64)):
        out = jax.jit(function)(x)
        assert out.sharding.spec == jax.typeof(out).sharding.spec
        np.testing.assert_allclose(out, jax.jit(function)(Z), rtol=1e-5, atol=1e-6)


def test_operations_outside_of_jit(mesh):
    x, y = put(mesh, Z, None, "x"), put(mesh, Z, "x")
    assert jax.typeof(x + y.T).sharding.spec == P(None, "x")
    with pytest.raises(ShardingTypeError, match="ambiguous"):
        x @ y
    with jax.set_mesh(mesh):
        assert str(jax.typeof(jnp.matmul(x, y, out_sharding=P("y")))) == "float32[8@y,8]"
        assert str(jax.typeof(reshard(x, P("y")))) == "float32[8@y,8]"
        assert str(jax.typeof(auto_axes(lambda a: a.reshape(16, 4), out_sharding=P("x"))(x))) == "float32[16@x,4]"
    with pytest.raises(ValueError, match="not under a mesh context"):
        jnp.matmul(x, y, out_sharding=P("y"))


def test_a_branch_of_another_sharding_is_an_error(mesh):
    with pytest.raises(TypeError, match="equal"):
        jax.jit(lambda a: lax.fori_loop(0, 3, lambda i, c: c + a, jnp.zeros((8, 8))))(put(mesh, Z, "x"))


def test_programs_without_the_types(mesh):
    jaxpr = jax.make_jaxpr(lambda a: lax.cond(True, jnp.sin, jnp.cos, a * 2))(put(mesh, Z, "x"))
    plain = without_sharding_types(jaxpr)
    assert "@" in str(jaxpr)
    assert "@" not in str(plain)
    assert without_sharding_types(plain) is plain
    assert [v.aval.shape for v in plain.outvars] == [(8, 8)]


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.reshape(2, 4, 2, 4),
        lambda a: a.reshape(2, 4, 2, 4).sum(0),
        lambda a: jnp.tile(a, (2, 1)),
    ],
)
def test_refused_changes_of_shape(mesh, function):
    with pytest.raises(ShardingTypeError, match=r"reshape is not supported|when the tiling is non-trivial"):
        jax.jit(function)(put(mesh, Z, "y", None))


def test_stages_tell_stated_shardings(mesh):
    x, rows = put(mesh, Z, "x"), NamedSharding(mesh, P("x"))
    assert jax.jit(lambda a: a * 2).lower(x).out_info.sharding.spec == P("x", None)
    lowered = jax.jit(lambda a: (a, a + 1), out_shardings=(rows, None)).lower(Z)
    assert [info.sharding for info in lowered.out_info] == [rows, None]


_GET = "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing"
_SET = "Use `.at[...].set/add/mul/...(out_sharding=)` to provide output PartitionSpec for the scatter update"
REFUSED = [
    (lambda x: x[:4], _GET),
    (lambda x: x[::2], _GET),
    (lambda x: x[-1], _GET),
    (lambda x: lax.dynamic_update_slice(x, x[:4], (0, 0)), _GET),
    (lambda x: jnp.repeat(x, 2), "Please pass sharding to `jnp.repeat` via `out_sharding` parameter."),
    (lambda x: jnp.repeat(x, 2, axis=0), "Please pass sharding to `jnp.repeat` via `out_sharding` parameter."),
    (lambda x: jnp.cumsum(x[:, 0]), "The input should be fully replicated when axis is not specified to cumsum."),
    (lambda x: jnp.zeros(8).at[x[:, 0].astype(int)].add(1.0), _SET),
    (lambda x: jax.ops.segment_sum(x, jnp.arange(8), 8), _SET),
    (lambda x: lax.ragged_dot(x, jnp.ones((1, 8, 2)), jnp.array([8])), "Explicit sharding inference for ragged_dot"),
    (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 1), (1, 1), "VALID"), "reduce_window on sharded dims where"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_arrays_are_refused(mesh, number):
    function, text = REFUSED[number]
    with jax.set_mesh(mesh):
        with pytest.raises((ShardingTypeError, ValueError, NotImplementedError)) as caught:
            function(put(mesh, Z, "x"))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda x: x[:, :3], "float32[8@x,3]"),
        (lambda x: jnp.repeat(x, 2, axis=1), "float32[8@x,16]"),
        (lambda x: jnp.repeat(x, 2, axis=0, out_sharding=P("y")), "float32[16@y,8]"),
        (lambda x: x.at[:, 0].set(1.0), "float32[8@x,8]"),
        (lambda x: lax.bitcast_convert_type(x, np.int16), "int16[8@x,8,2]"),
        (lambda x: jnp.dot(x, x, out_sharding=P("x", "y")), "float32[8@x,8@y]"),
        (jax.vmap(lambda x: jnp.dot(x[None], x[:, None], out_sharding=P())), "float32[8@x,1,1]"),
        (jax.vmap(lambda x: lax.reduce_sum(x, (0,), out_sharding=P())), "float32[8@x]"),
        (jax.vmap(lambda x: lax.reshape(x, (2, 4), out_sharding=P("y"))), "float32[8@x,2@y,4]"),
    ],
)
def test_what_arrays_give(mesh, function, text):
    with jax.set_mesh(mesh):
        out = function(put(mesh, Z, "x"))
        assert str(jax.typeof(out)) == text
        wanted = function(jnp.asarray(Z))
    np.testing.assert_allclose(np.asarray(out, np.float32), np.asarray(wanted, np.float32), rtol=1e-5)


def test_unmapped_values_are_not_split_along_the_mapped_axis(mesh):
    with jax.set_mesh(mesh):
        x, v = put(mesh, Z, "x"), put(mesh, Z[0], "x")
        text = r"Got type: f32\[8@x\], in_axes: None and vmapped mesh axis: \('x',\)"
        with pytest.raises(ValueError, match=text):
            jax.vmap(lambda a, b: a + b, in_axes=(0, None))(x, v)
        out = jax.vmap(lambda a, b: a + b, in_axes=(0, None))(x, put(mesh, Z[0], "y"))
        assert str(jax.typeof(out)) == "float32[8@x,8@y]"


def test_types_of_structs(mesh):
    struct = jax.ShapeDtypeStruct((8, 8), np.float32, sharding=NamedSharding(mesh, P("x")))
    with jax.set_mesh(mesh):
        found = []
        jax.jit(lambda v: found.append(str(jax.typeof(v))) or v * 2).lower(struct)
        assert found == ["float32[8@x,8]"]
        assert str(jax.typeof(jnp.zeros_like(struct.update(sharding=NamedSharding(mesh.abstract_mesh, P("x")))))) == (
            "float32[8@x,8]"
        )


@pytest.mark.parametrize("name", ["min", "max", "mul", "add", "set"])
def test_gradients_of_split_windows(name, mesh):
    with jax.set_mesh(mesh):
        x, ids = put(mesh, np.zeros((4, 10, 8), np.float32), "x", None, "y"), put(mesh, np.arange(4), "x")
        updates = put(mesh, np.ones((4, 8), np.float32), "x", "y")
        f = lambda *args: jax.vmap(lambda x, i, y: getattr(x.at[i], name)(y))(*args).sum()
        gradients = jax.grad(f, argnums=(0, 2))(x, ids, updates)
        assert [g.sharding for g in gradients] == [x.sharding, updates.sharding]
