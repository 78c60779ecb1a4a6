"""typeof: the types of values, and of those that a ShapeDtypeStruct describes."""

from typing import Any

from onax._core import trace
from onax._transforms.abstract import ShapeDtypeStruct, abstractify


def typeof(x: Any) -> Any:
    """Returns the type of a value: its shape, dtype and weak type.

    Args:
      x: an Array, a traced value, a NumPy array or scalar, a Python scalar, or a ShapeDtypeStruct.

    Returns:
      An abstract value such as a ShapedArray.

    Raises:
      TypeError: any other value.

    Examples:
      >>> onax.typeof(jnp.zeros((2, 3)))
      ShapedArray(float32[2,3])
    """
    return abstractify(x) if isinstance(x, ShapeDtypeStruct) else trace.typeof(x)


__all__ = ["typeof"]
