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


RATES = np.array([0.5, 3.0, 12.0, 40.0], np.float32)
# Rejection: name -> (a function of raw words, relative difference of floats)
LOOPS = {
    "gamma": (lambda w: random.gamma(w, RATES), 2e-6),
    "loggamma": (lambda w: random.loggamma(w, RATES / 10), 2e-6),
    "beta": (lambda w: random.beta(w, RATES, 2.0), 5e-6),
    "poisson": (lambda w: random.poisson(w, RATES), 0),
    "poisson of few": (lambda w: random.poisson(w, 3.0, (4,)), 0),
    "binomial": (lambda w: random.binomial(w, 50, RATES / 50), 0),
    "multinomial": (lambda w: random.multinomial(w, 50, RATES / RATES.sum()), 0),
}


@pytest.mark.parametrize("name", LOOPS)
def test_graphs_reject_the_same(name):
    draw, tolerance = LOOPS[name]
    got, operators = graph_results(draw, OPSETS[0], True)
    np.testing.assert_allclose(got, np.asarray(draw(jnp.asarray(WORDS))), rtol=tolerance)
    assert operators & {"Loop", "Scan"} and "Host" not in operators


OTHERS = {
    "bits": lambda k: random.bits(k, (2, 3)),
    "bits of 8": lambda k: random.bits(k, (5,), jnp.uint8),
    "bits of mapped keys": lambda k: jax.vmap(lambda key: random.bits(key, (3,)))(random.split(k, 2)),
    "split": lambda k: random.key_data(random.split(k, (2, 2))),
    "split of mapped keys": lambda k: random.key_data(jax.vmap(random.split)(random.split(k, 3))),
    "fold_in": lambda k: random.key_data(random.fold_in(k, 3)),
    "fold_in of mapped keys": lambda k: random.key_data(jax.vmap(lambda key: random.fold_in(key, 3))(random.split(k))),
    "fold_in of mapped data": lambda k: random.key_data(jax.vmap(lambda i: random.fold_in(k, i))(jnp.arange(3))),
    "seed": lambda k: random.key_data(random.key(random.key_data(k)[-1].astype(int), impl=random.key_impl(k))),
}


@pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg", "philox2x32", "philox4x32", "threefry4x32"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_generators_draw_the_same(name, impl):
    words = np.array([7, 42, 2**32 - 2, 2**32 - 1], np.uint32)[: random.key_dtype(impl)._impl.key_shape[0]]
    draw = lambda words: OTHERS[name](random.wrap_key_data(words, impl=impl))
    program = trace_to_jaxpr(lambda words: [draw(words)], [ShapedArray(words.shape, np.uint32)])
    got = run_graph(lower_jaxpr(program, opset=OPSETS[0]), [words])[0]
    np.testing.assert_array_equal(got, np.asarray(draw(jnp.asarray(words))))


@pytest.mark.parametrize("opset", OPSETS)
def test_the_block_function(opset):
    words = np.random.default_rng(0).integers(0, 2**32, (4, 9), np.uint32)
    for got, want in zip(run_lowering(threefry2x32_p, words, {}, opset), run_kernel(threefry2x32_p, words, {})):
        np.testing.assert_array_equal(got, want)


def test_the_block_function_is_short():
    words = [np.zeros((), np.uint32), np.zeros((), np.uint32), np.zeros(4, np.uint32), np.zeros(4, np.uint32)]
    assert len(operators(threefry2x32_p, words, {})) <= 125
