"""device_put, device_get and arrays from pieces, on one device and on eight."""

import subprocess
import sys

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.sharding import NamedSharding, SingleDeviceSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

X = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture(autouse=True)
def devices():
    with eight_devices():
        yield


def sharded():
    return NamedSharding(mesh(x=4), P("x"))


@pytest.mark.parametrize("kind", ["device", "pinned_host", "unpinned_host"])
def test_parts_lie_in_the_memory_of_the_whole(kind):
    for sharding in (sharded(), SingleDeviceSharding(jax.devices()[1])):
        x = jax.device_put(X, sharding.with_memory_kind(kind))
        assert x.addressable_data(0).sharding.memory_kind == kind
        for shard in x.addressable_shards:
            assert shard.data.sharding == SingleDeviceSharding(shard.device, memory_kind=kind)
            np.testing.assert_array_equal(shard.data, X[shard.index])


def test_formats_say_where_arrays_lie():
    layout = jax.experimental.layout
    rows = layout.Format(layout.Layout((0, 1)), sharded())
    for make in (
        lambda f: jax.make_array_from_callback(X.shape, f, lambda index: X[index]),
        lambda f: jax.jit(lambda x: jax.lax.with_sharding_constraint(x, f))(X),
    ):
        assert make(rows).format.sharding == rows.sharding
        np.testing.assert_array_equal(make(rows), X)
        with pytest.raises(NotImplementedError, match="row by row"):
            make(layout.Format(layout.Layout((1, 0)), sharded()))
    for make in (
        lambda f: jax.make_array_from_callback(X.shape, f, lambda index: X[index]),
        lambda f: jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=f),
    ):
        with pytest.raises(TypeError, match=r"`Layout\.AUTO` cannot be used in place of a device-local layout"):
            make(layout.Format(layout.Layout.AUTO, sharded()))


def test_trees_and_prefixes_of_devices():
    one, two = jax.devices()[:2]
    out = jax.device_put({"a": X, "b": (1, X)}, {"a": one, "b": two})
    assert [x.device for x in jax.tree.leaves(out)] == [one, two, two] and all(
        x.committed for x in jax.tree.leaves(out)
    )
    assert not jax.device_put(X).committed and jax.device_put(2).weak_type
    assert jax.device_put(X, SingleDeviceSharding(two)).device is two


def test_shards():
    sharding = sharded()
    x = jax.device_put(X, sharding)
    assert x.sharding == sharding and [s.data.tolist() for s in x.addressable_shards] == X[:, None].tolist()
    traced = jax.jit(lambda v: jax.device_put(v * 2, sharding))(X)
    np.testing.assert_array_equal(traced, X * 2)


def test_an_array_that_lies_there_already_is_returned_itself():
    x, sharding = jnp.arange(4.0), sharded()
    y = jax.device_put(X, sharding)
    assert jax.device_put(y, sharding) is y and jax.device_put(y) is y
    assert jax.device_put(x) is x and jax.device_put(x, may_alias=True) is x
    single = SingleDeviceSharding(jax.devices()[0])
    committed = jax.device_put(x, single)
    assert committed is not x and jax.device_put(committed, single) is committed
    assert jax.device_put(committed, single, may_alias=False) is not committed
    z = jax.device_put(X, sharding)
    z.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jax.device_put(z, sharding)
    copy = jax.device_put(x, may_alias=False)
    copy.delete()
    assert copy is not x and x.tolist() == [0, 1, 2, 3]


def test_copies_to_the_host_are_started():
    class Copied:
        started = 0

        def copy_to_host_async(self):
            self.started += 1

    tree = [Copied(), 1, object(), {"a": X}]
    assert jax.copy_to_host_async(tree) is tree and tree[0].started == 1


@pytest.mark.parametrize("call, error, text", [
    (lambda: jax.device_put(2**40), OverflowError, f"Python int {2**40} too large to convert to int32"),
    (lambda: jax.device_put("a"), TypeError, "Argument 'a' of type <class 'str'> is not a valid JAX type"),
    (lambda: jax.device_put(np.array(["a"])), TypeError, "Dtype <U1 is not a valid JAX array type."),
    (lambda: jax.device_put(object()), TypeError, "it does not have a dtype attribute"),
    (lambda: jax.device_put(X, donate=True, may_alias=True), ValueError, "cannot be True at the same time"),
    (lambda: jax.device_put(X, "cpu"), ValueError, "Received invalid value: cpu"),
    (lambda: jax.device_put({"a": X}, {"b": jax.devices()[0]}), ValueError, "device_put device"),
    (lambda: jax.device_put(X, P("x")), ValueError, "Please set a mesh"),
    (lambda: jax.make_array_from_callback((4, 2), "x", lambda i: X[i]), TypeError, "sharding should be an instance"),
    (lambda: jax.make_array_from_callback((4, 2), sharded(), lambda i: X), ValueError, r"shard shape \(1, 2\)"),
    (lambda: jax.make_array_from_callback((4, 2), sharded(), lambda i: X[i], dtype="float16"), ValueError, "the dtype"),
    (lambda: jax.jit(lambda x: jax.make_array_from_callback((4, 2), sharded(), lambda i: x[i]))(X),
     jax.errors.UnexpectedTracerError, "jax.make_array_from_callback cannot be called within a traced context"),
    (lambda: jax.jit(lambda x: jax.make_array_from_single_device_arrays((4, 2), sharded(), [x]))(X), ValueError,
     "requires a list of concrete arrays as input"),
    (lambda: jax.make_array_from_single_device_arrays((2,), jnp.ones(2).sharding, [jnp.ones(2)], dtype=int), ValueError,
     "must match the dtype of the addressable shards. Got dtype=int32 and shard dtype=float32"),
    (lambda: jax.make_array_from_process_local_data(3, X), ValueError, "Received invalid value: 3"),
    (lambda: jax.make_array_from_process_local_data(P("x"), X), ValueError, "Please set a mesh"),
    (lambda: jax.make_array_from_single_device_arrays((4, 2), sharded(), []), ValueError,
     "If the Array has no addressable shards, `dtype` must be provided"),
    (lambda: jax.make_array_from_single_device_arrays((4, 2), sharded(), [], dtype=np.float32), ValueError,
     "Expected 4 per-device arrays"),
])  # fmt: skip
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_getting_leaves_what_has_no_numpy_form():
    key = jax.random.key(0)
    out = jax.device_get({"x": jnp.ones(2), "k": key, "n": 3, "s": "text"})
    assert type(out["x"]) is np.ndarray and out["k"] is key and (out["n"], out["s"]) == (3, "text")
    seen = []
    jax.make_jaxpr(lambda x: (seen.append(jax.device_get(x) is x), x)[1])(1.0)
    assert seen == [True]


def test_pieces():
    sharding = sharded()
    whole = jax.make_array_from_callback((4, 2), sharding, lambda index: X[index].astype(np.float16), dtype=np.float16)
    assert whole.dtype == np.float16 and whole.sharding == sharding
    np.testing.assert_array_equal(whole, X)
    local = jax.make_array_from_process_local_data(sharding, {"a": X})["a"]
    assert local.sharding == sharding
    assert jax.make_array_from_process_local_data(jax.devices()[1], X).device is jax.devices()[1]
    with jax.set_mesh(mesh(x=4)):
        assert jax.make_array_from_process_local_data(P("x"), X).sharding == sharding
    with pytest.raises(ValueError, match="global_shape should be None or"):
        jax.make_array_from_process_local_data(sharding, X, (8, 2))


LIVE_ARRAYS = """
import onax, onax.numpy as jnp
x = jnp.ones(3)
y = x + 1
alive = onax.live_arrays()
assert alive[0] is y and alive[1] is x
count = len(alive)
del y, alive
assert len(onax.live_arrays("cpu")) == count - 1
x.delete()
assert len(onax.live_arrays()) == count - 2
"""


def test_live_arrays():
    """In a process of its own: other tests leave arrays on devices that they made up."""
    subprocess.run([sys.executable, "-c", LIVE_ARRAYS], check=True)


def test_arrays_of_keys_are_put_together():
    sharding = jax.NamedSharding(jax.make_mesh((1,), ("x",)), jax.P("x"))
    for impl in ("threefry2x32", "rbg"):
        keys = jax.random.split(jax.random.key(0, impl=impl), 4)
        by_callback = jax.make_array_from_callback((4,), sharding, lambda index, keys=keys: keys[index])
        by_parts = jax.make_array_from_single_device_arrays((4,), sharding, [keys])
        for made in (by_callback, by_parts):
            assert made.dtype == keys.dtype and made.sharding == sharding
            np.testing.assert_array_equal(jax.random.key_data(made), jax.random.key_data(keys))
    with pytest.raises(ValueError, match=r"Expected shard shape \(4,\) doesn't match"):
        jax.make_array_from_callback((4,), sharding, lambda index: keys[:2])


def parts(count, dtype=np.float32):
    return [jax.device_put(np.full((2, 2), i, dtype), jax.devices()[i]) for i in range(count)]


def test_the_first_of_replicated_parts_is_the_value():
    over_rows = NamedSharding(mesh(x=2, y=2), P("x"))
    made = jax.make_array_from_single_device_arrays((4, 2), over_rows, parts(4))
    assert made[:, 0].tolist() == [0.0, 0.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "arrays, error, text",
    [
        (lambda: [*parts(3), parts(4, np.int32)[3]], ValueError, r"matching dtypes\. Got int32, expected float32"),
        (lambda: [np.ones((2, 2))] * 4, TypeError, r"^Unsupported type for elements in `arrays`: <class 'numpy.nd"),
        (
            lambda: [jax.device_put(X, sharded())] * 4,
            ValueError,
            r"must have one shard each\. An argument array had 4 shard\(s\)",
        ),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_each_other_are_refused(arrays, error, text):
    whole = NamedSharding(mesh(x=2, y=2), P("x", "y"))
    with pytest.raises(error, match=text):
        jax.make_array_from_single_device_arrays((4, 4), whole, arrays())


def test_callbacks_give_parts_of_one_dtype_and_shape():
    rows = NamedSharding(mesh(x=4), P("x"))
    with pytest.raises(ValueError, match=r"must have matching dtypes\. Got float32, expected int32"):
        jax.make_array_from_callback((4,), rows, lambda i: np.ones(1, "f" if i[0].start else "i"))
    with pytest.raises(ValueError, match=r"Shape of Array is float32\[4,2\] with sharding"):
        jax.make_array_from_callback((4, 2), rows, lambda i: np.ones(3, np.float32))


def test_arrays_over_devices_have_no_single_buffer():
    x = jax.device_put(X, sharded())
    for use, error, text in [
        (np.from_dlpack, BufferError, "__dlpack__ only supported for unsharded arrays"),
        (lambda x: x.__dlpack__(), BufferError, "__dlpack__ only supported for unsharded arrays"),
        (lambda x: x.unsafe_buffer_pointer(), RuntimeError, "for unsharded arrays only"),
    ]:
        with pytest.raises(error, match=text):
            use(x)


def test_deleted_arrays_are_never_ready():
    x = jnp.ones(3)
    x.delete()
    for wait in (lambda: x.block_until_ready(), lambda: jax.block_until_ready([x])):
        with pytest.raises(RuntimeError, match="called on deleted or donated buffer"):
            wait()


@pytest.mark.parametrize(
    "shape, end", [((4,), "of rank 1."), ((), r"of rank 0. For scalars the PartitionSpec should be P\(\)")]
)
def test_shardings_of_too_many_dimensions(shape, end):
    target = NamedSharding(mesh(x=2, y=2), P("x", "y"))
    start = "One of {} is incompatible with its sharding annotation NamedSharding"
    with pytest.raises(ValueError, match=start.format("device_put args") + ".*" + end):
        jax.device_put(np.ones(shape), target)
    constrain = lambda x: jax.lax.with_sharding_constraint(x, target)
    for f in (constrain, jax.jit(constrain)):
        with pytest.raises(ValueError, match=start.format("with_sharding_constraint arguments")):
            f(np.ones(shape))


def test_memory_spaces():
    first = jax.devices()[0]
    host = SingleDeviceSharding(first, memory_kind="pinned_host")
    x = jax.device_put(X, host)
    assert x.sharding == host and x.sharding.memory_kind == "pinned_host" and x.committed
    np.testing.assert_array_equal(jax.jit(lambda a: a * 2)(x) + x, 3 * X)
    assert jax.device_put(x, jax.memory.Space.Device).sharding.memory_kind == "device"
    assert jax.device_put(jnp.ones(3), jax.memory.Space.Host).sharding == host
    assert jax.device_put(x, first).sharding == SingleDeviceSharding(first)
    split = jax.device_put(X, sharded().with_memory_kind("unpinned_host"))
    assert split.sharding.memory_kind == "unpinned_host"
    assert jax.device_put(split, jax.memory.Space.Device).sharding == sharded()
    with pytest.raises(ValueError, match="Got jit memory kind: device, arg memory kind: unpinned_host"):
        jax.jit(lambda a: a, in_shardings=sharded())(split)


def test_arrays_that_are_given_away():
    """As JAX on CPUs: those that go to their devices in another order are deleted."""
    there = NamedSharding(jax.sharding.Mesh(jax.devices()[3::-1], "x"), P("x"))
    make = lambda: jax.device_put(X, sharded())
    x, y, z = make(), make(), make()
    moved = jax.device_put({"a": (x, y), "b": z}, there, donate={"a": (True, False), "b": None})
    assert (x.is_deleted(), y.is_deleted(), z.is_deleted()) == (True, False, False)
    assert all(leaf.sharding == there and leaf.tolist() == X.tolist() for leaf in jax.tree.leaves(moved))
    for place in (jax.devices()[0], sharded(), NamedSharding(mesh(x=4), P())):
        jax.device_put(y, place, donate=True)
        assert not y.is_deleted()
    copy = jax.device_put((y, y), sharded(), may_alias=(False, True))
    assert copy[0] is not y and copy[1] is y
    with pytest.raises(ValueError, match="may_alias and donate cannot be True at the same time"):
        jax.device_put((x, y), there, donate=(True, False), may_alias=(True, False))
    with pytest.raises(ValueError, match="device_put donate"):
        jax.device_put((x, y), there, donate={"a": True})
