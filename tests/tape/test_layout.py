"""Buffers in one arena: those in use at the same time lie apart, and memory is used again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import onax.numpy as jnp
from onax._native.avals import ShapedArray
from onax._tape.builder import Builder
from onax._tape.layout import make_tape
from tape.harness import tape_of


def chain(b, sizes, reads):
    """Instructions of which the i-th writes a buffer of size sizes[i] and reads earlier ones."""
    made = []
    for size, read in zip(sizes, reads):
        new = b.array((size,), np.uint8)
        b.kernels.append(None)
        b.emit("call", [new], [made[i % len(made)] for i in read] if made else [], (1, 0))
        made.append(new)
    return made


SIZES = st.integers(0, 300) | st.integers(4000, 40_000)  # large ones are placed by size


@given(st.lists(st.tuples(SIZES, st.lists(st.integers(0, 40), max_size=3)), min_size=1, max_size=30))
def test_buffers_in_use_at_the_same_time_lie_apart(steps):
    b = Builder()
    made = chain(b, [s for s, _ in steps], [r for _, r in steps])
    tape = make_tape(b)
    for x in made:
        assert 0 <= x.argument and x.argument + x.bytes <= tape.memory
        for y in made:
            together = x is not y and x.start <= y.end and y.start <= x.end
            assert (
                not together
                or x.argument + x.bytes <= y.argument
                or y.argument + y.bytes <= x.argument
                or not (x.bytes and y.bytes)
            )


def test_memory_of_a_long_chain_does_not_grow():
    def fn(x):
        for _ in range(50):
            x = jnp.cumsum(x)
        return x

    short = tape_of(lambda x: jnp.cumsum(jnp.cumsum(jnp.cumsum(x))), np.ones(4096, np.float32))[0]
    assert tape_of(fn, np.ones(4096, np.float32))[0].memory < short.memory + 10_000


def test_ports_are_numbered_first():
    b = Builder()
    (x,) = b.inputs([ShapedArray((8,), np.dtype(np.float32))])
    b.outputs([x], [ShapedArray((8,), np.dtype(np.float32))])
    tape = make_tape(b)
    (result,) = tape([np.arange(8, dtype=np.float32)])
    np.testing.assert_array_equal(result, np.arange(8))


def test_a_large_buffer_takes_the_place_of_two_small_ones():
    b = Builder()
    chain(b, [10_000, 10_000, 20_000, 30_000, 10], [[], [0], [1], [2], [3]])
    assert make_tape(b).memory <= 50_000 + 64 * 5
