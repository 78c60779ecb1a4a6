"""SourceInfo: the source location of an operation, from a walk through Python's frames in C.

A location is `SourceInfo(code, instruction)`; it is resolved to a line only when it is shown.  Finding one takes some
tenths of a microsecond, so equations of staged programs and tracers of transformations all carry one.
"""

cimport cython
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject

from onax._native.hooks cimport hooks

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define ONAX_THREAD __declspec(thread)
    #else
    #define ONAX_THREAD __thread
    #endif
    static ONAX_THREAD PyObject *onax_location;   /* `here.record` of this thread, owned; NULL = None */
    static ONAX_THREAD PyObject *onax_scopes;     /* `here.scopes`, owned; NULL = () */
    """
    PyObject *onax_location
    PyObject *onax_scopes

cdef extern from "Python.h":
    ctypedef struct PyCodeObject:
        PyObject *co_filename
    ctypedef struct PyFrameObject:
        pass
    PyFrameObject *PyEval_GetFrame()
    PyFrameObject *PyFrame_GetBack(PyFrameObject *) noexcept
    PyCodeObject *PyFrame_GetCode(PyFrameObject *) noexcept
    int PyFrame_GetLasti(PyFrameObject *) noexcept
    PyObject *PyDict_GetItem(object, PyObject *) noexcept

cdef dict _internal = {}
internal_files = _internal      # file name -> whether it belongs to onax; `hooks.is_internal` enters what is new


cdef bint is_internal_name(PyObject *name) except -1:
    cdef PyObject *known = PyDict_GetItem(_internal, name)
    if known is not NULL:
        return <object>known is True
    return hooks.is_internal(<object>name)


cdef bint called_from_inside() except -1:
    """Whether the innermost Python frame of this thread is one of onax."""
    cdef PyFrameObject *frame = PyEval_GetFrame()
    cdef PyCodeObject *code
    if frame is NULL:
        return False
    code = PyFrame_GetCode(frame)
    inside = is_internal_name(code.co_filename)
    Py_XDECREF(<PyObject *>code)
    return inside


@cython.final
@cython.freelist(64)
cdef class SourceInfo:
    """Where an operation was written: a code object, an instruction's offset in it, and whether it runs backward.

    `callers`: where that function was called, and so on outward: SourceInfos, or None if nobody looked.
    `scopes`: the transformations that it came through and the names that the user gave to the parts of the program
    around it, outermost first: `source.Transform` and `source.Scope`.

    An unknown location has no code, and is false.
    """

    cdef readonly object code
    cdef readonly int instruction
    cdef readonly bint backward
    cdef readonly tuple callers
    cdef readonly tuple scopes

    def __init__(self, code, int instruction, bint backward=False, callers=None, tuple scopes=()):
        self.code, self.instruction, self.backward, self.callers = code, instruction, backward, callers
        self.scopes = scopes

    def within(self, tuple scopes):
        """The same location in a program that is called within other scopes."""
        return SourceInfo(self.code, self.instruction, self.backward, self.callers, scopes + self.scopes)

    def without_outer(self, int number):
        """The same location without the outermost scopes."""
        return SourceInfo(self.code, self.instruction, self.backward, self.callers, self.scopes[number:])

    def __bool__(self):
        return self.code is not None

    @property
    def traceback(self):
        """The location, resolved to files and lines."""
        return hooks.source_traceback(self)

    @property
    def name_stack(self):
        """The transformations that the operation came through, and the names of the scopes around it."""
        return hooks.name_stack(self)

    def __eq__(self, other):
        cdef SourceInfo o
        if type(other) is not SourceInfo:
            return NotImplemented
        o = <SourceInfo>other
        return (self.code is o.code and self.instruction == o.instruction and self.backward == o.backward
                and self.scopes == o.scopes)

    def __hash__(self):
        return hash((id(self.code), self.instruction, self.backward))

    def __repr__(self):
        return f"SourceInfo({self.traceback})"


cdef class Here:
    """What is known of the equations that this thread records.

    `record`: the location of the equation that is interpreted; None if the user's frames tell it.
    `scopes`: the transformations and named scopes that are entered, as a SourceInfo has them.
    """

    @property
    def scopes(self):
        return () if onax_scopes is NULL else <object>onax_scopes

    @scopes.setter
    def scopes(self, tuple scopes not None):
        global onax_scopes
        cdef PyObject *old = onax_scopes
        onax_scopes = NULL
        if scopes:
            Py_INCREF(scopes)
            onax_scopes = <PyObject *>scopes
        Py_XDECREF(old)

    @property
    def record(self):
        return None if onax_location is NULL else <object>onax_location

    @record.setter
    def record(self, location):
        global onax_location
        cdef PyObject *old = onax_location
        if location is None:
            onax_location = NULL
        else:
            Py_INCREF(location)
            onax_location = <PyObject *>location
        Py_XDECREF(old)


here = Here()


cdef SourceInfo _next(PyFrameObject **at):
    """The location of the innermost frame outside onax, from `at` outward; None if there is none.  `at` becomes its caller."""
    cdef PyFrameObject *frame = at[0]
    cdef PyFrameObject *back
    cdef PyCodeObject *code
    cdef SourceInfo info = None
    while frame is not NULL and info is None:
        code = PyFrame_GetCode(frame)
        if not is_internal_name(code.co_filename):
            info = SourceInfo.__new__(SourceInfo)
            info.code = <object>code
            info.instruction = PyFrame_GetLasti(frame)
            info.scopes = ()
        Py_XDECREF(<PyObject *>code)
        back = PyFrame_GetBack(frame)
        Py_XDECREF(<PyObject *>frame)
        frame = back
    at[0] = frame
    return info


cdef tuple _latest = ()


cdef tuple _shared(tuple chain):
    """The chain of the last operation if this one equals it, which holds for most operations of a function."""
    global _latest
    if chain != _latest:
        _latest = chain
    return _latest


cdef object _located(int callers):
    cdef PyFrameObject *frame
    cdef SourceInfo info, outer
    cdef list chain
    if onax_location is not NULL:
        return <object>onax_location if type(<object>onax_location) is SourceInfo else None
    frame = PyEval_GetFrame()
    if frame is NULL:
        return None
    Py_INCREF(<object>frame)
    info = _next(&frame)
    if onax_scopes is not NULL and info is not None:
        info.scopes = <tuple>onax_scopes
    if callers and frame is not NULL and info is not None:
        chain = []
        while len(chain) < callers:
            outer = _next(&frame)
            if outer is None:
                break
            chain.append(outer)
        info.callers = _shared(tuple(chain))
    Py_XDECREF(<PyObject *>frame)
    return info


cpdef user_location():
    """The location of the equation that is interpreted, else of the innermost frame outside onax; None if unknown."""
    return _located(0)


def user_locations():
    """`user_location` with up to 4 callers: 5 frames, as in JAX."""
    return _located(4)
