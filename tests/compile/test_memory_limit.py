"""Programs whose results cannot fit fail before they begin."""

import pytest

import onax
from onax import lax
from onax import numpy as jnp
from onax._compile import memory_limit

HUGE = 2**45 // 4  # elements of float32


def stacked(length):
    return lax.scan(lambda c, _: (c + 1.0, c), 0.0, None, length=length)[1]


def rows(length):
    return lax.map(lambda i: jnp.ones(2**20) * i, jnp.arange(length, dtype=jnp.float32))


def gradient_of_long_loop():
    loop = lambda c: lax.fori_loop(0, 10**9, lambda i, c: jnp.sin(c), c)
    return onax.grad(lambda c: loop(c).sum())(jnp.ones(2**14))


PROGRAMS = {
    "scan": lambda: stacked(HUGE),
    "a scan of ten million steps": lambda: rows(10_000_000),
    "zeros": lambda: jnp.zeros(HUGE),
    "broadcast": lambda: jnp.broadcast_to(jnp.arange(2.0)[:, None], (2, HUGE)),
    "outer": lambda: jnp.outer(jnp.ones(2**21), jnp.ones(2**22)),
    "product": lambda: jnp.ones((2**22, 1)) @ jnp.ones((1, 2**22)),
    "residuals": lambda: onax.grad(lambda c: lax.fori_loop(0, 10**9, lambda i, c: jnp.sin(c), c).sum())(
        jnp.ones(2**14)
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_tell_bytes_and_line(name):
    with pytest.raises(MemoryError, match=r"takes [\d,]+ bytes.*\n.*test_memory_limit\.py:\d+"):
        onax.jit(PROGRAMS[name])()


@pytest.mark.parametrize("name", ["scan", "a scan of ten million steps", "residuals"])
def test_eager_loops_tell_bytes_and_line(name):
    with pytest.raises(MemoryError, match=r"takes [\d,]+ bytes.*\n.*test_memory_limit\.py:\d+"):
        PROGRAMS[name]()


@pytest.mark.parametrize("name", ["zeros", "broadcast", "outer", "product"])
def test_eager_operations_tell_the_size(name):
    with pytest.raises(MemoryError, match=r"TiB"):
        PROGRAMS[name]()


def test_what_is_never_stored_does_not_count():
    total = onax.jit(lambda: jnp.sum(jnp.ones((2, 2**10)) * jnp.ones((2**10,))))
    assert float(total()) == 2**11
    lowered = onax.jit(PROGRAMS["zeros"]).lower()  # lowering needs no memory
    assert lowered.out_info.shape == (HUGE,)
    with pytest.raises(MemoryError):
        lowered.compile()


def test_the_limit_is_the_machines_memory(monkeypatch):
    assert 2**27 < memory_limit.machine_memory() <= memory_limit.ADDRESSES
    monkeypatch.setattr(memory_limit, "machine_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"`scan`, float32\[300\], takes 1,200 bytes; this machine has 1,000 bytes"):
        onax.jit(lambda: stacked(300))()
    assert onax.jit(lambda: stacked(250))().shape == (250,)
