"""A model as plain records: what `reading` makes of an ONNX file and `evaluation` runs."""

from dataclasses import dataclass, field

DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class Value:
    """An input or output of a graph: its name, its dtype (None: not declared) and its shape.

    A dimension is an int, a name that stands for the same size everywhere, or None; a shape of None is any.
    An optional value may be None.
    """

    name: str
    dtype: object
    shape: tuple | None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute in a function of the model that stands for an attribute of the node that calls it."""

    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """An application of an operator; an input named "" is one that was left out."""

    name: str
    op_type: str
    domain: str
    overload: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict

    def __str__(self):
        domain = "" if self.domain in DEFAULT_DOMAINS else f"{self.domain}."
        return f"{domain}{self.op_type}" + (f" (node {self.name!r})" if self.name else "")

    @property
    def graphs(self):
        """The graphs among the attributes, by name."""
        return {name: value for name, value in self.attributes.items() if isinstance(value, Graph)}


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in an order in which each can be evaluated, between inputs and outputs; constants by name."""

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: dict
    nodes: tuple[Node, ...]
    proto: object = field(default=None, compare=False, repr=False)  # the message, of a graph that a node holds


@dataclass(frozen=True, slots=True)
class Function:
    """An operator that the model defines by other operators."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    required: tuple[str, ...]
    defaults: dict
    nodes: tuple[Node, ...]
    opsets: dict


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file holds: the graph, the version of each domain's operators, functions by (domain, name, overload)."""

    graph: Graph
    opsets: dict
    functions: dict = field(default_factory=dict)
    metadata: dict = field(default_factory=dict)


def names_read(node):
    """The names that a node reads, those that graphs which it holds read from around them included."""
    yield from node.inputs
    for graph in node.graphs.values():
        for inner in graph.nodes:
            yield from names_read(inner)
        yield from (value.name for value in graph.outputs)
