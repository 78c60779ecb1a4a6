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
            f"Raises:\n  {raises}." if raises else "",
            f"Examples:\n  >>> {call if digits is None else f'jnp.round({call}, {digits})'}\n  {output}",
        ]
        return "\n\n".join(filter(None, sections))

    return write
