"""Programs compiled ahead of time for several devices: their shardings, their partitioned program, their errors."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax._ground.config import separate_devices
from onax.sharding import NamedSharding, SingleDeviceSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh

X = np.arange(32, dtype=np.float32).reshape(8, 4)
W = np.cos(np.arange(24, dtype=np.float32)).reshape(4, 6)


@pytest.fixture(params=MODES)
def grid(request):
    """A mesh of 4 by 2 devices, in each of the two modes."""
    with eight_devices(), separate_devices(MODES[request.param]):
        yield mesh(data=4, model=2)


def column_sums(x, w):
    return jnp.sum(x @ w, 0)


def spread(grid):
    x = jax.device_put(X, NamedSharding(grid, P("data")))
    return x, jax.device_put(W, NamedSharding(grid, P(None, "model")))


def test_shardings_of_arguments_and_results(grid):
    x, w = spread(grid)
    compiled = jax.jit(column_sums).lower(x, w).compile()
    assert compiled.input_shardings == ((x.sharding, w.sharding), {})
    assert compiled.output_shardings == NamedSharding(grid, P("model"))
    assert compiled.out_info.sharding == NamedSharding(grid, P("model"))
    result = compiled(x, w)
    assert result.sharding == NamedSharding(grid, P("model"))
    np.testing.assert_allclose(result, (X @ W).sum(0), rtol=1e-5)


def test_separate_devices_run_the_partitioned_program():
    with eight_devices(), separate_devices(True):
        lowered = jax.jit(column_sums).lower(*spread(mesh(data=4, model=2)))
        names = [eqn.primitive.name for eqn in lowered.passes()[0][1].eqns]
        assert "shard_map" in names
        assert "shard_map" not in str(jax.jit(column_sums).lower(X, W).passes()[0][1])


def test_types_state_shardings(grid):
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding) for a in spread(grid)]
    compiled = jax.jit(column_sums).lower(*types).compile()
    assert compiled.input_shardings[0] == tuple(t.sharding for t in types)
    assert compiled(*spread(grid)).sharding == NamedSharding(grid, P("model"))


def test_options_of_jit_state_shardings(grid):
    rows, blocks = NamedSharding(grid, P("data")), NamedSharding(grid, P("data", "model"))
    function = jax.jit(jnp.matmul, in_shardings=(rows, None), out_shardings=blocks)
    compiled = function.lower(X, W).compile()
    assert compiled.input_shardings[0][0] == rows
    assert compiled.output_shardings == blocks
    x, w = spread(grid)
    for args in ((X, W), (jnp.asarray(X), W), (x, w)):  # w was given no sharding: it is put where it belongs
        result = compiled(*args)
        assert result.sharding == blocks
        np.testing.assert_allclose(result, X @ W, rtol=1e-5)


def test_uncommitted_arguments_are_put_where_they_belong(grid):
    compiled = jax.jit(lambda x: x * 2).lower(spread(grid)[0]).compile()
    assert compiled(X).sharding == compiled(jnp.asarray(X)).sharding == NamedSharding(grid, P("data"))


def test_an_argument_committed_to_another_sharding(grid):
    compiled = jax.jit(lambda x: x * 2).lower(spread(grid)[0]).compile()
    other = jax.device_put(X, NamedSharding(grid, P("model")))
    single = jax.device_put(X, jax.devices()[1])
    for wrong in (other, single):
        with pytest.raises(ValueError, match="compiled for input shardings that disagree") as caught:
            compiled(wrong)
        assert f"Argument x with shape float32[8,4]:\n  Passed sharding: {wrong.sharding}" in str(caught.value)
        assert f"Required sharding: {NamedSharding(grid, P('data'))}" in str(caught.value)


def test_results_that_are_stated_by_the_program(grid):
    rows = NamedSharding(grid, P("data"))
    compiled = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, rows)).lower(X).compile()
    assert compiled.output_shardings == rows
    assert compiled(X).sharding == rows
    no_arguments = jax.jit(lambda: jnp.ones(8), out_shardings=rows).lower().compile()
    assert no_arguments().sharding == rows


def test_one_device(grid):
    del grid
    second = jax.devices()[1]
    there = jax.device_put(X, second)
    compiled = jax.jit(lambda x: x * 2).lower(there).compile()
    assert compiled.input_shardings == ((SingleDeviceSharding(second),), {})
    assert compiled(X).device == second
    first = jax.jit(lambda x: x * 2).lower(X).compile()
    with pytest.raises(ValueError, match="disagree with the shardings of arguments"):
        first(there)
    assert first(jnp.asarray(X)).device == jax.devices()[0]


def test_devices_are_stated_when_compiling(grid):
    place = NamedSharding(grid.abstract_mesh, P("data"))
    double = jax.jit(lambda x: x * 2)
    struct, devices = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=place), tuple(grid.devices.flat)
    lowered = double.trace(struct).lower(lowering_platforms=("cpu",))
    compiled = lowered.compile(device_assignment=devices)
    x = jax.device_put(X, NamedSharding(grid, P("data")))
    assert compiled(x).sharding == x.sharding and np.array_equal(compiled(x), 2 * X)
    stated = jax.jit(double, in_shardings=place, out_shardings=place).trace(struct).lower(lowering_platforms=("cpu",))
    assert stated.compile(device_assignment=devices)(x).sharding == x.sharding
    assert double.lower(x).compile(device_assignment=devices)(x).sharding == x.sharding
    given = jax.jit(lambda x, y: (x, y)).lower(struct, x)  # the devices of the other argument
    assert given.compile()(x, x)[0].sharding == x.sharding


NO_DEVICES = {
    "no platform": (lambda f, s, grid: f.lower(s), ValueError, "Passing lowering_platforms .* is required"),
    "no devices": (
        lambda f, s, grid: f.trace(s).lower(lowering_platforms=("cpu",)).compile(), RuntimeError,
        "device_assignment cannot be `None`",
    ),
    "another number": (
        lambda f, s, grid: f.trace(s).lower(lowering_platforms=("cpu",)).compile(
            device_assignment=tuple(grid.devices.flat)[:1]
        ),
        ValueError, "size of abstract mesh 8 .* must match the length of device assignment: 1",
    ),
    "other devices": (
        lambda f, s, grid: f.lower(jax.device_put(X, NamedSharding(grid, P()))).compile(
            device_assignment=tuple(grid.devices.flat)[::-1]
        ),
        ValueError, "device_assignment passed to `.compile` must match",
    ),
    "meshes of two sizes": (
        lambda f, s, grid: jax.jit(lambda x, y: x).lower(
            s, jax.device_put(X, NamedSharding(mesh(data=2), P("data")))
        ),
        ValueError, "AbstractMesh size: 8 does not match the device assignment size: 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_DEVICES)
def test_unknown_devices(name, grid):
    run, kind, message = NO_DEVICES[name]
    struct = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(grid.abstract_mesh, P("data")))
    with pytest.raises(kind, match=message):
        run(jax.jit(lambda x: x * 2), struct, grid)


def test_types_where_arguments_will_lie():
    with eight_devices(), jax.set_mesh(jax.make_mesh((2,), ("x",))):
        lowered = jax.jit(lambda x: x * 2, in_shardings=P("x")).lower(np.arange(8))
        assert str(lowered.in_avals[0][0]) == str(lowered.compile().in_avals[0][0]) == "int32[8@x]"
