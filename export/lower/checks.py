"""The refusal of checks: a graph cannot raise errors; `checkify` turns checks into results of the program."""

from onax._prims.checks import check_p
from onax.export.lower.registry import lowers


@lowers(check_p, components=True)
def _check(g, out, *values, debug, **_):
    if debug:
        return []
    raise ValueError(
        "Cannot abstractly evaluate a checkify.check which was not functionalized. This probably means you tried to "
        "stage (jit/scan/pmap/...) a `check` without functionalizing it through `checkify.checkify`."
    )
