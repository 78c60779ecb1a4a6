"""Symbolic zeros and the placeholders of transposition.

`Zero` stands for a tangent or cotangent that is known to vanish; no array is made for it.  `UndefinedPrimal` marks
the operands with respect to which a linear primitive is being transposed.  `SymbolicZero` is `Zero` as users of
`custom_jvp(..., symbolic_zeros=True)` see it.
"""


class Zero:
    """A tangent or cotangent of the given aval that is zero."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(value):
        """The zero tangent of an array; needs only its aval."""
        return Zero(value.aval.to_tangent_aval())


class SymbolicZero:
    """What a user's rule receives for a tangent that is known to be zero."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)

    def __repr__(self):
        return f"SymbolicZero({self.aval})"


class UndefinedPrimal:
    """A linear operand of a primitive under transposition: only its aval is known."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"UndefinedPrimal({self.aval})"


def is_undefined_primal(x):
    """Whether x stands for a linear operand."""
    return type(x) is UndefinedPrimal
