# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""ONNX Runtime through its C API: one instance of the library, which belongs to onax, and its sessions.

    attach(path)    loads the library once, with an environment of our own: a global thread pool, no spinning
    Session         a model; `run` takes and returns ndarrays, copies neither, and lets other threads run

A forked process has sessions, too, but not the threads of the pool: the runtime then does all of the work on the calling
thread.  If another thread of the parent was in the runtime, its locks may be held for ever, and sessions refuse to run.

Other InferenceSessions in the process are not affected: the environment belongs to this instance.
Errors are RuntimeErrors with the runtime's messages, which `onax._compile` rewrites.  `run` raises exceptions of our
operators unchanged.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from onax._native.memory cimport allocate, empty_array, release
from onax._native.ort_api cimport *

import os
import sys
from threading import get_ident

import numpy as np

from onax._native.protobuf import ELEMENT_TYPES

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type

cdef extern from *:
    """
    #define ONAX_NOT_SWAPPED(a) PyArray_ISNOTSWAPPED(a)
    #define ONAX_TYPENUM(d) ((d)->type_num)
    """
    bint ONAX_NOT_SWAPPED(cnp.ndarray)
    int ONAX_TYPENUM(cnp.dtype)

cdef extern from *:
    """
    #include <stdio.h>
    #include <stdlib.h>
    #if defined(__GLIBC__)
    #include <unistd.h>
    static void onax_leave(int status, void *unused) { (void)unused; fflush(NULL); _exit(status); }
    static int onax_skip_destructors(void) { return on_exit(onax_leave, NULL); }
    #else
    static int onax_skip_destructors(void) { return 0; }
    #endif
    """
    int onax_skip_destructors()

# The oldest library that was measured.  Library 1.N has versions 1 to N of the API.
OLDEST = (1, 28)
cdef enum:
    LOG_FATAL = 4             # every failure is returned as a status with a message
    ON_STACK = 64
    ADOPT_BYTES = 65536      # results the runtime allocated: smaller ones are copied, larger ones adopted

# ONNX element types and their dtypes
ELEMENTS = {number: dtype for dtype, number in ELEMENT_TYPES.items()}

cdef void *ENV = NULL
cdef void *DOMAIN = NULL          # our operators
cdef object _attached = None      # path, version

cdef enum:
    OPERATORS_AT_MOST = 16
cdef const void *_operators[OPERATORS_AT_MOST]
cdef int _operator_count = 0


# Exceptions raised in operators, by thread, on their way through the runtime.
cdef dict _raised = {}


class Fault(RuntimeError):
    """Converts a status of the runtime to a RuntimeError with its message."""


cdef int _running = 0             # calls of the runtime during which other threads run
cdef bint _locked = False         # this process was forked during one of them


cdef int enter() except -1:
    global _running
    if _locked:
        raise RuntimeError("This process was forked while its parent ran a session of ONNX Runtime, whose locks may be held "
                           "for ever, so sessions cannot run in it. Let `multiprocessing` start processes by 'spawn' or "
                           "'forkserver', or fork while no other thread runs compiled functions.")
    _running += 1
    return 0


cdef void leave() noexcept:
    global _running
    _running -= 1


def _after_fork():
    """Prepares a forked process: the library's destructors, run at exit, would wait for threads that are not there."""
    global _locked
    _locked = _running > 0
    onax_skip_destructors()


cdef int check(ort_status status) except -1:
    if status == NULL:
        return 0
    text = ort_error_message(API, status).decode("utf8", "replace")
    ort_release_status(API, status)
    raise Fault(text)


cdef int note_raised(object error) except -1:
    _raised.setdefault(get_ident(), error)
    return 0


cdef int check_run(ort_status status) except -1:
    """Like `check`, but raises the exception of an operator unchanged."""
    if status == NULL:
        return 0
    error = _raised.pop(get_ident(), None)
    if error is None:
        return check(status)
    ort_release_status(API, status)
    raise error


def attach(path, int threads=0):
    """Loads ONNX Runtime's library from this path; returns its version.  Later calls return the same.

    threads: size of the thread pool that all sessions share; 0 means one per core.
    Raises RuntimeError if the library cannot be loaded, is too old, or another one is attached already.
    """
    global API, ENV, MEMORY, _attached
    cdef const onax_ort_base *base
    cdef const onax_ort_entry *table
    cdef const char *fault = NULL
    cdef void *threading = NULL
    cdef int i
    path = str(path)
    if _attached is not None:
        if _attached[0] != path:
            raise RuntimeError(f"ONNX Runtime is attached already, from {_attached[0]}; one process uses one library, "
                               f"so {path} cannot be attached beside it.")
        return _attached[1]
    raw = path.encode()
    base = onax_ort_open(PyBytes_AS_STRING(raw), &fault)
    if base == NULL:
        raise RuntimeError(f"ONNX Runtime cannot be loaded from {path}: {fault.decode('utf8', 'replace')}")
    version = onax_ort_version(base).decode("utf8", "replace")
    table = onax_ort_table(base, ONAX_ORT_API_VERSION) if version_of(version) >= OLDEST else NULL
    if table == NULL:
        raise too_old(version, path)
    API = table
    try:
        check(ort_create_threading(API, &threading))
        check(ort_set_intra_threads(API, threading, threads))
        check(ort_set_inter_threads(API, threading, 1))
        check(ort_set_spinning(API, threading, 0))
        check(ort_create_env(API, LOG_FATAL, b"onax", threading, &ENV))
        check(ort_create_cpu_memory(API, &MEMORY))
        check(ort_create_domain(API, b"onax", &DOMAIN))
        _register_allocator()
        for i in range(_operator_count):
            check(ort_domain_add(API, DOMAIN, _operators[i]))
    finally:
        if threading != NULL:
            ort_release_threading(API, threading)
    _attached = (path, version)
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=_after_fork)
    return version


cdef onax_allocator _allocator


cdef void *_allocate(onax_allocator *a, size_t size) noexcept nogil:
    cdef void *block
    if size == 0:
        return NULL
    block = allocate(size)
    if block == NULL:
        onax_throw_no_memory()
    return block


cdef void _release(onax_allocator *a, void *block) noexcept nogil:
    release(block)


cdef int _register_allocator() except -1:
    """Has all sessions on the CPU share the blocks of `memory`, instead of keeping an arena each."""
    _allocator.version = 17
    _allocator.allocate = _allocate
    _allocator.release = _release
    _allocator.info = onax_allocator_info
    check(ort_create_memory_info(API, b"Cpu", 0, 0, 0, &_allocator.memory_info))
    check(ort_register_allocator(API, ENV, &_allocator))
    return 0


def too_old(version, path):
    """The error for a library that is too old for the requested API."""
    return RuntimeError(
        f"ONNX Runtime {version} at {path} is too old: it has version {version_of(version)[1]} of the C API, and onax asks "
        f"for version {ONAX_ORT_API_VERSION}; {OLDEST[0]}.{OLDEST[1]} is the oldest release that it runs with."
    )


cdef int add_operator(const void *description) except -1:
    global _operator_count
    if _operator_count == OPERATORS_AT_MOST:
        raise RuntimeError(f"at most {OPERATORS_AT_MOST} operators of our own are foreseen")
    _operators[_operator_count] = description
    _operator_count += 1
    if DOMAIN != NULL:
        check(ort_domain_add(API, DOMAIN, description))
    return 0


def version_of(text):
    """(major, minor) of a version string."""
    parts = text.split(".")
    return tuple(int(p) for p in parts[:2]) if len(parts) > 1 and all(p.isdigit() for p in parts[:2]) else (0, 0)


def attached():
    """(path, version) of the library in use, or None."""
    return _attached


@cython.final
cdef class _Memory:
    """Owns a tensor that the runtime allocated, on behalf of an ndarray over its memory."""

    cdef void *value

    def __dealloc__(self):
        if self.value != NULL:
            ort_release_value(API, self.value)


cdef void *host_tensor(cnp.ndarray a, int element) except NULL:
    """An OrtValue over an array's memory."""
    cdef void *value = NULL
    check(ort_create_tensor(API, MEMORY, cnp.PyArray_DATA(a), cnp.PyArray_NBYTES(a), <int64_t *>cnp.PyArray_DIMS(a),
                            cnp.PyArray_NDIM(a), element, &value))
    return value


cdef object _result(void *value, cnp.dtype descr):
    """The ndarray of a tensor that the runtime allocated: a copy of a small one, a view of a large one.

    Takes ownership of `value`.
    """
    cdef _Memory memory = _Memory.__new__(_Memory)
    cdef void *info = NULL
    cdef void *data = NULL
    cdef int64_t shape[64]
    cdef size_t rank = 0
    cdef cnp.npy_intp size = descr.itemsize
    cdef size_t i
    cdef cnp.ndarray out
    memory.value = value
    check(ort_type_and_shape(API, value, &info))
    try:
        check(ort_rank(API, info, &rank))
        if rank > 64:
            raise RuntimeError(f"a result has {rank} dimensions; NumPy arrays have at most 64")
        check(ort_dimensions(API, info, shape, rank))
    finally:
        ort_release_info(API, info)
    check(ort_tensor_data(API, value, &data))
    for i in range(rank):
        size *= shape[i]
    Py_INCREF(descr)
    if size <= ADOPT_BYTES:
        out = PyArray_NewFromDescr(&PyArray_Type, descr, <int>rank, <cnp.npy_intp *>shape, NULL, NULL, 0, NULL)
        if size:  # the runtime has no memory for no elements
            memcpy(cnp.PyArray_DATA(out), data, size)
    else:
        out = PyArray_NewFromDescr(&PyArray_Type, descr, <int>rank, <cnp.npy_intp *>shape, NULL, data,
                                   cnp.NPY_ARRAY_CARRAY, NULL)
        cnp.set_array_base(out, memory)
    return out


cdef class Session:
    """A compiled model.

    model         ModelProto bytes
    inputs        [(name, ONNX element type, shape)]; a dimension that is not an int is symbolic
    outputs       likewise; results of symbolic shape are allocated by the runtime
    initializers  {name: ndarray}: constants that the model only names (external data without a file); their memory is
                  used as it is, and kept alive
    options       "optimization": 0, 1 (by default), 2 or 99; "memory_pattern", "arena": bool; "config": {key: text};
                  "provider": "cpu" (by default) or "cuda"; "provider_options": {key: value};
                  "operators": whether the model has nodes of our domain `onax`;
                  "save_optimized": a path to write the model to as it is run;
                  "profile": the path that begins the name of a file with the time of each node (JSON, in Chrome's
                  trace format), which is written when the session is deleted

    Raises RuntimeError with the runtime's message if it rejects the model.
    """

    def __cinit__(self):
        self._handle = NULL
        self._ports = NULL
        self._names = NULL

    def __init__(self, bytes model, inputs, outputs, *, initializers=None, options=None):
        cdef void *settings = NULL
        if API == NULL:
            raise RuntimeError("ONNX Runtime is not attached yet: call attach(path) first")
        if self._handle != NULL:
            raise RuntimeError("a session is made once")
        options = options or {}
        self._keep = [dict(initializers or {})]
        self._declare(list(inputs), list(outputs))
        check(ort_create_session_options(API, &settings))
        try:
            _apply(settings, options)
            if initializers:
                _share(settings, self._keep[0], self._keep)
            self._create(model, settings)
        finally:
            ort_release_session_options(API, settings)

    cdef int _create(self, bytes model, void *settings) except -1:
        cdef const char *data = PyBytes_AS_STRING(model)
        cdef size_t size = PyBytes_GET_SIZE(model)
        cdef ort_status status
        enter()
        with nogil:
            status = ort_create_session(API, ENV, data, size, settings, &self._handle)
        leave()
        return check(status)

    cdef int _declare(self, list inputs, list outputs) except -1:
        """Fills the ports, the C descriptions of inputs and outputs."""
        cdef int i, j
        cdef Port *port
        ports = inputs + outputs
        self._n_in = len(inputs)
        self._n_out = len(outputs)
        self._ports = <Port *>PyMem_Calloc(len(ports) + 1, sizeof(Port))
        self._names = <const char **>PyMem_Calloc(len(ports) + 1, sizeof(char *))
        if self._ports == NULL or self._names == NULL:
            raise MemoryError()
        self._descrs = []
        for i, (name, element, shape) in enumerate(ports):
            descr = ELEMENTS.get(element)
            if descr is None:
                raise RuntimeError(f"{name} has ONNX element type {element}, which no array can hold")
            raw = name.encode()
            self._keep.append(raw)
            port = &self._ports[i]
            port.name = self._names[i] = PyBytes_AS_STRING(raw)
            port.element = element
            port.typenum = ONAX_TYPENUM(descr)
            port.rank = len(shape)
            port.known = True
            port.shape = <int64_t *>PyMem_Calloc(port.rank + 1, sizeof(int64_t))
            if port.shape == NULL:
                raise MemoryError()
            for j, d in enumerate(shape):
                port.shape[j] = d if isinstance(d, int) else -1
                port.known = port.known and port.shape[j] >= 0
            if i >= self._n_in:
                self._descrs.append(descr)
        return 0

    def __dealloc__(self):
        cdef int i
        cdef void *handle = self._handle
        if handle != NULL and not _locked:
            with nogil:
                ort_release_session(API, handle)
        if self._ports != NULL:
            for i in range(self._n_in + self._n_out):
                PyMem_Free(self._ports[i].shape)
            PyMem_Free(self._ports)
        PyMem_Free(self._names)

    cpdef list run(self, object arrays):
        """Runs the model on ndarrays of the declared types; returns new ndarrays.

        Inputs that are not C-contiguous are copied, all others are read in place.
        Raises TypeError for an array of another type or shape, RuntimeError with the runtime's message if it fails.
        """
        cdef void *on_stack[ON_STACK]
        cdef void **values = on_stack
        cdef int total = self._n_in + self._n_out
        cdef int i
        cdef void *value
        cdef ort_status status
        cdef cnp.ndarray a
        cdef list held
        cdef tuple given = tuple(arrays)
        cdef list results = []
        cdef Port *port
        cdef cnp.dtype descr
        if self._handle == NULL:
            raise RuntimeError("the session was not made")
        if len(given) != self._n_in:
            raise TypeError(f"the model takes {self._n_in} arrays, not {len(given)}")
        if total > ON_STACK:
            values = <void **>PyMem_Calloc(total, sizeof(void *))
            if values == NULL:
                raise MemoryError()
        for i in range(total):
            values[i] = NULL
        held = []
        try:
            for i in range(self._n_in):
                a = self._accept(i, given[i])
                held.append(a)
                values[i] = host_tensor(a, self._ports[i].element)
            for i in range(self._n_out):
                port = &self._ports[self._n_in + i]
                if not port.known:
                    results.append(None)
                    continue
                descr = <cnp.dtype>self._descrs[i]
                a = empty_array(descr, port.rank, <cnp.npy_intp *>port.shape)
                results.append(a)
                values[self._n_in + i] = host_tensor(a, port.element)
            enter()
            with nogil:
                status = ort_run(API, self._handle, self._names, values, self._n_in, self._names + self._n_in,
                                 self._n_out, values + self._n_in)
            leave()
            check_run(status)
            for i in range(self._n_out):
                if results[i] is None:
                    # _result takes the value, whether it raises or not
                    value = values[self._n_in + i]
                    values[self._n_in + i] = NULL
                    results[i] = _result(value, <cnp.dtype>self._descrs[i])
            return results
        finally:
            for i in range(total):
                if values[i] != NULL:
                    ort_release_value(API, values[i])
            if values != on_stack:
                PyMem_Free(values)

    cdef cnp.ndarray _accept(self, int i, object x):
        """An input as an array the runtime can read in place."""
        cdef Port *port = &self._ports[i]
        cdef cnp.ndarray a
        cdef int j
        cdef bint fits
        if not cnp.PyArray_Check(x):
            raise TypeError(f"input {port.name.decode()} must be a numpy.ndarray, not {type(x).__name__}")
        a = <cnp.ndarray>x
        fits = cnp.PyArray_TYPE(a) == port.typenum and cnp.PyArray_NDIM(a) == port.rank and ONAX_NOT_SWAPPED(a)
        if fits:
            for j in range(port.rank):
                if port.shape[j] >= 0 and port.shape[j] != cnp.PyArray_DIMS(a)[j]:
                    fits = False
        if not fits:
            dims = [port.shape[j] if port.shape[j] >= 0 else "?" for j in range(port.rank)]
            raise TypeError(f"input {port.name.decode()} must be {ELEMENTS[port.element]}{dims}, "
                            f"not {a.dtype}{list((<object>a).shape)}")
        return a if cnp.PyArray_IS_C_CONTIGUOUS(a) else cnp.PyArray_GETCONTIGUOUS(a)


cdef int _apply(void *settings, options) except -1:
    """Session options.  All sessions share the global thread pool."""
    check(ort_use_global_threads(API, settings))
    check(ort_set_optimization(API, settings, options.get("optimization", 1)))
    if not options.get("memory_pattern", False):  # a pattern allocates the whole need once more, beside what is kept
        check(ort_disable_memory_pattern(API, settings))
    if not options.get("arena", True):
        check(ort_disable_cpu_arena(API, settings))
    elif options.get("provider", "cpu") == "cpu":
        check(ort_add_config(API, settings, b"session.use_env_allocators", b"1"))
    if options.get("operators", False):
        check(ort_add_domain(API, settings, DOMAIN))
    path = options.get("save_optimized")
    if path is not None:
        raw = path.encode()
        check(ort_save_optimized(API, settings, PyBytes_AS_STRING(raw)))
    prefix = options.get("profile")
    if prefix is not None:
        raw = prefix.encode()
        check(ort_enable_profiling(API, settings, PyBytes_AS_STRING(raw)))
    for key, text in options.get("config", {}).items():
        key, text = key.encode(), text.encode()
        check(ort_add_config(API, settings, PyBytes_AS_STRING(key), PyBytes_AS_STRING(text)))
    provider = options.get("provider", "cpu")
    if provider == "cuda":
        _append_cuda(settings, options.get("provider_options", {}))
    elif provider != "cpu":
        raise ValueError(f"unknown provider {provider!r}: 'cpu' or 'cuda'")
    return 0


cdef int _append_cuda(void *settings, dict given) except -1:
    """Puts CUDA's provider before the CPU's; RuntimeError with the runtime's message if it cannot be loaded."""
    cdef void *cuda = NULL
    check(ort_create_cuda_options(API, &cuda))
    try:
        _set_cuda(cuda, given)
        check(ort_append_cuda(API, settings, cuda))
    finally:
        ort_release_cuda_options(API, cuda)
    return 0


cdef int _set_cuda(void *cuda, dict given) except -1:
    """Sets options of CUDA's provider, in one call: each call gives the options that it does not name their defaults."""
    cdef size_t n = len(given)
    cdef const char **texts = <const char **>PyMem_Calloc(2 * n + 1, sizeof(char *))
    cdef size_t i
    if texts == NULL:
        raise MemoryError()
    try:
        held = [(str(key).encode(), str(text).encode()) for key, text in given.items()]
        for i in range(n):
            texts[i], texts[n + i] = PyBytes_AS_STRING(held[i][0]), PyBytes_AS_STRING(held[i][1])
        check(ort_update_cuda_options(API, cuda, texts, texts + n, n))
    finally:
        PyMem_Free(texts)
    return 0


def cuda_options_text(given):
    """The options that CUDA's provider would get for a dictionary of them, as the runtime's text `key=value;...`."""
    cdef void *cuda = NULL
    cdef void *allocator = NULL
    cdef char *text = NULL
    check(ort_default_allocator(API, &allocator))
    check(ort_create_cuda_options(API, &cuda))
    try:
        _set_cuda(cuda, given)
        check(ort_cuda_options_text(API, cuda, allocator, &text))
        return (<bytes>text).decode()
    finally:
        if text != NULL:
            ort_allocator_free(API, allocator, text)
        ort_release_cuda_options(API, cuda)


cdef int _share(void *settings, dict initializers, list keep) except -1:
    """Passes constants by reference; objects that must live as long as the session are appended to `keep`.

    Two calls for each: the first has the session read our memory when it runs, the second lets it fold constants
    while it optimises (measured: either alone copies the tensor, or fails to load).
    """
    cdef const char *name
    cdef _Memory memory
    for key, array in initializers.items():
        element = ELEMENT_TYPES.get(array.dtype)
        if element is None or not array.flags.c_contiguous:
            raise TypeError(f"constant {key} must be a C-contiguous array of an ONNX element type, not {array.dtype}")
        raw = key.encode()
        memory = _Memory.__new__(_Memory)
        memory.value = host_tensor(array, element)
        keep += (raw, memory)
        name = PyBytes_AS_STRING(raw)
        check(ort_add_initializer(API, settings, name, memory.value))
        check(ort_add_external_initializers(API, settings, &name, &memory.value, 1))
    return 0
