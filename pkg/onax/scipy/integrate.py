"""onax.scipy.integrate: integration of samples."""

from onax.numpy._statistics import trapezoid
