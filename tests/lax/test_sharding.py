"""Where values lie, stated in programs and outside: constraints, reshard, functions with placed results."""

import numpy as np
import pytest

import onax as jax
from onax import lax, sharding
from onax import numpy as jnp
from onax.experimental.layout import Format, Layout
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

X = np.arange(8.0, dtype=np.float32)


@pytest.fixture
def mesh():
    with eight_devices():
        yield jax.make_mesh((4, 2), ("x", "y"))


def test_constraints_place_results(mesh):
    mesh = mesh.update(axis_types=(sharding.AxisType.Auto,) * 2)
    place = jax.NamedSharding(mesh, P("x"))
    doubled = jax.jit(lambda x: lax.with_sharding_constraint({"a": x * 2, "b": x}, {"a": place, "b": None}))
    with jax.set_mesh(mesh):
        out = doubled(X)
        assert lax.with_sharding_constraint(jnp.asarray(X), P("y")).sharding == jax.NamedSharding(mesh, P("y"))
    assert out["a"].sharding == place and out["a"].tolist() == (2 * X).tolist()
    assert jax.grad(lambda x: lax.with_sharding_constraint(x, place).sum())(jnp.asarray(X)).tolist() == [1.0] * 8


def test_values_are_moved(mesh):
    places = jax.NamedSharding(mesh, P("x")), jax.NamedSharding(mesh, P(("x", "y")))
    first, second = sharding.reshard((jnp.asarray(X), 2 * X), places)
    assert (first.sharding, second.sharding) == places and second.tolist() == (2 * X).tolist()
    with jax.set_mesh(mesh):
        assert sharding.reshard(first, P("y")).sharding == jax.NamedSharding(mesh, P("y"))


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_functions_with_places(mesh, way):
    place = jax.NamedSharding(mesh, P("x"))

    @sharding.auto_axes(out_sharding=place)
    def doubled(x):
        return x * 2

    assert way(doubled)(X).sharding == place
    found = []
    moved = sharding.explicit_axes(lambda x: found.append(jax.typeof(x).shape) or x + 1, in_sharding=(place,))
    with jax.set_mesh(mesh):
        assert way(moved)(X).tolist() == (X + 1).tolist() and found == [(8,)]


def test_one_device():
    place = sharding.make_single_device_sharding(jax.devices()[0])
    assert place == sharding.SingleDeviceSharding(jax.devices()[0])
    assert lax.with_sharding_constraint(jnp.asarray(X), place).tolist() == X.tolist()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: lax.with_sharding_constraint(X, "cpu"),
            TypeError,
            "expected to be PartitionSpec instances or None, but got",
        ),
        (lambda: lax.with_sharding_constraint(X, None), ValueError, "None which is not allowed"),
        (lambda: lax.with_sharding_constraint(X, P("x")), RuntimeError, "requires a non-empty mesh"),
        (lambda: sharding.reshard(X, None), ValueError, "non-None"),
        (lambda: sharding.reshard(X, P("x")), ValueError, "not under a mesh context is not allowed"),
        (lambda: sharding.reshard(X, jax.devices()[0]), TypeError, "only supports instances of `NamedSharding`"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_constraints_that_do_not_divide_an_array(mesh):
    over_x = sharding.NamedSharding(jax.make_mesh((4, 2), ("x", "y"), (sharding.AxisType.Auto,) * 2), P("x"))
    with pytest.raises(ValueError, match=r"partitioned 4 times, but the dimension size is 3"):
        lax.with_sharding_constraint(jnp.ones(3), over_x)
    assert lax.with_sharding_constraint(jnp.ones(4), over_x).sharding == over_x
    with pytest.raises(TypeError, match="shardings leaf specifications are expected to be PartitionSpec instances"):
        lax.with_sharding_constraint(jnp.ones(4), 3)


@pytest.mark.parametrize(
    "spec, wanted",
    [(P(None, "a"), P("e", "a")), (P("a"), P(("e", "a"))), (P(P.UNCONSTRAINED, "a"), P("e", "a"))],
)
def test_constraints_over_automatic_axes_keep_explicit_ones(spec, wanted):
    types = (sharding.AxisType.Auto, sharding.AxisType.Explicit)
    with eight_devices(), jax.set_mesh(jax.make_mesh((2, 2), ("a", "e"), types)):
        x = jax.device_put(np.ones((4, 4), np.float32), P("e"))
        out = jax.jit(lambda x: lax.with_sharding_constraint(x * 2, spec))(x)
        assert str(jax.typeof(out)) == "float32[4@e,4]" and out.sharding.is_equivalent_to(
            jax.NamedSharding(jax.sharding.get_mesh(), wanted), 2
        )
        np.testing.assert_array_equal(out, 2 * np.ones((4, 4)))


def test_reshard_is_shown_by_its_name():
    with eight_devices(), jax.set_mesh(jax.make_mesh((2,), ("x",))):
        program = jax.make_jaxpr(lambda x: jax.reshard(x, P("x")))(np.ones(4, np.float32))
    assert str(program) == "{ lambda ; a:f32[4]. let b:f32[4@x] = reshard a in (b,) }"


def test_constraints_are_over_the_devices_of_an_array(mesh):
    mesh = mesh.update(axis_types=(sharding.AxisType.Auto,) * 2)
    turned = sharding.Mesh(mesh.devices[::-1], ("x", "y"), axis_types=mesh.axis_types)
    x = jax.device_put(X, jax.NamedSharding(mesh, P()))
    assert lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x"))).sharding.spec == P("x")
    for array in (x, jax.device_put(X, jax.devices()[1])):
        with pytest.raises(ValueError, match=r"Received incompatible devices .*\. Got argument x"):
            lax.with_sharding_constraint(array, jax.NamedSharding(turned, P("x")))
    assert lax.with_sharding_constraint(jnp.asarray(X), jax.NamedSharding(turned, P("x"))).sharding.mesh == turned
    assert x.sharding._device_assignment == tuple(mesh.devices.flat)


def automatic(*sizes, start=0):
    names, devices = ("x", "y")[: len(sizes)], jax.devices()[start : start + int(np.prod(sizes))]
    return jax.make_mesh(sizes, names, (sharding.AxisType.Auto,) * len(sizes), devices=devices)


def test_constraints_over_an_abstract_mesh(mesh):
    """They are over the mesh of the array, in programs and outside."""
    grid = automatic(4, 2)
    double = lambda x: lax.with_sharding_constraint(x, jax.NamedSharding(grid.abstract_mesh, P("x"))) * 2
    x = jax.device_put(X, jax.NamedSharding(grid, P("y")))
    for function in (double, jax.jit(double)):
        out = function(x)
        assert out.sharding == jax.NamedSharding(grid, P("x")) and out.tolist() == (2 * X).tolist()
    stacked = jax.device_put(np.stack([X, X]), jax.NamedSharding(grid, P("y")))
    assert jax.jit(jax.vmap(double))(stacked).sharding == jax.NamedSharding(grid, P("y", "x"))  # as it was
    assert jax.jit(jax.vmap(double, spmd_axis_name="y"))(stacked).sharding == jax.NamedSharding(grid, P("y", "x"))
    assert jax.jit(double)(X).devices() == {jax.devices()[0]}
    assert jax.grad(lambda x: double(x).sum())(x).tolist() == [2.0] * 8
    other = automatic(2, start=4)
    there = jax.device_put(X, jax.NamedSharding(other, P()))
    spread = jax.jit(lambda x: lax.with_sharding_constraint(x, jax.NamedSharding(automatic(2).abstract_mesh, P("x"))))
    assert spread(there).sharding == jax.NamedSharding(other, P("x"))


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (lambda: X, ValueError, "requires the input passed should be a `jax.Array`. Got <class 'numpy.ndarray'>"),
        (lambda: jnp.asarray(X), TypeError, "^The sharding on the input must be a `NamedSharding` since the target"),
        (
            lambda: jax.device_put(X, jax.NamedSharding(automatic(2), P())),
            ValueError,
            r"^Mesh shape of the input \(\('x', 2\),\) does not match the mesh shape of the target sharding",
        ),
    ],
)
def test_values_without_the_mesh_of_a_constraint(mesh, x, error, text):
    with pytest.raises(error, match=text):
        lax.with_sharding_constraint(x(), jax.NamedSharding(automatic(4).abstract_mesh, P("x")))


def test_a_mapped_axis_over_mesh_axes_needs_a_named_sharding(mesh):
    place = sharding.SingleDeviceSharding(jax.devices()[0])
    constrain = lambda x: lax.with_sharding_constraint(x, place)
    assert jax.vmap(constrain)(jnp.ones((2, 2))).shape == (2, 2)
    with pytest.raises(ValueError, match=r"^If you are using spmd_axis_name parameter of jax.vmap, .* SingleDevice"):
        jax.vmap(constrain, spmd_axis_name="x")(jnp.ones((2, 2)))


def test_constraints_by_formats(mesh):
    place = jax.NamedSharding(automatic(4, 2), P("y"))
    for arrangement in (Layout((0,)), Layout.AUTO, None):
        assert lax.with_sharding_constraint(X, Format(arrangement, place)).sharding == place
    with pytest.raises(ValueError, match="rank"):
        lax.with_sharding_constraint(X, Format(Layout((0, 1)), place))


AUTO = (sharding.AxisType.Auto,) * 2


def test_automatic_axes_stay_where_values_are_moved(mesh):
    auto = mesh.update(axis_types=AUTO)
    mixed = mesh.abstract_mesh.update_axis_types({"x": sharding.AxisType.Auto})
    x = jax.device_put(X.reshape(4, 2), jax.NamedSharding(auto, P("x", "y")))

    @jax.jit
    def to_explicit(x):
        with sharding.use_abstract_mesh(mixed):
            y = sharding.reshard(x, P(None, "y"))
            assert jax.typeof(y).sharding.spec == P(None, "y")
        return sharding.reshard(jnp.sin(y), P())

    with jax.set_mesh(auto):
        assert to_explicit(x).sharding == x.sharding
        key = jax.random.key(0)  # over the explicit axes of another mesh of as many devices
        other = sharding.AbstractMesh((8,), ("d",), (sharding.AxisType.Explicit,))
        jax.jit(lambda: sharding.reshard(key, jax.NamedSharding(other, P())))()


UNIT = {  # what JAX 0.10.2 gives over automatic axes of sizes 2 and 1
    "a constraint": (lambda x: lax.with_sharding_constraint(x + 1, P("x", "y")), P(), P("x")),
    "as the argument": (lambda x: x * 2, P("x", "y"), P("x", "y")),
    "transposed": (lambda x: x.T, P("y", "x"), P("x")),
    "reduced": (lambda x: x.sum(0), P("y", "x"), P("x")),
    "a new dimension": (lambda x: x[None], P("x", "y"), P(None, "x")),
}


@pytest.mark.parametrize("name", UNIT)
def test_axes_of_size_1_split_nothing(name):
    f, given, expected = UNIT[name]
    with eight_devices():
        mesh = jax.make_mesh((2, 1), ("x", "y"), AUTO)
        with jax.set_mesh(mesh):
            x = jax.device_put(np.ones((4, 4)), P(*given))
            assert jax.jit(f)(x).sharding.spec == expected


def test_out_sharding_over_another_mesh(mesh):
    x = jnp.ones((8, 8))
    other = mesh.abstract_mesh.update(axis_types=AUTO)
    with jax.set_mesh(mesh), pytest.raises(ValueError, match=r"Context mesh .* should match the mesh of sharding"):
        jnp.dot(x, x, out_sharding=jax.NamedSharding(other, P()))


def test_products_that_state_explicit_axes_keep_automatic_ones(mesh):
    auto = mesh.update(axis_types=AUTO)
    x = jax.device_put(np.arange(16.0).reshape(8, 2), jax.NamedSharding(auto, P("x", "y")))
    product = sharding.explicit_axes(
        lambda a: jnp.einsum("ab,cb->ac", a, a, out_sharding=P(None, "y")), axes="y", in_sharding=P(None, "y")
    )
    with jax.set_mesh(auto):
        out = jax.jit(product)(x)
    assert out.sharding.spec == P("x", "y") and np.array_equal(out, np.asarray(x) @ np.asarray(x).T)
