"""Random keys and bits as standard operators: the eager bits in every opset."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from lowering_runner import OPSETS, operators, run_graph, run_kernel, run_lowering
from onax import random
from onax._native.avals import ShapedArray
from onax._prims.random import threefry2x32_p
from onax._transforms.staging import trace_to_jaxpr
from onax.export.lower.driver import lower_jaxpr

DRAWS = {
    "bits": lambda w: random.bits(w, (2, 3)),
    "bits of 8": lambda w: random.bits(w, (5,), jnp.uint8),
    "uniform": lambda w: random.uniform(w, (5,)),
    "normal": lambda w: random.normal(w, (5,)),
    "split": lambda w: random.split(w, 3),
    "fold_in": lambda w: random.fold_in(w, 3),
    "vmap": lambda w: jax.vmap(lambda key: random.bits(key, (3,)))(random.split(w, 2)),
    "randint": lambda w: random.randint(w, (5,), 0, 100),
    "seed": lambda w: random.PRNGKey(w[1].astype(int)),
}
WORDS = np.array([7, 42], np.uint32)


def graph_results(draw, opset, partitionable):
    """(results of the graph of `draw`, its operators)."""
    with jax.threefry_partitionable(partitionable):
        program = trace_to_jaxpr(lambda words: [draw(words)], [ShapedArray((2,), np.uint32)])
        g = lower_jaxpr(program, opset=opset)
    return run_graph(g, [WORDS])[0], {node.op_type for node in g.nodes}


@pytest.mark.parametrize("partitionable", [True, False])
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", DRAWS)
def test_graphs_draw_the_same(name, opset, partitionable):
    got, operators = graph_results(DRAWS[name], opset, partitionable)
    with jax.threefry_partitionable(partitionable):
        want = np.asarray(DRAWS[name](jnp.asarray(WORDS)))
    if name == "normal":
        np.testing.assert_allclose(got, want, rtol=1e-6)
    else:
        np.testing.assert_array_equal(got, want)
    assert "BitCast" not in operators


@pytest.mark.parametrize("opset", OPSETS)
def test_the_block_function(opset):
    words = np.random.default_rng(0).integers(0, 2**32, (4, 9), np.uint32)
    for got, want in zip(run_lowering(threefry2x32_p, words, {}, opset), run_kernel(threefry2x32_p, words, {})):
        np.testing.assert_array_equal(got, want)


def test_the_block_function_is_short():
    words = [np.zeros((), np.uint32), np.zeros((), np.uint32), np.zeros(4, np.uint32), np.zeros(4, np.uint32)]
    assert len(operators(threefry2x32_p, words, {})) <= 125
