"""dce_sink on tapes: no instruction."""

import numpy as np

import onax
import onax.numpy as jnp
from onax import lax


def test_a_sink_is_no_instruction():
    def f(x):
        lax.dce_sink(x * 2)
        return jnp.cumsum(x)

    lowered = onax.jit(f).lower(jnp.arange(4.0))
    assert lowered.host_nodes == []
    np.testing.assert_array_equal(lowered.compile()(jnp.arange(4.0)), [0, 1, 3, 6])
