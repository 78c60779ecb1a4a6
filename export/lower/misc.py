"""Lowerings of device placement, and the refusal of checks."""

from onax._prims.misc import check_p, device_put_p
from onax.export.lower.registry import lowers


@lowers(device_put_p, components=True)
def _device_put(g, out, *values, **_):
    """The identity: a graph runs on one device."""
    return list(values)


@lowers(check_p, components=True)
def _check(g, out, *values, debug, **_):
    """A graph cannot raise errors; `checkify` turns checks into results of the program."""
    if debug:
        return []
    raise ValueError(
        "Cannot abstractly evaluate a checkify.check which was not functionalized. This probably means you tried to "
        "stage (jit/scan/pmap/...) a `check` without functionalizing it through `checkify.checkify`."
    )
