"""Groups of devices in several processes; what the collectives give is in `test_multi_process.py`."""

import numpy as np
import pytest

import processes
from onax._compile.devices.process_collectives import MoreFollow, Turns

TEXT = """
from onax._compile.devices.process_collectives import Link, link_of
from onax._ground.devices import devices
everything = devices()
link = link_of([0, 1, 2, 3], everything)
found["whole"] = link.processes, link.rows, link.local, link.is_even
found["alternating"] = link_of([0, 2, 1, 3], everything).is_even
found["uneven"] = link_of([0, 1, 2], everything).is_even
found["within one"] = link_of([0, 1], everything), link_of([2, 3], everything)
found["once"] = link_of([0, 1, 2, 3], everything).communicator is link.communicator
"""


def test_links():
    for me, own in enumerate(processes.in_each(2, TEXT, 2)):
        assert own["whole"] == ((0, 1), [[0, 1], [2, 3]], [[0, 1], [2, 3]][me], True)
        assert (own["alternating"], own["uneven"], own["within one"], own["once"]) == (False, False, (None, None), True)


SUMS = """
import onax.numpy as jnp
grid = jax.make_mesh((len(jax.devices()),), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
large = 3 * 2**20 + 5  # more than 8 MB, and no whole number of pieces
def total(x):
    a, b = jnp.arange(large, dtype=jnp.float32) % 97 * x.sum(), jnp.arange(large) % 89 * x.sum().astype(int)
    sums = jax.lax.psum((a, x.max(), b, x, a + 1), "x")
    return (*sums, jax.lax.pmax(a, "x"))
mapped = jax.jit(jax.shard_map(total, mesh=grid, in_specs=jax.P("x"), out_specs=jax.P(), check_vma=False))
for _ in range(3):
    out = mapped(jnp.arange(4.0))
found["sums"] = [float(np.asarray(x, np.float64).sum()) for x in out]
found["some"] = [np.asarray(x).reshape(-1)[[0, -1]].tolist() for x in out]
"""


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_large_sums_beside_small_ones(count):
    found = processes.in_each(count, SUMS, 4 // count)
    steps = np.arange(3 * 2**20 + 5)
    a, b = (steps % 97).astype(float), steps % 89
    wanted = [a * 6, np.array(6.0), b * 6, np.array(6.0), a * 6 + 4, a * 3]
    for own in found:
        assert own["sums"] == [float(x.sum()) for x in wanted]
        assert own["some"] == [x.reshape(-1)[[0, -1]].tolist() for x in wanted]


def test_turns():
    """Two collectives begin one after the other; the first one sends twice before the second one sends."""
    turns, log = Turns(), []

    def steps(name, *rounds):
        for requests in rounds:
            log.append(name)
            yield requests
        return name

    first = turns.in_turn(steps("first", MoreFollow(["a"]), ["b"]))
    second = turns.in_turn(steps("second", ["c"]))
    third = turns.in_turn(steps("third"))
    assert next(second) == []
    assert next(first) == ["a"]
    assert next(second) == ["a"]
    assert next(first) == ["b"]
    assert next(third) == ["b"]
    assert next(second) == ["c"]
    assert log == ["first", "first", "second"]
    for each, name in ((third, "third"), (first, "first"), (second, "second")):
        with pytest.raises(StopIteration) as end:
            next(each)
        assert end.value.value == name
