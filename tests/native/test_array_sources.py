"""Arrays over memory that something else made; tests/native/test_conversions.py has the host's, and its types."""

import numpy as np

from onax._native.array_sources import from_dlpack_buffer, make_sharded


def test_an_array_sees_what_is_written_to_the_memory_it_shares():
    a = np.zeros(3, np.float32)
    shared, copied = from_dlpack_buffer(a), from_dlpack_buffer(a, copy=True)
    a[1] = 5
    assert shared.tolist() == [0, 5, 0] and copied.tolist() == [0, 0, 0]


def test_shards_are_read_only():
    whole = np.arange(4.0, dtype=np.float32)
    x = make_sharded(whole, [("d0", whole[:2]), ("d1", whole[2:].copy())], "spread")
    assert x.sharding == "spread" and [device for device, _ in x._shards] == ["d0", "d1"] and x.committed
    assert not any(np.asarray(x.addressable_data(i)).flags.writeable for i in range(2))
