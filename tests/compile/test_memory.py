"""Bytes that compiled programs need, planned before they run."""

import json

import numpy as np

import onax
from onax import numpy as jnp
from onax._compile import memory, sessions

X = np.ones((100, 200), np.float32)


def test_a_result_that_is_an_argument_takes_no_memory():
    stats = onax.jit(lambda x: (x, x > 0)).lower(X).compile().memory_analysis()
    assert (stats.output_size_in_bytes, stats.alias_size_in_bytes) == (100_000, 80_000)
    assert stats.peak_memory_in_bytes == 100_000 + stats.temp_size_in_bytes
    assert repr(stats).startswith("CompiledMemoryStats(generated_code_size_in_bytes=")
    assert stats.host_temp_size_in_bytes == 0


def network(x, *weights):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x


def watched(x, *weights):
    """The same with an effect, which takes a session of the runtime."""
    x = network(x, *weights)
    onax.debug.callback(lambda value: None, x[0, 0])
    return x


def test_temporary_memory_is_what_is_alive_at_a_time():
    x, w = np.ones((512, 512), np.float32), np.ones((512, 512), np.float32)
    few = onax.jit(network).lower(x, *[w] * 3).compile().memory_analysis()
    many = onax.jit(network).lower(x, *[w] * 30).compile().memory_analysis()
    assert x.nbytes <= few.temp_size_in_bytes < 6 * x.nbytes
    assert many.temp_size_in_bytes - few.temp_size_in_bytes < x.nbytes // 8  # not one value a layer


def test_the_gradient_keeps_residuals():
    x, w = np.ones((512, 512), np.float32), np.ones((512, 512), np.float32)
    lowered = onax.jit(onax.grad(lambda *args: network(*args).sum())).lower(x, *[w] * 8)
    temporary = lowered.compile().memory_analysis().temp_size_in_bytes
    assert 8 * x.nbytes < temporary < 18 * x.nbytes


def test_the_order_of_the_plan_is_that_of_the_runtime(tmp_path):
    x, w = jnp.ones((256, 256)), jnp.ones((256, 256))
    lowered = onax.jit(onax.grad(lambda *a: watched(*a).sum(), argnums=(0, 1, 2, 3, 4))).lower(x, w, w + 1, w + 2, w)
    lowered.compile()
    session, _ = sessions.open_session(lowered.graph, "network", {"profile": str(tmp_path / "profile")})
    session.run([np.asarray(a) for a in (x, w, w + 1, w + 2, w)])
    del session
    (file,) = tmp_path.iterdir()
    suffix = "_kernel_time"
    events = [e["name"] for e in json.loads(file.read_text()) if e.get("cat") == "Node"]
    ran = [name.removesuffix(suffix) for name in events if name.endswith(suffix)]
    planned = [node.name for node in memory.execution_order(lowered.graph)]
    assert len(ran) > 10 and [name for name in planned if name in ran] == ran


def test_nodes_are_ordered_for_less_memory():
    x, ws = np.ones((512, 512), np.float32), [np.ones((512, 512), np.float32)] * 6
    lowered = onax.jit(onax.grad(lambda ws: watched(x, *ws).sum())).lower(ws)
    graph = lowered.graph
    needed = memory.peak_bytes(graph)
    assert needed <= memory.peak_bytes(graph, memory.execution_order(graph))
    ends = [n for n in graph.nodes if not any(v in m.inputs for v in n.outputs for m in graph.nodes)]
    others = [n for n in graph.nodes if n not in ends]
    for order in (others + ends, others + ends[::-1]):
        graph.nodes[:] = order
        assert needed <= memory.peak_bytes(graph)
    made = set()
    for node in lowered.graph.nodes:
        names = {v.name for other in graph.nodes for v in other.outputs}
        assert all(v.name in made or v.name not in names for v in node.inputs if v is not None)
        made.update(v.name for v in node.outputs)
