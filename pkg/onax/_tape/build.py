"""The tape of a program, kept with it."""

from onax._tape import (  # noqa: F401  they attach rules
    calls,
    control,
    conv,
    convert,
    cumulative,
    dot,
    fft,
    fused,
    identities,
    indexing,
    linalg,
    random,
    reductions,
    shaping,
    slicing,
    solves,
    sorting,
    stacking,
    windows,
)
from onax._tape.builder import Builder
from onax._tape.layout import make_tape


def build_tape(jaxpr, name="tape"):
    """(Tape, large constants that are its last inputs) of a ClosedJaxpr; cached with it.

    Its operands and results are the program's; keys and complex numbers as NumPy holds them.
    """
    found = jaxpr.cache.get("tape")
    if found is None:
        builder = Builder()
        results = builder.program(jaxpr, builder.inputs(jaxpr.in_avals))
        builder.outputs(results, jaxpr.out_avals)
        found = jaxpr.cache["tape"] = make_tape(builder, name), builder.hoisted
    return found
