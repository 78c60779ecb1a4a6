"""Nodes that the CUDA provider leaves to the CPU, and what they move."""

import json
from pathlib import Path

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.export.graph import transfers
from onax.export.graph.value import Graph

F32 = np.float32


def graph_of(build, *types):
    g = Graph(21)
    for i, value in enumerate(build(g, *[g.input(f"x{i}", t) for i, t in enumerate(types)])):
        g.output(f"y{i}", value)
    return g


def test_a_graph_whose_kernels_are_all_there_moves_nothing():
    g = graph_of(lambda g, x: [g.node("Tanh", g.node("Add", x, x))], ((4, 3), F32))
    assert transfers.nodes_on_host(g) == [] == transfers.nodes_on_host(None)


def test_a_node_in_between_moves_its_operand_and_its_result():
    g = graph_of(lambda g, x: [g.node("Neg", g.node("Atan", g.node("Add", x, x)))], ((4, 3), F32))
    (node,) = transfers.nodes_on_host(g)
    assert (node.op_type, node.dtype, node.to_host, node.to_device, node.in_loop) == ("Atan", F32, 48, 48, False)
    assert str(node).startswith(
        "CUDA has no kernel for Atan of float32: it runs on the CPU and copies 48 bytes to the host and 48 bytes to the"
    )


def test_nodes_on_the_host_hand_values_to_each_other():
    first, second = transfers.nodes_on_host(
        graph_of(lambda g, x: [g.node("Sinh", g.node("Atan", g.node("Neg", x)))], ((4, 3), F32))
    )
    assert (first.to_host, first.to_device) == (48, 0)
    assert (second.to_host, second.to_device) == (0, 0)  # the result is fetched when it is read


def test_the_element_type_decides():
    on_host = lambda dtype: transfers.nodes_on_host(
        graph_of(lambda g, x: [g.node("ArgMax", x, axis=1, keepdims=0, out=((4,), np.int64))], ((4, 3), dtype))
    )
    assert [n.dtype for n in on_host(np.int32)] == [np.int32] and on_host(F32) == []


def test_symbolic_shapes_have_no_known_size():
    class Open:
        shape, dtype = None, np.dtype(F32)

    g = Graph(21)
    x = g.input("x", ((4,), F32))
    g.output("y", g.node("Neg", g.node("Atan", x)))
    g.nodes[0].outputs[0].aval = Open
    (node,) = transfers.nodes_on_host(g)
    assert node.to_device is None and "an unknown number of bytes to the device" in str(node)


def test_loops_that_bounce():
    step = lambda f: jax.jit(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 10)[0]).lower(jnp.ones(4))
    assert step(jnp.tanh).transfers() == []
    (node,) = step(jnp.arctan).transfers()
    assert node.in_loop and node.op_type == "Atan" and "in each step of a loop" in str(node)
    assert "test_transfers.py" in node.location


def test_every_row_says_where_it_comes_from():
    table = json.loads(Path(transfers.__file__).with_name("kernels_cuda.json").read_text())
    assert {entries["source"] for entries in table["ops"].values()} <= {"registered", "measured"}
    assert transfers.cuda_kernels().ops["MatMul"][21] >= {"f16", "f32", "f64"}
    assert "f32" not in transfers.cuda_kernels().ops["Atan"].get(21, ())
