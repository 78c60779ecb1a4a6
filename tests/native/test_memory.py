"""Memory of large arrays: it is reused, counted and given back."""

import numpy as np
import pytest

import onax
from onax import numpy as jnp
from onax._native import memory

LARGE = 1 << 20  # elements of float32


@pytest.fixture(autouse=True)
def no_kept_blocks():
    memory.release_kept_blocks()


def test_a_large_result_is_counted_and_its_memory_reused():
    x = jnp.ones(LARGE)
    before, kept, _ = memory.memory_in_use()
    y = x + 1
    address = y.unsafe_buffer_pointer()
    in_use, _, most = memory.memory_in_use()
    assert LARGE * 4 <= in_use - before <= LARGE * 4 + 8192 and most >= in_use
    del y
    assert memory.memory_in_use()[:2] == (before, kept + in_use - before)
    z = x * 2  # of the same size, so it gets the same block
    assert z.unsafe_buffer_pointer() == address and float(z[0]) == 2
    assert memory.memory_in_use()[:2] == (in_use, kept)


def test_kept_blocks_go_back():
    x = jnp.ones(LARGE)
    y = x + 1
    del y
    assert memory.memory_in_use()[1] >= LARGE * 4
    onax.clear_caches()
    assert memory.memory_in_use()[1] == 0


@pytest.mark.parametrize("compiled", [False, True])
def test_growing_sizes_do_not_pile_up(compiled):
    def add_one(x):
        return x + 1

    add = onax.jit(add_one) if compiled else add_one
    for n in range(LARGE, 2 * LARGE, LARGE // 16):
        x = jnp.ones(n)
        assert float(add(x)[-1]) == 2
    _, kept, most = memory.memory_in_use()
    assert kept <= most + most // 16 + (32 << 20)


def test_zeros_are_zeros_in_reused_memory():
    x = jnp.full(LARGE, 7.0)
    y = x * 3
    del y
    assert not np.asarray(onax.jit(lambda x: jnp.zeros_like(x) * x)(x)).any()
    assert not np.asarray(jnp.zeros(LARGE)).any()


def test_small_arrays_take_no_blocks():
    x = jnp.ones(100)
    before = memory.memory_in_use()
    y = [x + i for i in range(10)]
    assert memory.memory_in_use() == before and float(y[3][0]) == 4


def test_sessions_share_blocks():
    x = jnp.ones((600, 600))
    first = onax.jit(lambda x: jnp.tanh(x @ x) @ x)
    second = onax.jit(lambda x: jnp.cos(x @ x) @ x)
    first(x)
    _, kept, most = memory.memory_in_use()
    assert kept
    second(x)
    assert memory.memory_in_use()[2] <= most + 4 * x.nbytes


def test_memory_that_is_not_there_is_an_error():
    x = jnp.ones((2**24, 1))
    with pytest.raises(MemoryError, match="PiB"):
        x * x.T


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_arrays_of_numpy_are_copied_to_blocks(dtype):
    values = np.arange(2 * LARGE, dtype=dtype).reshape(1024, -1)
    before = memory.memory_in_use()[0]
    x, turned = jnp.asarray(values), jnp.asarray(values.T)
    assert memory.memory_in_use()[0] - before >= 2 * 2 * LARGE * 4  # float64 becomes float32
    assert np.array_equal(x, values) and np.array_equal(turned, values.T)
    values[0, 0] = 9
    assert float(x[0, 0]) == float(turned[0, 0]) == 0
