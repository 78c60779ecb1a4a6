"""Gathers and scatters of complex numbers in files: fills, sums that meet, products that must not."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._ground.errors import LoweringError
from onax.export import export

X = (np.arange(8) + 1j * np.arange(8)[::-1]).astype(np.complex64).reshape(4, 2)
AT = np.array([1, 3, 9])
FORMS = {
    "a gather": lambda x: x[AT],
    "a gather that fills": lambda x: x.at[AT].get(mode="fill"),
    "a fill of one's own": lambda x: x.at[AT].get(mode="fill", fill_value=-1),
    "set": lambda x: x.at[AT].set(2 - 1j, mode="drop"),
    "sums that meet": lambda x: x.at[np.array([1, 1, 1])].add(1j),
    "products": lambda x: x.at[AT].multiply(1 + 2j, unique_indices=True, mode="drop"),
    "larger ones": lambda x: x.at[AT].max(3 + 3j, unique_indices=True, mode="drop"),
    "smaller ones": lambda x: x.at[AT].min(3 + 3j, unique_indices=True, mode="drop"),
    "rows of a matrix": lambda x: x.at[:, 1].multiply(jnp.arange(4) * 1j, unique_indices=True),
}


@pytest.mark.parametrize("name", FORMS)
def test_as_evaluated(name):
    function = FORMS[name]
    np.testing.assert_allclose(export(jax.jit(function))(X).call(X), function(jnp.asarray(X)), rtol=1e-6)


@pytest.mark.parametrize("name", ["multiply", "max", "min"])
def test_updates_that_may_meet_are_refused(name):
    with pytest.raises(LoweringError, match="pass unique_indices=True"):
        export(jax.jit(lambda x: getattr(x.at[AT], name)(1j)))(X)
