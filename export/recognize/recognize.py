"""The pass `recognize_operators`, and the list of all rules in the order in which they are tried."""

from onax.export.graph.passes import (
    cast_halves,
    drop_dead_nodes,
    expand_formulas,
    share_equal_constants,
    share_equal_nodes,
)
from onax.export.recognize import (
    activations,
    attention,
    batch_norm,
    bits,
    constants,
    finishing,
    float_parts,
    indexing,
    instance_norm,
    layout,
    linear_units,
    norms,
    pooling,
    products,
    rotary,
    softmax,
    softmax_gradients,
)
from onax.export.recognize.rewriting import rewrite

FAMILIES = (
    constants.RULES,
    layout.RULES,
    bits.RULES,
    float_parts.RULES,
    activations.RULES,
    linear_units.RULES,
    softmax.RULES,
    softmax_gradients.RULES,
    norms.RULES,
    instance_norm.RULES,
    batch_norm.RULES,
    products.RULES,
    pooling.RULES,
    indexing.RULES,
    rotary.RULES,
    attention.RULES,
)


def recognize_operators(graph):
    """Rewrites a graph without dead nodes, in place: each rule makes one operator of several nodes."""
    share_equal_constants(graph)
    rewrite(graph, [row for family in FAMILIES for row in family])
    rewrite(graph, finishing.RULES)
    share_equal_constants(graph)
    share_equal_nodes(graph)
    drop_dead_nodes(graph)
    expand_formulas(graph)
    cast_halves(graph)
