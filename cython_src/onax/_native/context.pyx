"""The state of a thread that compiled code reads without a Python call: current trace, options, default device."""

from contextvars import Context

import numpy as np

from cpython.ref cimport PyObject, Py_INCREF, Py_XDECREF, Py_XINCREF, Py_DECREF
from libc.stdint cimport uint64_t

from onax._native.hooks cimport hooks

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ONAX_THREAD __declspec(thread)
    #else
    #define ONAX_THREAD __thread
    #endif
    static ONAX_THREAD OnaxCtx onax_ctx;
    """
    Ctx onax_ctx

cdef extern from "Python.h":
    int PyContext_Enter(object) except -1
    int PyContext_Exit(object) except -1

X64_BIT = 1

cdef uint64_t _global_word = 0
cdef object _global_device = None


cdef Ctx* ctx() noexcept nogil:
    return &onax_ctx


cdef uint64_t option_bits() noexcept nogil:
    return (_global_word & ~onax_ctx.mask) | (onax_ctx.value & onax_ctx.mask)


cdef object default_device():
    if onax_ctx.default_device != NULL:
        return <object>onax_ctx.default_device
    return _global_device


def get_trace():
    """The current trace of this thread; None when operations are evaluated at once."""
    if onax_ctx.trace == NULL:
        return None
    return <object>onax_ctx.trace


cpdef object swap_trace(trace):
    """Makes `trace` (None: evaluate) current in this thread; gives the one that was."""
    cdef PyObject *old = onax_ctx.trace
    previous = None if old == NULL else <object>old
    if trace is None or trace is hooks.eval_trace:
        onax_ctx.trace = NULL
    else:
        Py_INCREF(trace)
        onax_ctx.trace = <PyObject *>trace
    Py_XDECREF(old)
    return previous


def set_typed_axes(bint present):
    """Says whether this thread is inside a `shard_map` whose types say which values vary over its axes."""
    onax_ctx.typed_axes = present


cdef class set_current_trace:
    """Context in which the given trace interprets every operation."""

    cdef object trace
    cdef object previous

    def __cinit__(self, trace):
        self.trace = trace

    def __enter__(self):
        self.previous = swap_trace(self.trace)

    def __exit__(self, *_):
        swap_trace(self.previous)


def option_word():
    """The options in effect in this thread, as one integer."""
    return option_bits()


def set_global_word(uint64_t word):
    """Sets the option word that holds where no thread overrides it."""
    global _global_word
    _global_word = word


def swap_thread_word(uint64_t mask, uint64_t value):
    """Sets which bits this thread overrides, and with what; gives the (mask, value) that held before."""
    previous = (onax_ctx.mask, onax_ctx.value)
    onax_ctx.mask = mask
    onax_ctx.value = value
    return previous


def set_global_default_device(device):
    """Sets the device of new results where no thread overrides it; None leaves the first local device."""
    global _global_device
    _global_device = device


def swap_default_device(device):
    """Sets this thread's device of new results (None: the process's); gives the one that was."""
    cdef PyObject *old = onax_ctx.default_device
    previous = None if old == NULL else <object>old
    if device is None:
        onax_ctx.default_device = NULL
    else:
        Py_INCREF(device)
        onax_ctx.default_device = <PyObject *>device
    Py_XDECREF(old)
    return previous


def get_default_device():
    """The device of new results in this thread; None means the first local device."""
    return default_device()


# NumPy keeps its error state in a context variable.  Entering a context in which floating-point warnings are off costs
# some ten nanoseconds; np.errstate itself costs most of a microsecond.  A context can be entered once at a time, so a
# few are pooled: each kernel takes one and gives it back.

cdef enum:
    POOLED = 16

cdef PyObject *_idle[POOLED]
cdef int _idle_count = 0


def _silence():
    np.errstate(all="ignore").__enter__()


cdef object _new_quiet_context():
    context = Context()
    context.run(_silence)
    return context


cdef PyObject* quiet_begin() except? NULL:
    global _idle_count
    cdef PyObject *token
    if onax_ctx.quiet:
        return NULL
    if _idle_count:
        _idle_count -= 1
        token = _idle[_idle_count]
    else:
        context = _new_quiet_context()
        token = <PyObject *>context
        Py_XINCREF(token)
    PyContext_Enter(<object>token)
    onax_ctx.quiet = 1
    return token


cdef int quiet_end(PyObject *token) except -1:
    global _idle_count
    if token == NULL:
        return 0
    onax_ctx.quiet = 0
    PyContext_Exit(<object>token)
    if _idle_count < POOLED:
        _idle[_idle_count] = token
        _idle_count += 1
    else:
        Py_DECREF(<object>token)
    return 0


cdef class numpy_warnings_off:
    """Context manager: NumPy's floating-point warnings are off inside, in this thread only."""

    cdef PyObject *token

    def __enter__(self):
        self.token = quiet_begin()
        return self

    def __exit__(self, *exc_info):
        quiet_end(self.token)
        self.token = NULL
