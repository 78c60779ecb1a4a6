# cython: boundscheck=False, wraparound=False
"""LibraryFunction: a function of the library that is compiled, as JAX does, where that pays."""

from types import MethodType

cimport numpy as cnp
from cpython.object cimport PyObject

from onax._native.array cimport ArrayImpl
from onax._native.context cimport ctx, option_bits
from onax._native.hooks cimport hooks
from onax._native.jit_function cimport JitFunction

cnp.import_array()

cdef extern from "Python.h":
    bint PyLong_Check(object)
    bint PyFloat_Check(object)
    bint PyComplex_Check(object)


cdef class LibraryFunction:
    """A Python function of arrays; a call while operations are evaluated may run its compiled form.

    fun            the function
    stage          (args, kwargs) -> result of a call while a program is staged; None: a call of `fun`
    transform      (args, kwargs) -> result of a call under another transformation; None: a call of `fun`
    static         the names of its arguments that are no arrays
    from_elements  a compiled call pays if an array among the positional arguments has so many elements; -1: never
    compiled       the JitFunction of the compiled form, once a call had such arguments

    `hooks.compile_library_function` makes the JitFunction of the compiled form, which decides when a program is made for
    arguments of certain types (`JitFunction.patience`).
    """

    cdef readonly object fun
    cdef readonly object stage
    cdef readonly object transform
    cdef readonly frozenset static
    cdef readonly Py_ssize_t from_elements
    cdef readonly JitFunction compiled
    cdef dict __dict__
    cdef object __weakref__

    def __init__(self, fun, stage=None, static=(), Py_ssize_t from_elements=-1, transform=None):
        self.fun = fun
        self.stage = stage
        self.transform = transform
        self.static = frozenset(static)
        self.from_elements = from_elements

    def __call__(self, *args, **kwargs):
        cdef PyObject *trace = ctx().trace
        if trace is NULL:
            if self.from_elements >= 0 and has_large(args, self.from_elements) and self.is_fit(args, kwargs):
                return self.compiled.call(args, kwargs)
        elif self.stage is not None and (<object>trace).staging:
            return self.stage(args, kwargs)
        elif self.transform is not None and not option_bits() & hooks.uncompiled_options:
            return self.transform(args, kwargs)
        return self.fun(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __repr__(self):
        return repr(self.fun)

    cdef bint is_fit(self, tuple args, dict kwargs) except -1:
        """Whether the compiled form takes these arguments, and no option asks for evaluation operation by operation."""
        cdef Py_ssize_t i
        if option_bits() & hooks.uncompiled_options:
            return False
        if self.compiled is None:
            self.compiled = hooks.compile_library_function(self)
        for i in range(len(args)):
            if not (is_hashable(args[i]) if i in self.compiled.static_argnums else is_operand(args[i])):
                return False
        for name, value in kwargs.items():
            if not (is_hashable(value) if name in self.static else is_operand(value)):
                return False
        return True


cdef bint has_large(tuple args, Py_ssize_t elements) noexcept:
    """Whether one of the arguments is an array of at least so many elements."""
    for x in args:
        if type(x) is ArrayImpl and (<ArrayImpl>x).buf is not None and cnp.PyArray_SIZE((<ArrayImpl>x).buf) >= elements:
            return True
    return False


cdef bint is_operand(object x) noexcept:
    """Whether an argument is an array on the host that nobody placed, a Python scalar, or None."""
    cdef ArrayImpl a
    if type(x) is ArrayImpl:
        a = <ArrayImpl>x
        return a.buf is not None and a.shards is None and not a.placed
    return x is None or PyFloat_Check(x) or PyLong_Check(x) or PyComplex_Check(x)


cdef bint is_hashable(object x) except -1:
    """Whether an argument can be a static one; another error of its `__hash__` is the caller's."""
    try:
        hash(x)
    except TypeError:
        return False
    return True
