"""lax and scipy functions return real JAX's values, dtypes and errors, eager and jitted (see lax_scipy_calls.py)."""

import gzip
import json

import pytest

import lax_scipy_calls
import onax as jax

RECORDED = json.loads(gzip.decompress(lax_scipy_calls.RECORDING.read_bytes()))
KNOWN = lax_scipy_calls.names(jax)

# float32 formulas of JAX that lose more digits than ours.
LOOSE = {"poch": 1e-5, "loggamma": 1e-5, "poisson.entropy": 3e-5, "kde": 1e-4, "gennorm": 1e-5, "multinomial": 1e-5,
         "istft": 1e-5, "hyp": 1e-5, "expn": 1e-5, "welch": 1e-5, "csd": 1e-5, "stft": 1e-5, "gmres": 2e-5,
         "bicgstab": 2e-5, "cg(": 1e-5, "as_": 1e-5, "wofz": 1e-5, "erfcx": 1e-5, "truncnorm": 1e-5}  # fmt: skip


@pytest.mark.parametrize("run", [lambda f: f(), lambda f: jax.jit(f)()], ids=["eager", "jit"])
@pytest.mark.parametrize("line", lax_scipy_calls.lines())
def test_call(line, run):
    wanted, got = RECORDED[line], lax_scipy_calls.answer(line, KNOWN, run)
    if isinstance(wanted, str):
        assert got == wanted
        return
    assert not isinstance(got, str), got
    bound = next((b for word, b in LOOSE.items() if word in line), 2e-6)
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted):
        assert lax_scipy_calls.close(g, w, bound), (g, w)
