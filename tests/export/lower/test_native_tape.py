"""The nodes of tapes: what they say that they compute, and the types of their results."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax._tape.tape_call import tape_p
from onax.export.lower.driver import lower_jaxpr

X = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)


def node_of(function, *args):
    """The node of a tape that holds a whole function, and its graph."""
    program = jax.make_jaxpr(function)(*args)
    around = jax.make_jaxpr(lambda *xs: tape_p.bind(*xs, jaxpr=program))(*args)
    graph = lower_jaxpr(around, opset=21, target="native")
    (node,) = [n for n in graph.nodes if n.domain == "onax"]
    return node, graph


def test_the_text_and_the_types():
    node, graph = node_of(lambda x: (jnp.sin(x) * 2 + 1, x.sum(0)), X)
    assert node.op_type == "Tape" and set(node.attributes["computes"].split()) == {"sin", "mul", "add", "reduce_sum"}
    assert [(v.shape, v.dtype) for v in graph.outputs] == [((2, 3), np.float32), ((3,), np.float32)]


def test_long_programs_are_cut_short_in_the_text():
    def f(x):
        for i in range(12):
            x = jnp.sin(x) * i
        return x

    computes = node_of(f, X)[0].attributes["computes"]
    assert computes.endswith("and 16 more") and len(computes.split()) == 8 + 3


def test_constants_are_operands_and_a_node_has_at_least_one():
    table = np.arange(3000, dtype=np.float32)
    assert len(node_of(lambda x: x.sum() + table, X)[0].inputs) == 2
    assert len(node_of(lambda: jnp.arange(4) * 2)[0].inputs) == 1


def test_keys_and_complex_numbers_cross_as_numbers():
    node, _ = node_of(lambda z: z * 2, X + 1j)
    assert all(v.dtype == np.float32 for v in (*node.inputs, *node.outputs) if v is not None)
    node, _ = node_of(lambda k: jax.random.split(k, 2), jax.random.key(0))
    assert node.outputs[0].dtype == np.uint32
