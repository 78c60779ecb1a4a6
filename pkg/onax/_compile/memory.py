"""The memory that a compiled program needs, counted from its plan before it runs."""

from dataclasses import dataclass

from onax._compile.direct import direct_program
from onax._compile.sessions import size_of_value
from onax._native.tape import TapeNode
from onax.export.graph.value import Graph

# Operators whose result shares the memory of their first input.
_VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten"})


@dataclass(slots=True, eq=False)
class CompiledMemoryStats:
    """Bytes of a compiled program, under the names of XLA's statistics.

    Attributes:
      generated_code_size_in_bytes: the instructions of its tapes.
      argument_size_in_bytes: the arguments that it reads.
      output_size_in_bytes: its results.
      alias_size_in_bytes: those of its results that share the memory of an argument.
      temp_size_in_bytes: the most that intermediate values need at a time.
      peak_memory_in_bytes: the sum of these, without what is shared and without the code.
      host_...: the same of memory on the host, for programs on a device with a memory of its own; 0 on the CPU.
    """

    generated_code_size_in_bytes: int = 0
    argument_size_in_bytes: int = 0
    output_size_in_bytes: int = 0
    alias_size_in_bytes: int = 0
    temp_size_in_bytes: int = 0
    host_generated_code_size_in_bytes: int = 0
    host_argument_size_in_bytes: int = 0
    host_output_size_in_bytes: int = 0
    host_alias_size_in_bytes: int = 0
    host_temp_size_in_bytes: int = 0

    @property
    def peak_memory_in_bytes(self):
        """The most memory that a call needs at a time, arguments and results included."""
        shared = self.alias_size_in_bytes
        return self.argument_size_in_bytes + self.output_size_in_bytes + self.temp_size_in_bytes - shared


def _makers(graph):
    """Name of a value -> the number of the node that makes it."""
    return {v.name: i for i, node in enumerate(graph.nodes) for v in node.outputs if v is not None}


def _read_inside(node):
    """The values that a node reads, those that the bodies of a branch or loop read of the graph around it included."""
    values = [v for v in node.inputs if v is not None]
    for body in node.attributes.values():
        if type(body) is Graph:
            values += [v for inner in body.nodes for v in _read_inside(inner)]
            values += body.outputs
    return list({v.name: v for v in values}.values())


def execution_order(graph):
    """The nodes of a graph, in the order in which the runtime runs them.

    It walks back from the nodes whose results nobody reads, the last one first, and from each node to the last of its
    inputs first (measured with 1.31.1: the order of its profile).
    """
    makers = _makers(graph)
    reads = [[makers[v.name] for v in _read_inside(node) if v.name in makers] for node in graph.nodes]
    read = {i for several in reads for i in several}
    stack = [(i, False) for i in range(len(graph.nodes)) if i not in read]
    seen, order = set(), []
    while stack:
        i, is_done = stack.pop()
        if is_done:
            order.append(graph.nodes[i])
        elif i not in seen:
            seen.add(i)
            stack.append((i, True))
            stack += [(j, False) for j in sorted(set(reads[i])) if j not in seen]
    return order


def _tape_of(node):
    kernel = getattr(node.attributes.get("kernel"), "kernel", None)
    return kernel.tape if isinstance(kernel, TapeNode) else None


def _inside(node):
    """Bytes that a node needs while it runs, besides its inputs and outputs."""
    tape = _tape_of(node)
    if tape is not None:
        return tape.memory
    bodies = [body for body in node.attributes.values() if type(body) is Graph]
    return max([peak_bytes(body) + sum(map(size_of_value, body.outputs)) for body in bodies], default=0)


def peak_bytes(graph, order=None):
    """The most bytes that the intermediate values of a graph take at a time; its inputs and outputs do not count."""
    order = execution_order(graph) if order is None else order
    outside = {v.name for v in graph.outputs}
    last = {v.name: t for t, node in enumerate(order) for v in _read_inside(node)}
    memory = {}  # name -> [bytes, names that share them]
    live = peak = 0
    for t, node in enumerate(order):
        for v in node.outputs:
            if v is None or v.name in outside:
                continue
            source = memory.get(node.inputs[0].name) if node.op_type in _VIEWS else None
            if source is not None:
                source[1] += 1
            else:
                source = [size_of_value(v), 1]
                live += source[0]
            memory[v.name] = source
        peak = max(peak, live + _inside(node))
        for v in (*_read_inside(node), *[v for v in node.outputs if v is not None]):
            if v.name in memory and last.get(v.name, -1) <= t:
                block = memory.pop(v.name)
                block[1] -= 1
                if not block[1]:
                    live -= block[0]
    return peak


def order_nodes(graph):
    """Puts the nodes of a graph into the order that needs less memory, of two.

    The runtime begins with the last node whose result nobody reads and with what that follows from.  In a gradient that
    is often the first layer's, and all that other layers' gradients follow from waits; so these nodes are turned round
    if that is better.  They stand last, so every node still stands after those whose results it reads.
    """
    read = {v.name for node in graph.nodes for v in _read_inside(node)}
    ends = [node for node in graph.nodes if not any(v is not None and v.name in read for v in node.outputs)]
    if len(ends) < 2:
        return
    before, last = list(graph.nodes), set(map(id, ends))
    usual = peak_bytes(graph)
    graph.nodes[:] = [node for node in before if id(node) not in last] + ends[::-1]
    if peak_bytes(graph) >= usual:
        graph.nodes[:] = before


def plan(computation, graph):
    """(bytes of instructions, the most bytes of intermediate values at a time) of a program and its native graph."""
    if graph is None:
        return 0, 0
    direct = direct_program(computation.native)
    if direct is not None:
        return direct.tape.words.nbytes, direct.tape.memory
    return code_bytes(graph), peak_bytes(graph)


def code_bytes(graph):
    """Bytes of the instructions of all tapes of a graph."""
    tapes = {id(tape): tape for node in graph.nodes if (tape := _tape_of(node)) is not None}
    return sum(tape.words.nbytes for tape in tapes.values())


__all__ = ["CompiledMemoryStats", "code_bytes", "execution_order", "order_nodes", "peak_bytes", "plan"]
