"""A program after all passes of the compiler for the native target."""

from onax._compile.pipeline import NATIVE_PASSES, PASSES


def after_passes(jaxpr):
    """The ClosedJaxpr after every pass."""
    for rewrite in (*PASSES, *NATIVE_PASSES):
        jaxpr = rewrite(jaxpr)
    return jaxpr
