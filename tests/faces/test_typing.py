"""Types for annotations, of which values are instances."""

import onax as jax
import onax.numpy as jnp


def test_names_for_annotations():
    assert isinstance(jnp.ones(1), jax.typing.ArrayLike) and isinstance(1.0, jax.typing.ArrayLike)
    assert not isinstance([1.0], jax.typing.ArrayLike)
    assert jax.float0 == jax.dtypes.float0
