"""The tape of a program, kept with it and shared by programs of equal structure."""

from onax._core.structure import SharedByStructure
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
    sinks,
    slicing,
    solves,
    sorting,
    special,
    stacking,
    windows,
)
from onax._tape.builder import Builder
from onax._tape.layout import make_tape

_FEW_EQUATIONS = 64  # of a program whose tape is shared
_LITTLE_MEMORY = 1 << 17  # bytes of a shared tape, which keeps the memory of a run for the next one
# The layers of a network have equal parts, and so have functions that are defined anew for each call of `jit`.
_tapes = SharedByStructure(256, is_kept=lambda built: built[0].memory <= _LITTLE_MEMORY)


def build_tape(jaxpr):
    """(Tape, large constants that are its last inputs) of a ClosedJaxpr; cached with it.

    Its operands and results are the program's; keys and complex numbers as NumPy holds them.
    """
    built = jaxpr.cache.get("tape")
    if built is None:
        built = _tapes.get(jaxpr, _build) if len(jaxpr.eqns) <= _FEW_EQUATIONS else _build(jaxpr)
        jaxpr.cache["tape"] = built
    return built


def _build(jaxpr):
    builder = Builder()
    results = builder.program(jaxpr, builder.inputs(jaxpr.in_avals))
    builder.outputs(results, jaxpr.out_avals)
    built = make_tape(builder), builder.hoisted
    builder.release()
    return built
