"""Primitives of JAX that onax expresses with others: binding one applies its function."""

from onax._native.dispatch import Primitive


class DerivedPrimitive(Primitive):
    """A primitive without rules of its own: programs hold the operations of its function in its place.

    Args:
      name: the name that JAX gives the primitive.
      function: `function(*operands, **params)` returns what JAX's primitive does for these operands and parameters: an
        array, or a list of them if `multiple_results`.
    """

    def __init__(self, name, function, multiple_results=False):
        super().__init__(name, multiple_results=multiple_results)
        self.function = function

    def bind(self, *operands, **params):
        """The results of the function."""
        return self.function(*operands, **params)
