"""Which nodes of a graph the CUDA provider leaves to the CPU, and what that moves between the host and the device.

The runtime assigns nodes one by one, those in bodies of loops too: a node whose kernel the provider lacks runs on the
CPU, and its operands and results are copied.  `kernels_cuda.json` says which kernels there are.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from onax._ground import source
from onax.export.graph import kernels
from onax.export.graph.value import Graph

_LOOPS = ("Loop", "Scan")
_ANYWHERE = ("Constant", "Identity")  # they are moved, or folded, with what surrounds them


@dataclass(slots=True, frozen=True)
class HostNode:
    """A node that runs on the CPU in a program for a CUDA device.

    Attributes:
      op_type, dtype: the operator and the element type for which there is no kernel.
      location: the user's line, or None.
      to_host, to_device: bytes that are copied each time it runs; None where a shape is symbolic.
      in_loop: whether it runs in each step of a loop.
    """

    op_type: str
    dtype: object
    location: str | None
    to_host: int | None
    to_device: int | None
    in_loop: bool

    def __str__(self):
        each = " in each step of a loop" if self.in_loop else ""
        moved = f"{_bytes(self.to_host)} to the host and {_bytes(self.to_device)} to the device{each}"
        line = f", in the operation from {self.location}" if self.location else ""
        return f"CUDA has no kernel for {self.op_type} of {self.dtype}: it runs on the CPU and copies {moved}{line}"


def _bytes(n):
    return "an unknown number of bytes" if n is None else f"{n} bytes"


@functools.cache
def cuda_kernels():
    """The table of the CUDA provider's kernels."""
    return kernels.Measured(Path(__file__).with_name("kernels_cuda.json"))


def nodes_on_host(graph):
    """The HostNodes of a portable graph and of its subgraphs; of None, none."""
    return [] if graph is None else list(_nodes_on_host(graph, graph.opset, in_loop=False))


def loops_that_bounce(graph):
    """Whether a loop of a graph has nodes on both sides, so that values are copied in each of its steps."""
    if graph is None:
        return False
    return any(_bounces(node, graph.opset) for node in _loops(graph))


def _loops(graph):
    for node in graph.nodes:
        if node.op_type in _LOOPS:
            yield node
        else:
            for inner in _subgraphs(node):
                yield from _loops(inner)


def _bounces(loop, opset):
    return any(any(_nodes_on_host(body, opset, in_loop=True)) for body in _subgraphs(loop))


def _nodes_on_host(graph, opset, in_loop):
    on_host = {id(node): has_kernel(node, opset) is False for node in graph.nodes}
    read_on_device = {
        id(v)
        for node in graph.nodes
        if not on_host[id(node)]
        for v in (*node.inputs, *_captured(node))
        if v is not None
    }
    for node in graph.nodes:
        if on_host[id(node)]:
            sources = {id(v): v for v in node.inputs if v is not None and v.const is None}.values()
            moved = [v for v in sources if v.node is None or not on_host.get(id(v.node), False)]
            back = [v for v in node.outputs if id(v) in read_on_device]
            location = None if node.location is None else source.summarize(node.location)
            yield HostNode(node.op_type, _looked_up(node)[1], location, _size(moved), _size(back), in_loop)
        for inner in _subgraphs(node):
            yield from _nodes_on_host(inner, opset, in_loop or node.op_type in _LOOPS)


def _subgraphs(node):
    return [x for x in node.attributes.values() if type(x) is Graph]


def _captured(node):
    """The values that the subgraphs of a node read."""
    return [v for inner in _subgraphs(node) for n in inner.nodes for v in (*n.inputs, *_captured(n))]


def _size(values):
    total = 0
    for value in values:
        if value.shape is None or not all(isinstance(d, int) for d in value.shape):
            return None
        count = 1
        for d in value.shape:
            count *= d
        total += count * value.dtype.itemsize
    return total


def has_kernel(node, opset):
    """Whether the CUDA provider has a kernel for a node."""
    if node.op_type in _ANYWHERE or _subgraphs(node):
        return True
    name, dtype = _looked_up(node)
    return kernels.SHORT_NAMES.get(dtype) in cuda_kernels().ops.get(name, {}).get(opset, ())


def _looked_up(node):
    """(name in the table, element type that decides) of a node, as `Graph.node` looks it up."""
    name = kernels.variant(node.op_type, node.attributes)
    _, operands, _ = kernels.OPERATORS.get(name, kernels.REAL)
    if operands is None or not node.inputs:
        value = node.inputs[0] if node.inputs else node.outputs[0]
    else:
        value = node.inputs[operands[0]] if operands else node.outputs[0]
    return name, value.dtype
