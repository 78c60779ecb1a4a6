"""LAPACK's routines for instructions, as SciPy's compiled module hands them out."""

import os
import sys
from functools import cache

from onax._ground import lazy
from onax._native.tape import attach_lapack, attach_lapack_threads, forget_lapack_calls

PTHREADS = 1  # what OpenBLAS says of a library whose threads are its own


@cache
def attach():
    """Imports SciPy's module and gives the tape machine the addresses of the routines that it calls.

    A routine whose arguments are not of the expected types (integers may have 64 bits) is left out.
    """
    attach_lapack(lazy.scipy_linalg_cython_lapack.__pyx_capi__)
    functions = thread_functions(lazy.scipy_linalg_cython_lapack.__file__)
    if functions is not None:
        ctypes = lazy.ctypes
        attach_lapack_threads(*[ctypes.cast(function, ctypes.c_void_p).value for function in functions])
        if sys.platform != "win32":
            os.register_at_fork(after_in_child=forget_lapack_calls)


def thread_functions(path):
    """(get, set): OpenBLAS's functions for its number of threads, which the library at `path` links to; None for other
    libraries."""
    library = lazy.ctypes.CDLL(path)
    for prefix, suffix in (("scipy_", ""), ("", ""), ("scipy_", "64_"), ("", "64_")):
        names = [f"{prefix}openblas_{name}{suffix}" for name in ("get_parallel", "get_num_threads", "set_num_threads")]
        functions = [getattr(library, name, None) for name in names]
        if None not in functions:
            return functions[1:] if functions[0]() == PTHREADS else None
    return None
