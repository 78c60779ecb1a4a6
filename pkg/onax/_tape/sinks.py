"""`dce_sink` on a tape: no instruction."""

from onax._prims.sinks import dce_sink_p
from onax._tape.rules import tape


@tape.rule(dce_sink_p)
def _dce_sink(b, out, *operands, **_):
    return []
