"""The slot `tape`: which instructions a primitive becomes on a tape."""

from onax._core.slots import Slot
from onax._native.tape import TYPES

tape = Slot(
    "tape",
    "rule(builder, out aval or avals, *operand Buffers, **params) -> Buffer or Buffers",
    "An instruction of a tape calls the NumPy kernel.",
    "onax._tape",
)


class Unsupported(Exception):
    """There is no instruction for these dtypes or parameters."""


def type_number(dtype):
    """The number of a dtype in instructions; Unsupported if they do not know it."""
    number = TYPES.get(dtype)
    if number is None:
        raise Unsupported(f"instructions do not know {dtype}")
    return number
