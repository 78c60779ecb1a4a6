"""Applies rules to the nodes of a graph: a node becomes another operator, and what only it read disappears.

A rule is `rule(m, node) -> Rewrite or None`, m the Matcher of the graph.  It may add nodes with `m.g.node(...)`.
"""

from dataclasses import dataclass, field

from onax.export.graph.passes import bodies, drop_dead_nodes
from onax.export.lower.convert import HALVES


@dataclass(slots=True, eq=False)
class Rewrite:
    """What a node becomes; an Identity disappears, unless its result is an output of the graph.

    interior   values that nothing else may read, else the rewrite would compute them a second time
    saves      the number of nodes that it saves beyond those which disappear
    repeat     whether earlier nodes may fit their rules now, since less reads the values between them
    """

    op_type: str
    inputs: tuple
    attributes: dict = field(default_factory=dict)
    interior: tuple = ()
    saves: int = 0
    repeat: bool = False


class Matcher:
    """The graph that is being rewritten, and the nodes that read each of its values."""

    __slots__ = ("_readers", "_reshaped", "g", "repeat")

    def __init__(self, graph):
        self.g = graph
        self.repeat = False
        self._readers = {}
        self._reshaped = {}
        self._note(graph)

    def _note(self, graph):
        for node in graph.nodes:
            self._add(node)
            for body in bodies(node):
                self._note(body)
        for value in graph.outputs:
            self._readers.setdefault(id(value), []).append(None)

    def _add(self, node):
        for value in node.inputs:
            if value is not None:
                self._readers.setdefault(id(value), []).append(node)

    def readers(self, value):
        """The nodes that read a value, once for each time; None stands for an output of a graph."""
        return self._readers.get(id(value), ())

    def runs(self, op_type, dtype):
        """Whether the runtime has a kernel of this operator for this element type at the graph's opset."""
        return self.g.runs(op_type, dtype, directly=dtype not in HALVES)

    def reshaped(self, value, shape):
        """A constant in another shape, the same one each time."""
        key = id(value), shape
        found = self._reshaped.get(key)
        if found is None:
            found = self._reshaped[key] = self.g.const(value.const.reshape(shape))
        return found

    # ---- the rewriting

    def apply(self, rules):
        """Applies rules, {operator: [rule]}, to the nodes of the graph in order, and to those of its subgraphs.

        A rewrite that asks for it is followed by a second turn.
        """
        self._apply(self.g, rules)
        if self.repeat:
            self._apply(self.g, rules)

    def _apply(self, graph, rules):
        outer, self.g = self.g, graph
        done, waiting = [], graph.nodes[::-1]
        while waiting:
            node = waiting.pop()
            for body in bodies(node):
                self._apply(body, rules)
            added = self._first_rewrite(graph, node, rules)
            if added is None:
                done.append(node)
            else:
                waiting += [node, *reversed(added)]
        graph.nodes = done
        self.g = outer

    def _first_rewrite(self, graph, node, rules):
        """Applies the first rule that fits; returns the nodes that it added, or None if none fits."""
        if not any(self.readers(v) for v in node.outputs):  # another rewrite made it superfluous
            return None
        model = graph.model
        for rule in rules.get(node.op_type, ()):
            casts, before = dict(graph.casts), (model.prefix, model.location)
            graph.nodes = added = []
            model.prefix, model.location = node.op_type, node.location
            rewrite = rule(self, node)
            model.prefix, model.location = before
            if rewrite is not None and self._accept(node, rewrite, added):
                return added
            graph.casts = casts
        return None

    def _accept(self, node, rewrite, added):
        """Makes the rewrite unless it would add more nodes than it removes, or values of its interior are read."""
        for new in added:
            self._add(new)
        for value in rewrite.inputs:
            if value is not None:
                self._readers.setdefault(id(value), []).append(node)
        released = []
        self._release(node, released)
        if len(released) + rewrite.saves < len(added) or any(self.readers(v) for v in rewrite.interior):
            for old in reversed(released):
                self._add(old)
            self._add(node)
            for value in rewrite.inputs:
                if value is not None:
                    self._readers[id(value)].remove(node)
            for new in added:
                self._remove(new)
            return False
        self.repeat |= rewrite.repeat
        node.op_type, node.domain = rewrite.op_type, ""
        node.inputs, node.attributes = tuple(rewrite.inputs), rewrite.attributes
        if rewrite.op_type == "Identity":
            self._drop_identity(node)
        return True

    def _drop_identity(self, node):
        """Makes the readers of an Identity read its operand, or its operand be the output that the Identity is."""
        (source,), (result,) = node.inputs, node.outputs
        if None not in self.readers(result):
            self._redirect(result, source)
            self._remove(node)
        elif source.graph is result.graph and source.node is not None and len(source.node.outputs) == 1:
            if None in self.readers(source) or source.node.op_type == "Cast":  # casts are in a table of the graph
                return
            self._remove(node)
            self._redirect(source, result)
            result.node, source.node.outputs = source.node, (result,)
            node.outputs = (source,)
            source.node = node

    def _redirect(self, old, new):
        """Makes the readers of a value read another one; the node that computes it is left without readers."""
        readers = self._readers.pop(id(old), [])
        for reader in set(readers):
            reader.inputs = tuple([new if v is old else v for v in reader.inputs])
        self._readers.setdefault(id(new), []).extend(readers)

    def _remove(self, node):
        for value in node.inputs:
            if value is not None:
                self._readers[id(value)].remove(node)

    def _release(self, node, released):
        """Takes one node from the readers of its operands, and then the nodes whose results nobody reads any more."""
        self._remove(node)
        for value in node.inputs:
            source = None if value is None else value.node
            if source is None or source in released or any(self.readers(v) for v in source.outputs):
                continue
            if not bodies(source):
                released.append(source)
                self._release(source, released)


def rewrite(graph, rules):
    """Applies rules, an iterable of (operators, rule), to a graph without dead nodes."""
    table = {}
    for op_types, rule in rules:
        for op_type in op_types.split():
            table.setdefault(op_type, []).append(rule)
    Matcher(graph).apply(table)
    drop_dead_nodes(graph)
