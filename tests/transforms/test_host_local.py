"""Arrays over several processes from what each holds, and what JAX says of them."""

import pytest

import processes

TEXT = """
from onax.experimental import multihost_utils
from onax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding
me, line = jax.process_index(), mesh(x=4)
split, same = NamedSharding(line, P("x")), NamedSharding(line, P())

def error(f):
    try:
        return repr(f())
    except (RuntimeError, TypeError, ValueError, AssertionError) as raised:
        return f"{type(raised).__name__}: {raised}"

def shards(x):
    return [(s.device.id, s.index, np.asarray(s.data).tolist()) for s in x.addressable_shards]

part = np.arange(4.0) + 10 * me
x = jax.make_array_from_process_local_data(split, part)
found["from a part"] = shards(x)
found["facts"] = x.shape, x.is_fully_addressable, x.is_fully_replicated, len(x.devices()), repr(x), x.is_deleted()
found["all shards"] = [(s.device.id, s.data is None) for s in x.global_shards]
found["from the whole"] = shards(jax.make_array_from_process_local_data(split, np.arange(8.0), (8,)))
found["neither"] = error(lambda: jax.make_array_from_process_local_data(split, np.arange(8.0), (12,)))
found["callback"] = shards(jax.make_array_from_callback((8,), split, lambda i: np.arange(8.0)[i]))
pieces = [jax.device_put(np.full(2, d.id), d) for d in jax.local_devices()]
found["pieces"] = shards(jax.make_array_from_single_device_arrays((8,), split, pieces))
found["too few"] = error(lambda: jax.make_array_from_single_device_arrays((8,), split, pieces[:1]))
found["asarray"] = error(lambda: np.asarray(x))
found["device_get"] = error(lambda: jax.device_get(x))
found["one element"] = error(lambda: x.tolist())
found["to a device"] = error(lambda: jax.device_put(x, jax.local_devices()[0]))
found["different"] = error(lambda: jax.device_put(np.arange(8.0) + me, split))
found["committed"] = error(lambda: jax.device_put(pieces[0], split))
found["elsewhere"] = jax.device_put(np.ones(3), jax.devices()[0]).is_fully_addressable
back = multihost_utils.global_array_to_host_local_array(x, line, P("x"))
found["back"] = np.asarray(back).tolist(), back.is_fully_addressable
there = multihost_utils.host_local_array_to_global_array({"a": part, "b": np.ones(3)}, line, {"a": P("x"), "b": P()})
found["there"] = there["a"].shape, there["b"].shape, there["b"].is_fully_replicated
again = jax.pmap(lambda v: (jax.lax.psum(v, "i"), jax.lax.axis_index("i")), "i")(np.arange(2.0) + 10 * me)
found["pmap"] = [np.asarray(a).tolist() for a in again]
x.delete()
found["deleted"] = x.is_deleted()
found["processes"] = jax.process_count(), jax.device_count(), jax.local_device_count(), [d.id for d in jax.devices()]
found["gathered"] = multihost_utils.process_allgather(np.array([me])).tolist()
found["joined"] = multihost_utils.process_allgather({"a": np.array([me]), "b": me}, tiled=True)["a"].tolist()
found["broadcast"] = multihost_utils.broadcast_one_to_all(np.array(me), is_source=me == 1).tolist()
found["two sources"] = error(lambda: multihost_utils.broadcast_one_to_all(np.array(me), is_source=True))
found["unequal"] = error(lambda: multihost_utils.assert_equal(me, "steps"))
found["names"] = error(lambda: multihost_utils.sync_global_devices(f"a{me}"))
multihost_utils.sync_global_devices("a")
"""


@pytest.fixture(scope="module")
def found():
    return processes.in_each(2, TEXT, 2)


def test_each_process_holds_its_shards(found):
    for me, own in enumerate(found):
        ids = [2048 * me, 2048 * me + 1]
        parts = [(slice(4 * me, 4 * me + 2, None)), slice(4 * me + 2, 4 * me + 4, None)]
        values = [[10 * me, 10 * me + 1], [10 * me + 2, 10 * me + 3]]
        counted = [[4 * me, 4 * me + 1], [4 * me + 2, 4 * me + 3]]
        assert own["from a part"] == [(i, (p,), v) for i, p, v in zip(ids, parts, values)]
        assert own["from the whole"] == own["callback"] == [(i, (p,), v) for i, p, v in zip(ids, parts, counted)]
        assert own["pieces"] == [(i, (p,), [i, i]) for i, p in zip(ids, parts)]
        assert own["all shards"] == [(i, i not in ids) for i in (0, 1, 2048, 2049)]
        assert own["back"] == ([10 * me + k for k in range(4)], True)


def test_facts(found):
    for me, own in enumerate(found):
        assert own["facts"] == ((8,), False, False, 4, "Array(shape=(8,), dtype=float32)", False)
        assert own["deleted"]
        assert own["elsewhere"] is (me == 0)
        assert own["there"] == ((8,), (3,), True)
        assert own["pmap"] == [[22, 22], [2 * me, 2 * me + 1]]
        assert own["processes"] == (2, 4, 2, [0, 1, 2048, 2049])
        assert own["gathered"] == [[0], [1]]
        assert own["joined"] == [0, 1]
        assert own["broadcast"] == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("neither", "ValueError: Invalid host data, each dimension should match either global or process shape."),
        ("too few", "ValueError: Expected 2 per-device arrays"),
        ("asarray", "RuntimeError: Fetching value for `jax.Array` that spans non-addressable"),
        ("device_get", "RuntimeError: Fetching value for `jax.Array` that spans non-addressable"),
        ("one element", "RuntimeError: Fetching value for `jax.Array` that spans non-addressable"),
        ("to a device", "ValueError: When the second argument to `device_put` is a Device"),
        ("different", "AssertionError: <class 'numpy.ndarray'> passed to device_put is not the same on each process"),
        ("committed", "ValueError: device_put's second argument must be a Device or a Sharding which represents"),
        ("two sources", "ValueError: broadcast_one_to_all: one process must be the source, not 2"),
        ("unequal", "AssertionError: steps"),
        ("names", "AssertionError: sync_global_devices name mismatch"),
    ],
)
def test_errors(found, name, words):
    for own in found:
        assert own[name].startswith(words)
