"""LAPACK's and BLAS's routines for instructions, as SciPy's compiled modules hand them out."""

from functools import cache

from onax._ground import lazy
from onax._native.tape import attach_lapack


@cache
def attach():
    """Imports SciPy's modules and gives the tape machine the addresses of the routines that it calls.

    A routine whose arguments are not of the expected types (integers may have 64 bits) is left out.
    """
    for module in (lazy.scipy_linalg_cython_lapack, lazy.scipy_linalg_cython_blas):
        attach_lapack(module.__pyx_capi__)
