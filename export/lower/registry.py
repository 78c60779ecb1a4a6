"""The slots of lowering, and the makers that fill them.

A rule has one of three forms:

    one_node(sin_p, "Sin")         a row: the primitive is one ONNX operator
    decompose(expm1_p, function)   the primitive is a function of other primitives: `function(*operands, **params)`
    @lowers(gather_p)              a rule: (graph, out, *values, **params) -> Value, or a tuple of them
    def _(g, out, x, i, **params)

`out` is the result's aval (a list of avals for a primitive with several results).  For a primitive that ONNX cannot say
`unsupported(p, reason)` attaches a `Refusal`, whose reason the user reads.

Operands of complex or key dtype are tuples of Values, one for each component (`driver.py`).  Primitives that only move
data, and those declared by `componentwise`, need nothing more: their rule is applied to each component.  Others have a
second rule, which takes and returns such tuples.
"""

from dataclasses import dataclass

from onax._core.slots import Slot

lowering = Slot(
    "lowering",
    "rule(graph, out, *values, **params) -> Value, or a tuple of them; a Decomposition; a Refusal",
    "Exporting raises LoweringError; compiled functions run the Python kernel as a node of their graph.",
    "onax.export.lower",
)
component_lowering = Slot(
    "component_lowering",
    "rule(graph, out, *values, **params) on tuples of components; a Decomposition; EACH_COMPONENT",
    "Data movement is lowered component by component for complex numbers and keys; anything else is refused.",
    "onax.export.lower",
)
EACH_COMPONENT = object()  # the rule of `lowering` holds for each component of the operands alone


@dataclass(slots=True, eq=False, repr=False)
class Decomposition:
    """A lowering by staging a function of other primitives."""

    function: object


@dataclass(slots=True, eq=False, repr=False)
class Refusal:
    """Why ONNX cannot say a primitive."""

    reason: str


def is_lowered(primitive):
    """Whether operands of ONNX's own element types have a lowering."""
    return type(lowering.get(primitive)) not in (type(None), Refusal)


def refusal(primitive):
    """Why ONNX cannot say a primitive, or None."""
    rule = lowering.get(primitive)
    return rule.reason if type(rule) is Refusal else None


def one_node(primitive, op_type, **attributes):
    """The primitive is this ONNX operator; its parameters do not matter."""

    def rule(g, out, *values, **params):
        return g.node(op_type, *values, out=out, **attributes)

    lowering.set(primitive, rule)


def decompose(primitive, function, *, components=False):
    """The primitive is a function of other primitives, staged for the operands' avals and lowered in its place.

    components: of complex numbers and keys too.
    """
    rule = lowering.set(primitive, Decomposition(function))
    if components:
        component_lowering.set(primitive, rule)


def redefine(primitive, function):
    """The same for a primitive of another library, which may state it anew; for operands of any dtype."""
    rule = lowering.set(primitive, Decomposition(function), replace=True)
    component_lowering.set(primitive, rule, replace=True)


def lowers(*primitives, components=False):
    """Decorator: the lowering of these primitives, `rule(g, out, *values, **params)`.

    components: the same rule also takes tuples of components (calls of other programs do).
    """

    def register(rule):
        for primitive in primitives:
            lowering.set(primitive, rule)
            if components:
                component_lowering.set(primitive, rule)
        return rule

    return register


lowers_components = component_lowering.rule  # decorator: the lowering for operands or results that are tuples


def componentwise(*primitives):
    """The rules of these primitives hold for each component of their operands alone."""
    component_lowering.rule(*primitives)(EACH_COMPONENT)


def unsupported(reason, *primitives):
    """States why ONNX cannot say these primitives."""
    lowering.rule(*primitives)(Refusal(reason))
