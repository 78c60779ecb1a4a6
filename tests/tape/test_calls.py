"""Calls of functions that are one instruction, and calls that only look like them."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp
from onax._tape.calls import is_one_instruction
from tape.harness import check, check_bits, run_tape

KEY = jax.random.key(1)


def calls_of_one_instruction(fn, *args):
    """The calls in a function, at any depth, that are one instruction."""
    found, programs = [], [jax.make_jaxpr(fn)(*args)]
    while programs:
        eqns = programs.pop().eqns
        found += [eqn for eqn in eqns if is_one_instruction(eqn)]
        programs += [eqn.params["jaxpr"] for eqn in eqns if "jaxpr" in eqn.params]
    return found


@pytest.mark.parametrize("shape", [(), (3,), (0,), (70_001,), (4, 5)], ids=str)
def test_normal_numbers_are_one_instruction(shape):
    draw = lambda k: jax.random.normal(k, shape)
    keys = jax.random.split(KEY, 3)
    assert calls_of_one_instruction(draw, KEY) and calls_of_one_instruction(jax.vmap(draw), keys)
    check_bits(draw, KEY)
    check_bits(jax.vmap(draw), keys)
    assert np.asarray(jax.jit(draw)(KEY)).tobytes() == np.asarray(draw(KEY)).tobytes()


def test_other_calls_are_their_equations():
    def _normal_real(key):
        return lax.erf_inv(jax.random.uniform(key, (5000,), minval=-0.5, maxval=0.5)) * 2

    for draw, key in (
        (jax.jit(_normal_real), KEY),
        (lambda k: jax.random.normal(k, (50,), "float16"), KEY),
        (lambda k: jax.random.uniform(k, (50,)), KEY),
        (lambda k: jax.random.normal(k, (50,)), jax.random.key(1, impl="rbg")),
    ):
        assert not calls_of_one_instruction(draw, key)
    check_bits(jax.jit(_normal_real), KEY)
    check_bits(lambda k: jax.random.normal(k, (50,), "float16"), KEY)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, np.nan, 2.5, -2.5])
SEARCHED = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", SEARCHED)
def test_a_binary_search_is_one_instruction(dtype, side):
    rng = np.random.default_rng(3)

    def search(a, v):
        return jnp.searchsorted(a, v, side=side)

    with jax.enable_x64(dtype.endswith("64")):
        for n, m in ((100, 700), (63, 130), (64, 70_001), (4097, 2)):
            a, v = (rng.normal(size=k) * 40 for k in (n, m))
            if "float" in dtype:
                a, v = np.append(a[9:], SPECIAL), np.append(SPECIAL, v)[:m]
            a, v = (jnp.sort(jnp.asarray(abs(x) if dtype.startswith("u") else x, dtype)) for x in (a, v))
            assert len(calls_of_one_instruction(search, a, v[::-1])) == 1
            check_bits(search, a, v[::-1])


def test_a_search_in_an_array_that_is_not_sorted_halves_intervals():
    rng = np.random.default_rng(4)
    a, v = rng.normal(size=(2, 500)).astype(np.float32)

    def place(x):
        low, high = 0, 500
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if a[middle] < x else (low, middle)
        return low

    np.testing.assert_array_equal(run_tape(lambda a, v: jnp.searchsorted(a, v), a, v)[0], [place(x) for x in v])


def test_searches_under_transformations_and_with_other_names():
    rng = np.random.default_rng(5)
    a, v = np.sort(rng.normal(size=300)).astype(np.float32), rng.normal(size=(3, 5000)).astype(np.float32)
    check_bits(jax.vmap(lambda v: jnp.searchsorted(a, v)), v)
    check_bits(jax.vmap(jnp.searchsorted), np.sort(v)[:, :100], v)
    check(lambda v: jnp.interp(v, a, a**2), v, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(jax.jit(lambda v: jnp.digitize(v, a[::-1]))(v), np.digitize(v, a[::-1]))
    slopes = jax.grad(lambda v: jnp.interp(v, a, a * 3).sum())
    np.testing.assert_allclose(jax.jit(slopes)(v[0] * 0.1), slopes(v[0] * 0.1), rtol=1e-4)

    def _binary_search(a, v):
        return jnp.flip(a)[v]

    assert not calls_of_one_instruction(jax.jit(_binary_search), a, np.arange(9000, dtype=np.int32) % 300)
