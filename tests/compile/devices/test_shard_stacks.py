"""Partitioned operations on stacks of matrices, signals and keys."""

import numpy as np
import pytest

import onax as jax
from sharded_programs import P, check, collectives, jnp, lax

M = np.sin(np.arange(8 * 9, dtype=np.float32)).reshape(8, 3, 3)
POSITIVE = M @ M.transpose(0, 2, 1) + 2 * np.eye(3, dtype=np.float32)
KEYS = np.arange(16, dtype=np.uint32).reshape(8, 2)
wrapped = lambda k: jax.random.wrap_key_data(k)
PROGRAMS = {  # function of values split P("x")
    "cholesky": (jnp.linalg.cholesky, POSITIVE),
    "inverse": (jnp.linalg.inv, POSITIVE),
    "determinant": (jnp.linalg.det, POSITIVE),
    "solve": (lambda a: jnp.linalg.solve(a, a * 2), POSITIVE),
    "qr": (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), POSITIVE),
    "eigenvalues": (jnp.linalg.eigvalsh, POSITIVE),
    "singular values": (lambda a: jnp.linalg.svd(a, compute_uv=False), POSITIVE),
    "fft": (lambda a: jnp.abs(jnp.fft.fft(a)), M),
    "fft2": (lambda a: jnp.abs(jnp.fft.fft2(a)), M),
    "random bits": (lambda k: jax.vmap(lambda k: jax.random.bits(k, (3,)))(wrapped(k)), KEYS),
    "normal": (lambda k: jax.vmap(lambda k: jax.random.normal(k, (3,)))(wrapped(k)), KEYS),
    "split keys": (lambda k: jax.random.key_data(jax.vmap(jax.random.split)(wrapped(k))), KEYS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_members_stay_on_their_devices(name):
    function, value = PROGRAMS[name]
    program, _ = check(function, value, in_specs=[P("x")], out_specs=[P("x")], rtol=1e-4)
    assert collectives(program) == []


def test_members_that_are_split_are_gathered():
    padded = np.stack([np.eye(4, dtype=np.float32) * (i + 1) for i in range(8)])
    program, _ = check(jnp.linalg.cholesky, padded, in_specs=[P("x", "y")], out_specs=[P("x")])
    assert ("all_gather", ("y",)) in collectives(program)


@pytest.mark.parametrize("spec", [P(), P("x"), P(("x", "y")), P(None, "x")], ids=str)
def test_random_bits_are_the_same_whatever_the_sharding(spec):
    function = lambda k: jax.random.bits(wrapped(k), (8, 8))
    check(function, KEYS[0], in_specs=[P()], out_specs=[spec], rtol=0)


def test_a_whole_key():
    program, _ = check(lambda k, a: a * lax.stop_gradient(jax.random.normal(wrapped(k), (8, 3, 3))), KEYS[0], M,
                       in_specs=[P(), P("x")])  # fmt: skip
    assert collectives(program) == []
