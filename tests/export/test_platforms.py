"""Platforms of exports, checks that are turned off, calling conventions, donation."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.export import DisabledSafetyCheck, deserialize, export

X = np.linspace(0, 1, 4, dtype=np.float32)
WAVE = export(jax.jit(lambda x: jnp.sin(x) * 2))(X)


def test_platforms():
    assert WAVE.platforms == ("cpu",) and WAVE.in_shardings_hlo == WAVE.out_shardings_hlo == (None,)
    for platforms in ((), None, ("cpu", "tpu")):
        kept = export(jax.jit(jnp.sin), platforms=platforms)(X)
        assert kept.platforms == tuple(platforms or ("cpu",)) and kept.call(X).shape == (4,)
    elsewhere = export(jax.jit(jnp.sin), platforms=["tpu", "rocm"])(X)
    for found in (elsewhere, deserialize(elsewhere.serialize()), elsewhere.vjp()):
        assert found.platforms == ("tpu", "rocm")
        args = (X,) * len(found.in_avals)
        for call in (found.call, jax.jit(found.call)):
            with pytest.raises(ValueError, match=r"was exported for platforms '\('tpu', 'rocm'\)' but it is used on"):
                call(*args)
    unchecked = export(jax.jit(jnp.sin), platforms=("tpu",), disabled_checks=[DisabledSafetyCheck.platform()])(X)
    assert unchecked.call(X).shape == (4,)
    for found in (unchecked, deserialize(unchecked.serialize()), unchecked.vjp()):
        assert found.disabled_safety_checks == (DisabledSafetyCheck.platform(),)
        found.call(*(X,) * len(found.in_avals))
    targets = [DisabledSafetyCheck.custom_call("f"), DisabledSafetyCheck.custom_call("g")]
    kept = deserialize(export(jax.jit(jnp.sin), disabled_checks=targets)(X).serialize())
    assert kept.disabled_safety_checks == tuple(targets) and WAVE.disabled_safety_checks == ()


@pytest.mark.parametrize("version", [8, 9, 10, 11])
def test_calling_conventions(version):
    before = jax.config.jax_export_calling_convention_version
    jax.config.update("jax_export_calling_convention_version", version)
    try:
        if 9 <= version <= 10:
            export(jax.jit(jnp.sin))(X)
        else:
            with pytest.raises(ValueError, match=rf"version {version} is outside the range of supported .* \[9..10\]"):
                export(jax.jit(jnp.sin))(X)
    finally:
        jax.config.update("jax_export_calling_convention_version", before)


def test_all_platforms_donate_or_none():
    for donation in ({"donate_argnums": 0}, {"donate_argnames": "x"}):
        function = jax.jit(lambda x: x + 1, **donation)
        for platforms in (None, ("cpu", "tpu"), ("other",)):
            export(function, platforms=platforms)(X)
        with pytest.raises(NotImplementedError, match="In multi-platform lowering either all or no lowering platforms"):
            export(function, platforms=("cpu", "other"))(X)
    export(jax.jit(lambda x: x + 1), platforms=("cpu", "other"))(X)
