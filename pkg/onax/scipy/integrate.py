"""onax.scipy.integrate: integration of samples."""

from onax.numpy import trapezoid

__all__ = ["trapezoid"]
