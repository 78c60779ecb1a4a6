"""The slot `tape`: which instructions a primitive becomes on a tape."""

from onax._core.slots import Slot

tape = Slot(
    "tape",
    "rule(builder, out aval or avals, *operand Buffers, **params) -> Buffer or Buffers",
    "An instruction of a tape calls the NumPy kernel.",
    "onax._tape",
)


class Unsupported(Exception):
    """There is no instruction for these dtypes or parameters."""
