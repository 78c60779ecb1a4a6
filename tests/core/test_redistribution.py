"""Arrays in several processes get another sharding, and their elements come together."""

import processes

TEXT = """
from onax.experimental import multihost_utils
from onax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding
square, line = mesh(x=2, y=2), mesh(z=4)
whole = np.arange(8 * 12.0, dtype=np.float32).reshape(8, 12)
shardings = [NamedSharding(square, P(*spec)) for spec in (("x",), ("x", "y"), (None, ("y", "x")), ("y",), ())]
shardings.append(NamedSharding(line, P(None, "z")))
right = []
for a in shardings:
    x = jax.device_put(whole, a)
    right.append(np.array_equal(multihost_utils.process_allgather(x, tiled=True), whole))
    for b in shardings:
        y = jax.device_put(x, b)
        own = {s.device: np.asarray(s.data) for s in y.addressable_shards}
        wanted = b.addressable_devices_indices_map(whole.shape)
        right.append(y.sharding == b and own.keys() == wanted.keys())
        right += [np.array_equal(own[d], whole[index]) for d, index in wanted.items()]
local = jax.local_devices()[0]
found["right"] = all(right), len(right)
keys = jax.device_put(jax.random.split(jax.random.key(0), 8), NamedSharding(line, P("z")))
keys = jax.device_put(keys, NamedSharding(line, P()))
found["keys"] = bool((keys == jax.random.split(jax.random.key(0), 8)).all())
"""


def test_every_sharding_to_every_other():
    for own in processes.in_each(2, TEXT, 2):
        assert own["right"][0]
        assert own["right"][1] > 100
        assert own["keys"]
