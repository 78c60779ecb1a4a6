"""Floor 0: the compiled mechanism.  Says how to build it when the extension modules are missing."""

try:
    from onax._native import context as _context
except ModuleNotFoundError as missing:
    raise ImportError(
        "onax's compiled modules are missing. Install the package (pip install .), or, working in a checkout, "
        "build them in place: pip install -e ."
    ) from missing
