"""What `jnp.__array_namespace_info__` says holds of the arrays; `golden/detail_cases.txt` compares it with JAX."""

import numpy as np
import pytest

import onax
from onax import numpy as jnp

INFO = jnp.__array_namespace_info__()
DEFAULTS = {
    "real floating": lambda: jnp.ones(1),
    "complex floating": lambda: jnp.asarray(1j),
    "integral": lambda: jnp.asarray(1),
    "indexing": lambda: jnp.argmax(jnp.ones(2)),
}


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("kind", DEFAULTS)
def test_default_dtypes_are_those_of_results(kind, x64):
    with onax.enable_x64(x64):
        assert INFO.default_dtypes()[kind] == DEFAULTS[kind]().dtype


@pytest.mark.parametrize("x64", [False, True])
def test_arrays_have_each_dtype(x64):
    with onax.enable_x64(x64):
        for name, dtype in INFO.dtypes().items():
            assert jnp.zeros(1, dtype).dtype == np.dtype(name)


def test_dtypes_of_kinds_are_those_of_isdtype():
    with onax.enable_x64(True):
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric"):
            expected = {name for name, dtype in INFO.dtypes().items() if jnp.isdtype(dtype, kind)}
            assert set(INFO.dtypes(kind=kind)) == expected


def test_arrays_lie_on_the_devices():
    assert jnp.ones(1).device in INFO.devices()
    for device in INFO.devices():
        assert jnp.zeros(1, device=device).shape == (1,)
