"""The slots of lowering, and the functions that attach rules to them.

A rule has one of three forms:

    one_node(sin_p, "Sin")         the primitive is one ONNX operator
    decompose(expm1_p, function)   the primitive is a function of other primitives: `function(*operands, **params)`
    @lowers(gather_p)              a rule: (graph, out, *values, **params) -> Value, or a tuple of them
    def _(g, out, x, i, **params)

`out` is the result's aval (a list of avals for a primitive with several results).  For a primitive that has no
ONNX form `unsupported(p, reason)` attaches a `Refusal`; the error states its reason.

Operands of complex or key dtype are tuples of Values, one for each component (`components.py`).  The rule of a
data-movement primitive, or of one declared by `componentwise`, is applied to each component.  Other primitives have a
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
EACH_COMPONENT = object()  # the rule of `lowering` is applied to each component of the operands


@dataclass(slots=True, eq=False, repr=False)
class Decomposition:
    """A lowering that stages a function of other primitives."""

    function: object


@dataclass(slots=True, eq=False, repr=False)
class Refusal:
    """The reason why a primitive has no ONNX form."""

    reason: str


def is_lowered(primitive):
    """Whether a primitive has a lowering for operands of ONNX's element types."""
    return type(lowering.get(primitive)) not in (type(None), Refusal)


def refusal(primitive):
    """The reason why a primitive has no ONNX form, or None."""
    rule = lowering.get(primitive)
    return rule.reason if type(rule) is Refusal else None


def one_node(primitive, op_type, **attributes):
    """Lowers a primitive to one ONNX operator; the primitive's parameters are ignored."""

    def rule(g, out, *values, **params):
        return g.node(op_type, *values, out=out, **attributes)

    lowering.set(primitive, rule)


def decompose(primitive, function, *, components=False):
    """Lowers a primitive by staging a function of other primitives for the operands' avals and inlining it.

    components: also for complex numbers and keys.
    """
    rule = lowering.set(primitive, Decomposition(function))
    if components:
        component_lowering.set(primitive, rule)


def redefine(primitive, function):
    """`decompose` for a primitive of another library, which may replace its rule; for operands of any dtype."""
    rule = lowering.set(primitive, Decomposition(function), replace=True)
    component_lowering.set(primitive, rule, replace=True)


def lowers(*primitives, components=False):
    """Decorator: the lowering of these primitives, `rule(g, out, *values, **params)`.

    components: the same rule also takes tuples of components.
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
    """Declares that the rules of these primitives are applied to each component of their operands."""
    component_lowering.rule(*primitives)(EACH_COMPONENT)


def unsupported(reason, *primitives):
    """Declares the reason why these primitives have no ONNX form."""
    lowering.rule(*primitives)(Refusal(reason))
