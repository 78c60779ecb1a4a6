"""Graphs of the counter-based generators: seeds and bits of 64 bits, and refusals."""

import numpy as np
import pytest

import counter_words
import onax as jax
import onax.numpy as jnp
from lowering_runner import OPSETS, run_graph
from onax import random
from onax._ground.errors import LoweringError
from onax._native.avals import ShapedArray
from onax._transforms.staging import trace_to_jaxpr
from onax.export import export, symbolic_shape
from onax.export.lower.driver import lower_jaxpr


@pytest.mark.parametrize("impl", counter_words.IMPLS)
@pytest.mark.parametrize("opset", OPSETS)
def test_wide_seeds_and_bits(impl, opset):
    seeds = np.array([0, 2**40 + 5, -(2**50)])

    def draw(seeds):
        keys = jax.vmap(lambda seed: random.key(seed, impl=impl))(seeds)
        return jax.vmap(lambda key: random.bits(key, (4,), jnp.uint64))(keys)

    with jax.enable_x64(True):
        want = np.asarray(draw(jnp.asarray(seeds)))
        g = lower_jaxpr(trace_to_jaxpr(lambda s: [draw(s)], [ShapedArray((3,), np.int64)]), opset=opset)
    np.testing.assert_array_equal(run_graph(g, [seeds])[0], want)
    assert "Host" not in {node.op_type for node in g.nodes}


def test_a_symbolic_number_is_refused():
    (n,) = symbolic_shape("n")
    draw = jax.jit(lambda x: random.bits(random.key(0, impl="philox4x32"), x.shape) + x)
    with pytest.raises(LoweringError, match="give them a known shape"):
        export(draw)(jax.ShapeDtypeStruct((n,), jnp.uint32))
