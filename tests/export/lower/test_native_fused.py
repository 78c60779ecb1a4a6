"""The nodes of regions and loops: what they say that they compute, and their attributes."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from native_passes import after_passes
from onax import lax
from onax.export.lower.driver import lower_jaxpr

X = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)


def node_of(function, *args):
    graph = lower_jaxpr(after_passes(jax.make_jaxpr(function)(*args)), opset=21, target="native")
    (node,) = [n for n in graph.nodes if n.domain == "onax"]
    return node


def test_a_region():
    node = node_of(lambda x: (jnp.sin(x) * 2 + 1, x + 3), X)
    assert node.op_type == "Fused" and set(node.attributes["computes"].split()) == {"sin", "mul", "add"}
    assert node.attributes["axes"] == [2, 2, 0] and node.attributes["dims"] == [2, 3, 2, 3, 0]


def test_long_regions_are_cut_short_in_the_text():
    def f(x):
        for i in range(12):
            x = jnp.sin(x) * i
        return x

    computes = node_of(f, X).attributes["computes"]
    assert computes.endswith("and 16 more") and len(computes.split()) == 8 + 3


def test_a_loop():
    node = node_of(lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c), x[0], x, reverse=True), X)
    assert (
        node.op_type == "Loop" and node.attributes["layout"][1:] == [1, 2, 1, 0] and "condition" not in node.attributes
    )
    node = node_of(lambda x: lax.while_loop(lambda c: c[0, 0] < 3, lambda c: c + 1, x), X)
    assert node.attributes["layout"][-1] == 1 and node.attributes["condition"]
