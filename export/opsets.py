"""The choice of a model's opset: the lowest that the program needs; and what a higher one would save.

Recognition never raises the opset.  While a graph is built it notes the higher opsets that have an operator which a
rule would have used (`Model.wish`); `savings` lowers the program again at these alone.
"""

from collections import Counter
from dataclasses import dataclass

from onax._ground.errors import LoweringError
from onax.export.graph.passes import bodies

DEFAULT_OPSET = 21
OPSETS = range(18, 27)


@dataclass(frozen=True)
class Saving:
    """What a higher opset would save: `removed` nodes are replaced by `added`, a dictionary {operator: number}."""

    opset: int
    removed: int
    added: dict

    def __str__(self):
        added = [f"{count} {name}" for name, count in self.added.items()]
        return f"opset {self.opset} would replace {self.removed} nodes by {' and '.join(added) or 'none'}"


def lower_at_lowest(lower):
    """(graph, opset): what `lower(opset)` returns at the lowest opset, from the default on, that has every operation.

    Raises the LoweringError of the newest opset if not even that one has.
    """
    found = _try(lower, DEFAULT_OPSET)
    if found is not None:
        return found, DEFAULT_OPSET
    newest = lower(OPSETS[-1])
    for opset in range(DEFAULT_OPSET + 1, OPSETS[-1]):
        found = _try(lower, opset)
        if found is not None:
            return found, opset
    return newest, OPSETS[-1]


def _try(lower, opset):
    """The graph at an opset, or None if an operation has no form there."""
    try:
        return lower(opset)
    except LoweringError:
        return None


def count_operators(graph):
    """The number of nodes of each operator, those of subgraphs included, as a Counter."""
    counts = Counter(node.op_type for node in graph.nodes)
    for node in graph.nodes:
        for body in bodies(node):
            counts += count_operators(body)
    return counts


def savings(before, wishes, lower):
    """A Saving for each of the higher opsets `wishes` at which the program has fewer nodes than at all below it.

    before  the operators of the lowered program; `lower(opset)` lowers the same program again
    """
    best, result = before.total(), []
    for opset in sorted(wishes):
        after = count_operators(lower(opset))
        if after.total() < best:
            best = after.total()
            result.append(Saving(opset, (before - after).total(), dict((after - before).most_common())))
    return result
