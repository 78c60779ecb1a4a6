"""A graph value with Python's operators, for lowerings that are formulas of several nodes.

    x = Formula(g, value)
    (1 / (1 + (-x).do("Exp"))).value

Python numbers become constants of the element type.  Comparisons return formulas of bools, for `where`.
"""

from dataclasses import dataclass

from onax.export.graph import ops


def _operator(builder):
    def apply(self, other):
        return Formula(self.g, builder(self.g, self.value, self._value_of(other)))

    def swapped(self, other):
        return Formula(self.g, builder(self.g, self._value_of(other), self.value))

    return apply, swapped


@dataclass(slots=True, eq=False, repr=False)
class Formula:
    """A value of a graph under construction; `value` is the Value."""

    g: object
    value: object
    __hash__ = None  # type: ignore[assignment]  # equality adds a node, so a Formula cannot be a key

    def _value_of(self, other):
        return other.value if isinstance(other, Formula) else ops.scalar(self.g, other, self.value)

    __add__, __radd__ = _operator(ops.add)
    __sub__, __rsub__ = _operator(ops.sub)
    __mul__, __rmul__ = _operator(ops.mul)
    __truediv__, __rtruediv__ = _operator(ops.div)
    __lt__, _ = _operator(ops.less)
    __gt__, _ = _operator(ops.greater)
    __le__, _ = _operator(ops.less_equal)
    __ge__, _ = _operator(ops.greater_equal)
    __eq__, _ = _operator(ops.equal)
    __and__, _ = _operator(ops.logical_and)
    __or__, _ = _operator(ops.logical_or)
    minimum, _ = _operator(ops.minimum)
    maximum, _ = _operator(ops.maximum)

    def __neg__(self):
        return self.do("Neg")

    def __invert__(self):
        """The logical negation of bools."""
        return Formula(self.g, ops.logical_not(self.g, self.value))

    def do(self, op_type):
        """Applies a unary ONNX operator that keeps shape and element type."""
        return Formula(self.g, self.g.node(op_type, self.value))

    def pow(self, exponent):
        """self ** exponent."""
        return Formula(self.g, ops.binary(self.g, "Pow", self.value, self._value_of(exponent)))

    def cast(self, dtype):
        """ONNX's Cast."""
        return Formula(self.g, ops.cast(self.g, self.value, dtype))

    def is_nan(self):
        """Whether each element is NaN."""
        return Formula(self.g, ops.is_nan(self.g, self.value))

    def where(self, yes, no):
        """`yes` where self (bools) is true, else `no`; at least one of the two is a Formula."""
        typed = yes if isinstance(yes, Formula) else no
        return Formula(self.g, ops.where(self.g, self.value, typed._value_of(yes), typed._value_of(no)))

    def horner(self, coefficients):
        """The polynomial with these coefficients, highest power first."""
        first, *rest = coefficients
        total = first
        for c in rest:
            total = self * total + c
        return total
