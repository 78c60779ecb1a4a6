"""Dtypes as `jnp` shows them."""

import numpy as np
import pytest

import onax.numpy as jnp


@pytest.mark.parametrize(
    "a, b, wanted",
    [
        ("float64", "float64", "float64"),
        ("int32", "int64", "int64"),
        ("uint64", "int64", "float64"),
        (int, float, "float64"),
        (float, "int32", "float64"),
        ("int32", "uint32", "int32"),
        (float, jnp.bfloat16, "bfloat16"),
    ],
)
@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_promote_types_is_not_narrowed_without_x64(a, b, wanted):
    assert jnp.promote_types(a, b) == jnp.promote_types(b, a) == np.dtype(wanted)
    assert jnp.result_type(a, b).itemsize <= 4
