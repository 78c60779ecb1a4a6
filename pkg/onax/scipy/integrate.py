"""onax.scipy.integrate: integration of samples."""

from onax.numpy import trapezoid
