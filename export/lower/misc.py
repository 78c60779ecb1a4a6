"""ONNX forms of the primitives about placement; checks have none, and say what to do."""

from onax._prims.misc import check_p, device_put_p
from onax.export.lower.registry import lowers


@lowers(device_put_p, components=True)
def _device_put(g, out, *values, **_):
    """Within one graph everything is in one place."""
    return list(values)


@lowers(check_p, components=True)
def _check(g, out, *values, debug, **_):
    """A graph cannot raise: checks become results of the program by `checkify`."""
    if debug:
        return []
    raise ValueError(
        "Cannot abstractly evaluate a checkify.check which was not functionalized. This probably means you tried to "
        "stage (jit/scan/pmap/...) a `check` without functionalizing it through `checkify.checkify`."
    )
