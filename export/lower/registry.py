"""Where lowering rules are kept: one for each primitive, keyed by the primitive object.

A rule has one of three forms:

    one_node(sin_p, "Sin")         a row: the primitive is one ONNX operator
    decompose(expm1_p, function)   the primitive is a function of other primitives: `function(*operands, **params)`
    @lowers(gather_p)              a rule: (graph, out, *values, **params) -> Value, or a tuple of them
    def _(g, out, x, i, **params)

`out` is the result's aval (a list of avals for a primitive with several results).  A primitive that ONNX cannot say
stands in UNSUPPORTED with the reason, which the user reads.

Operands of complex or key dtype are tuples of Values, one for each component (`driver.py`).  Primitives that only move
data, and those in COMPONENTWISE, need nothing more: their rule is applied to each component.  Others have a second
rule, in COMPONENT_RULES, that takes and returns such tuples.
"""

RULES: dict = {}
COMPONENT_RULES: dict = {}
COMPONENTWISE: set = set()
UNSUPPORTED: dict = {}


class Decomposition:
    """A lowering by staging a function of other primitives."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function


def _register(primitive, rule):
    if primitive in RULES or primitive in UNSUPPORTED:
        raise ValueError(f"{primitive.name} has two lowerings")
    RULES[primitive] = rule
    return rule


def one_node(primitive, op_type, **attributes):
    """The primitive is this ONNX operator; its parameters do not matter."""

    def rule(g, out, *values, **params):
        return g.node(op_type, *values, out=out, **attributes)

    _register(primitive, rule)


def decompose(primitive, function):
    """The primitive is a function of other primitives, staged for the operands' avals and lowered in its place."""
    _register(primitive, Decomposition(function))


def redefine(primitive, function):
    """The same for a primitive of another library, which may state it anew; for operands of any dtype."""
    RULES[primitive] = COMPONENT_RULES[primitive] = Decomposition(function)
    UNSUPPORTED.pop(primitive, None)


def lowers(*primitives, components=False):
    """Decorator: the lowering of these primitives, `rule(g, out, *values, **params)`.

    components: the same rule also takes tuples of components (calls of other programs do).
    """

    def register(rule):
        for primitive in primitives:
            _register(primitive, rule)
            if components:
                COMPONENT_RULES[primitive] = rule
        return rule

    return register


def lowers_components(*primitives):
    """Decorator: the lowering of these primitives for operands or results that are tuples of components."""

    def register(rule):
        for primitive in primitives:
            COMPONENT_RULES[primitive] = rule
        return rule

    return register


def componentwise(*primitives):
    """The rules of these primitives hold for each component of their operands alone."""
    COMPONENTWISE.update(primitives)


def unsupported(primitive, reason):
    """States why ONNX cannot say the primitive."""
    UNSUPPORTED[primitive] = reason
