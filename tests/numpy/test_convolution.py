"""convolve and correlate against NumPy, and the words of their errors.  Expected words: JAX 0.10.2."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

LENGTHS = ((5, 3), (3, 5), (4, 4), (4, 1), (6, 4), (4, 6))


@pytest.mark.parametrize("run", (lambda f: f, jax.jit), ids=("eager", "jit"))
@pytest.mark.parametrize("mode", ("full", "same", "valid"))
@pytest.mark.parametrize("kind", ("f", "i", "c"))
def test_against_numpy(kind, mode, run):
    rng = np.random.default_rng(9)
    for n, m in LENGTHS:
        a, v = (rng.integers(-4, 5, k) for k in (n, m))
        if kind == "c":
            a, v = a + 1j * rng.integers(-4, 5, n), v + 1j * rng.integers(-4, 5, m)
        a, v = (x.astype({"f": "float32", "i": "int32", "c": "complex64"}[kind]) for x in (a, v))
        for ours, theirs in ((jnp.convolve, np.convolve), (jnp.correlate, np.correlate)):
            got = np.asarray(run(lambda a, v, f=ours: f(a, v, mode))(a, v))
            assert got.dtype == ("complex64" if kind == "c" else "float32")
            np.testing.assert_allclose(got, theirs(a, v, mode), rtol=1e-6, err_msg=f"{ours.__name__} {n} {m}")


def test_preferred_element_type():
    a = np.arange(4, dtype=np.int8)
    got = jnp.convolve(a, a, preferred_element_type=np.int32)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(got), np.convolve(a, a))


CALLS = {
    "mode must be one of ['full', 'same', 'valid']": lambda a: jnp.convolve(a, a, "x"),
    "convolve() only support 1-dimensional inputs.": lambda a: jnp.convolve(a[None], a),
    "correlate: inputs cannot be empty, got shapes (0,) and (3,).": lambda a: jnp.correlate(a[:0], a),
    "convolve requires ndarray or scalar arguments, got <class 'list'> at position 0.": lambda a: jnp.convolve([1], a),
}


@pytest.mark.parametrize("words", CALLS)
def test_errors(words):
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        CALLS[words](np.ones(3, np.float32))
