# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Programs over blocks: many elementwise operations in one pass over memory.

    OPERATIONS, TYPES   what a program may say: operations by name, dtypes and their numbers
    Program             the words of a program (blocks_kernels.h), verified; called with ndarrays

The same program runs here, on the calling thread, and inside ONNX Runtime as the operator `onax.Fused`, over its
threads.
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int8_t, int64_t

from onax._native.ort cimport add_operator

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type

cdef extern from "blocks_kernels.h" nogil:
    enum:
        ONAX_TYPES
    const long long ONAX_PROGRAM_MAGIC
    ctypedef struct onax_operation:
        const char *name
        char signature
        int8_t target
        float cost[2]
        void *kernels[7]
    const onax_operation onax_operations[]
    const int onax_operation_count
    const int onax_type_sizes[7]
    const char *onax_program_read(const int64_t *, size_t, onax_program **)
    void onax_program_free(onax_program *)
    int onax_program_inputs(const onax_program *)
    int onax_program_outputs(const onax_program *)
    int onax_program_type(const onax_program *, int)
    int64_t onax_program_elements(const onax_program *, int)
    double onax_program_work(const onax_program *)
    int onax_program_run(const onax_program *, const void **, void **, onax_parallel, void *)
    const void *onax_fused()

add_operator(onax_fused())

MAGIC = ONAX_PROGRAM_MAGIC
cdef double QUICK = 10e3     # nanoseconds of work for which the interpreter is not given to other threads

# dtype -> its number, in the order of onax_type
TYPES = {np.dtype(t): i for i, t in enumerate((np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64,
                                               np.bool_))}
cdef list _dtypes = list(TYPES)

# How the positions of a loop reach a register, in the order of onax_register_kind
BLOCK, DIRECT, LOAD, IOTA, CONSTANT = range(5)


@cython.final
cdef class Operation:
    """One operation: its number, its signature (see blocks_kernels.h) and the dtypes it is there for."""

    cdef readonly int number
    cdef readonly str name
    cdef readonly str signature
    cdef readonly frozenset dtypes
    cdef readonly float cost          # nanoseconds an element, of vector code

    def __repr__(self):
        return f"Operation({self.name})"


cdef dict _read_table():
    cdef int i, j
    cdef Operation o
    table = {}
    for i in range(onax_operation_count):
        o = Operation.__new__(Operation)
        o.number = i
        o.name = (<bytes>onax_operations[i].name).decode()
        o.signature = chr(onax_operations[i].signature)
        o.cost = onax_operations[i].cost[0]
        o.dtypes = frozenset([_dtypes[j] for j in range(ONAX_TYPES) if onax_operations[i].kernels[j] != NULL])
        table[o.name] = o
    return table


OPERATIONS = _read_table()


cdef const char *program_read(const int64_t *words, size_t count, onax_program **program) noexcept nogil:
    return onax_program_read(words, count, program)


cdef void program_free(onax_program *program) noexcept nogil:
    onax_program_free(program)


cdef int program_inputs(const onax_program *program) noexcept nogil:
    return onax_program_inputs(program)


cdef int program_outputs(const onax_program *program) noexcept nogil:
    return onax_program_outputs(program)


cdef int64_t program_bytes(const onax_program *program, int buffer) noexcept nogil:
    return onax_program_elements(program, buffer) * onax_type_sizes[onax_program_type(program, buffer)]


cdef int program_run(const onax_program *program, const void **inputs, void **outputs, onax_parallel parallel,
                     void *where) noexcept nogil:
    return onax_program_run(program, inputs, outputs, parallel, where)


@cython.final
cdef class Program:
    """A verified program.

    words    the program, as integers
    shapes   the shape of each result

    Calling it with a list of ndarrays, C-contiguous or not, gives a list of new ones.  ValueError for words that are no
    program or could leave their buffers, and for shapes that do not fit; TypeError for arrays of other types or sizes.
    """

    cdef onax_program *handle
    cdef readonly int n_in
    cdef readonly int n_out
    cdef int *types                  # NumPy's type numbers, of inputs and outputs
    cdef int64_t *elements
    cdef list descrs                 # dtypes of the outputs
    cdef list shapes
    cdef object __weakref__

    def __init__(self, words, shapes):
        cdef cnp.ndarray flat = np.ascontiguousarray(words, np.int64).reshape(-1)
        cdef const char *fault
        cdef int i, n
        if self.handle != NULL:
            raise ValueError("a program is made once")
        fault = onax_program_read(<const int64_t *>cnp.PyArray_DATA(flat), cnp.PyArray_SIZE(flat), &self.handle)
        if fault != NULL:
            raise ValueError(f"not a program over blocks: {fault.decode()}")
        self.n_in = onax_program_inputs(self.handle)
        self.n_out = onax_program_outputs(self.handle)
        n = self.n_in + self.n_out
        self.types = <int *>PyMem_Malloc((n + 1) * sizeof(int))
        self.elements = <int64_t *>PyMem_Malloc((n + 1) * sizeof(int64_t))
        if self.types == NULL or self.elements == NULL:
            raise MemoryError()
        self.descrs, self.shapes = [], [tuple(s) for s in shapes]
        for i in range(n):
            descr = <cnp.dtype>_dtypes[onax_program_type(self.handle, i)]
            self.types[i] = descr.num
            self.elements[i] = onax_program_elements(self.handle, i)
            if i >= self.n_in:
                self.descrs.append(descr)
        if [int(np.prod(s, dtype=np.int64)) for s in self.shapes] != [self.elements[self.n_in + i]
                                                                      for i in range(self.n_out)]:
            raise ValueError(f"results of shapes {self.shapes} have other sizes than the program's")

    def __dealloc__(self):
        onax_program_free(self.handle)
        PyMem_Free(self.types)
        PyMem_Free(self.elements)

    @property
    def work(self):
        """Nanoseconds that one thread is guessed to need."""
        return onax_program_work(self.handle)

    def __call__(self, list arrays):
        cdef const void *few[256]
        cdef const void **pointers = few
        cdef int i, failed
        cdef int n = self.n_in + self.n_out
        cdef list held = []
        cdef list results = []
        cdef cnp.ndarray a
        if len(arrays) != self.n_in:
            raise TypeError(f"the program takes {self.n_in} arrays, not {len(arrays)}")
        if n > 256:
            pointers = <const void **>PyMem_Malloc(n * sizeof(void *))
            if pointers == NULL:
                raise MemoryError()
        try:
            for i in range(self.n_in):
                a = self.accept(i, arrays[i])
                held.append(a)
                pointers[i] = cnp.PyArray_DATA(a)
            for i in range(self.n_out):
                a = fresh(<cnp.dtype>self.descrs[i], <tuple>self.shapes[i])
                results.append(a)
                pointers[self.n_in + i] = cnp.PyArray_DATA(a)
            if onax_program_work(self.handle) < QUICK:
                failed = onax_program_run(self.handle, pointers, <void **>(pointers + self.n_in), NULL, NULL)
            else:
                with nogil:
                    failed = onax_program_run(self.handle, pointers, <void **>(pointers + self.n_in), NULL, NULL)
            if failed:
                raise MemoryError()
        finally:
            if pointers != few:
                PyMem_Free(pointers)
        return results

    cdef cnp.ndarray accept(self, int i, object x):
        cdef cnp.ndarray a
        if not cnp.PyArray_Check(x):
            raise TypeError(f"operand {i} must be a numpy.ndarray, not {type(x).__name__}")
        a = <cnp.ndarray>x
        if not (cnp.PyArray_TYPE(a) == self.types[i] or same_width(cnp.PyArray_TYPE(a), self.types[i])) or (
                cnp.PyArray_SIZE(a) != self.elements[i]):
            raise TypeError(f"operand {i} must have {self.elements[i]} elements of NumPy's type {self.types[i]}, not "
                            f"{a.dtype}{list((<object>a).shape)}")
        return a if cnp.PyArray_ISCARRAY_RO(a) else np.require(a, a.dtype.newbyteorder("="), "CA")


cdef inline bint same_width(int given, int wanted) noexcept:
    """Whether two of NumPy's numbers stand for the same integers: `long` and `long long` may be one type."""
    if sizeof(long) == 8:
        return ((given == cnp.NPY_LONGLONG and wanted == cnp.NPY_LONG)
                or (given == cnp.NPY_ULONGLONG and wanted == cnp.NPY_ULONG))
    return ((given == cnp.NPY_LONG and wanted == cnp.NPY_INT)
            or (given == cnp.NPY_ULONG and wanted == cnp.NPY_UINT))


cdef cnp.ndarray fresh(cnp.dtype descr, tuple shape):
    """An array whose elements are not set."""
    cdef cnp.npy_intp dims[64]
    cdef int i, rank = <int>len(shape)
    for i in range(rank):
        dims[i] = shape[i]
    Py_INCREF(descr)
    return <cnp.ndarray>PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims, NULL, NULL, 0, NULL)
