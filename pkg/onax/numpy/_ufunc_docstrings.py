"""Docstrings of the elementwise functions that are rows of a table: one layout, filled in by each row."""

PROMOTED = "Array of the promoted dtype"
INEXACT = "Inexact array (integers become floats)"
BOOL = "bool array"
_UFUNC_PARAMETERS = "*args: the {} operands: {}.\n  out: must be None.\n  where: must be None."
_COUNTS = {1: "one", 2: "two"}


def describe(
    summary, arguments, output, *, digits=None, operands="arrays of numbers", result=PROMOTED, raises="", is_ufunc=False
):
    """Returns a function of name and parameters that writes a docstring.

    `jnp.name(arguments)`, rounded to `digits`, is the example, and `output` what it prints.  `is_ufunc` says that the
    function becomes a `jnp.ufunc`, which is called with any number of arguments.
    """

    def write(name, parameters):
        broadcast = ", which broadcast" if len(parameters) == 2 else ""
        if is_ufunc:
            args = _UFUNC_PARAMETERS.format(_COUNTS[len(parameters)], operands + broadcast)
        else:
            args = f"{', '.join(parameters)}: {operands}{broadcast}."
        shape = f" of the shape of `{parameters[0]}`" if len(parameters) == 1 else ""
        call = f"jnp.{name}({arguments})"
        kind, _, details = result.partition(";")
        sections = [
            summary,
            f"Args:\n  {args}",
            f"Returns:\n  {kind}{shape}{';' * bool(details)}{details}.",
            f"Raises:\n  {_raises(raises, parameters)}",
            f"Examples:\n  >>> {call if digits is None else f'jnp.round({call}, {digits})'}\n  {output}",
        ]
        return "\n\n".join(filter(None, sections))

    return write


def _raises(wrong_dtype, parameters):
    """The entries of the section `Raises`; `wrong_dtype` is one that says which dtypes a function refuses."""
    several = len(parameters) > 1
    not_numbers = "an operand is no array or number" if several else f"`{parameters[0]}` is no array or number"
    separator = ", or " if wrong_dtype else "TypeError: "
    return f"{wrong_dtype}{separator}{not_numbers}." + "\n  ValueError: the shapes do not broadcast." * several
