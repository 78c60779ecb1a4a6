"""onax.scipy.sparse: solvers of linear systems that are given as a function."""

from onax.scipy.sparse import linalg

__all__ = ["linalg"]
