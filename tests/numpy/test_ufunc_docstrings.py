"""Docstrings that rows of elementwise functions share."""

from onax.numpy._ufunc_docstrings import BOOL, INEXACT, describe

SINE = """Returns the sine.

Args:
  x: array of angles.

Returns:
  Inexact array (integers become floats) of the shape of `x`.

Raises:
  TypeError: `x` is no array or number.

Examples:
  >>> jnp.round(jnp.sin(0), 2)
  Array(0., dtype=float32)"""
EQUAL = """Returns whether elements are equal.

Args:
  *args: the two operands: arrays of numbers, which broadcast.
  out: must be None.
  where: must be None.

Returns:
  bool array; False for NaN.

Raises:
  TypeError: an operand is a list, or an operand is no array or number.
  ValueError: the shapes do not broadcast.

Examples:
  >>> jnp.same(1, 2)
  Array(False, dtype=bool)"""


def test_one_operand():
    write = describe(
        "Returns the sine.", "0", "Array(0., dtype=float32)", digits=2, operands="array of angles", result=INEXACT
    )
    assert write("sin", ["x"]) == SINE


def test_two_operands_of_a_ufunc_object():
    write = describe(
        "Returns whether elements are equal.", "1, 2", "Array(False, dtype=bool)", result=f"{BOOL}; False for NaN",
        raises="TypeError: an operand is a list", is_ufunc=True,
    )  # fmt: skip
    assert write("same", ["x", "y"]) == EQUAL
