"""Functions of jax.experimental return real JAX's values, dtypes and errors, eager and jitted."""

import gzip
import json

import pytest

import experimental_calls
import lax_scipy_calls
import onax as jax

RECORDED = json.loads(gzip.decompress(experimental_calls.RECORDING.read_bytes()))
KNOWN = experimental_calls.names(jax)


# They count elements, unless `nse` is given, and so need values.
COUNTING = ("fromdense(", "sum_duplicates(", "eye(3, n_batch", "n_dense=1)")
CALLS = [(line, jitted) for line in experimental_calls.lines() for jitted in (False, True)
         if not (jitted and " nse=" not in line and any(word in line for word in COUNTING))]  # fmt: skip


@pytest.mark.parametrize(("line", "jitted"), CALLS)
def test_call(line, jitted):
    run = (lambda f: jax.jit(f)()) if jitted else (lambda f: f())
    wanted, got = RECORDED[line], lax_scipy_calls.answer(line, KNOWN, run)
    if isinstance(wanted, str):
        assert got == wanted
        return
    assert not isinstance(got, str), got
    assert len(got) == len(wanted)
    bound = 1e-5 if "jet(" in line else 2e-6  # JAX's rules for the orders of a series lose more digits
    for g, w in zip(got, wanted):
        assert lax_scipy_calls.close(g, w, bound), (g, w)
