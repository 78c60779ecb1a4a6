"""The files of ONAX_DUMP_PASSES."""

import gzip

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = np.linspace(-1, 1, 6, dtype=np.float32)


def inner(x):
    return jnp.sin(x) * 2, jnp.cos(x)


def outer(x):
    kept, _ = jax.jit(inner)(x)
    y, _ = lax.scan(lambda c, a: (jax.jit(jnp.tanh)(c) + a, None), jnp.float32(0), x)
    return kept + jnp.sin(x) * 2 + lax.cond(y > 0, jax.jit(jnp.exp), jnp.log1p, x)


@pytest.mark.parametrize("call", [lambda f: f(X), lambda f: f.lower(X).compile()])
def test_dumped_passes(call, tmp_path, monkeypatch):
    monkeypatch.setenv("ONAX_DUMP_PASSES", str(tmp_path / "passes"))
    call(jax.jit(lambda x: outer(x)))  # a function that was not compiled before
    files = sorted(path.name for path in (tmp_path / "passes").iterdir())
    passes = [
        "stage",
        "discharge_refs",
        "inline_calls",
        "unroll_scans",
        "eliminate_dead_code",
        "simplify",
        "expand_products",
        "hoist_invariants",
        "form_tapes",
    ]
    ends = [f"{i}-{name}.txt" for i, name in enumerate(passes)]
    assert [f.split("-", 3)[2:] for f in files] == [["_lambda_", end] for end in ends]
    text = (tmp_path / "passes" / files[-1]).read_text()
    assert ("tape" in text and text.endswith(")\n")) or text.endswith("}\n")


def test_nothing_is_dumped_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("ONAX_DUMP_PASSES", raising=False)
    monkeypatch.chdir(tmp_path)
    jax.jit(lambda x: x * 3)(X)
    assert not list(tmp_path.iterdir())


def test_staged_programs(tmp_path):
    old = jax.config.jax_dump_ir_to, jax.config.jax_dump_ir_modes
    jax.config.update("jax_dump_ir_to", str(tmp_path / "programs"))
    jax.config.update("jax_dump_ir_modes", "jaxpr,eqn_count_pprof")
    try:
        jax.jit(lambda x: jnp.sin(x) + 1)(X)
    finally:
        jax.config.update("jax_dump_ir_to", old[0])
        jax.config.update("jax_dump_ir_modes", old[1])
    text, profile = sorted((tmp_path / "programs").iterdir(), key=lambda path: path.suffix == ".eqn_count_pprof")
    assert text.name.endswith("_<lambda>.jaxpr.txt") and "sin a" in text.read_text()
    data = gzip.decompress(profile.read_bytes())
    assert b"eqn_count" in data and b"sin" in data and __file__.encode() in data
