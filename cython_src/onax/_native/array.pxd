# Array: the public base class.  ArrayImpl: a value in memory.

cimport numpy as cnp
from cpython.ref cimport PyObject

from onax._native.avals cimport ShapedArray
from onax._native.device_buffers cimport DeviceBuffer
from onax._native.memory cimport Link

cdef class Array:
    pass

cdef class ArrayImpl(Array):
    cdef cnp.ndarray buf        # the elements on the host, never writable; None if they are elsewhere, or deleted
    cdef DeviceBuffer resident  # the elements in the memory of its device; None if they are on the host alone
    cdef object _dtype          # logical: an np.dtype, or an extended dtype whose storage dtype `buf` has
    cdef bint weak              # the dtype is weak
    cdef bint placed            # placed by the user: operations on it run where it is
    cdef object dev             # its device; None = the first local device
    cdef ShapedArray _aval      # made when asked for
    cdef tuple shards           # None, or ((device, ndarray), ...) of an array over several devices
    cdef object shd             # the sharding, when one was stated or made
    cdef Link link              # in the list of all arrays
    cdef object __weakref__

# Evaluates a primitive on one or two (y None: one) buffers of one dtype; `foreign`: the user can write to one of them.
# Gives NotImplemented when the general path must be taken.  dispatch, which imports this module, assigns it.
ctypedef object (*operator_evaluator)(PyObject *primitive, cnp.ndarray x, cnp.ndarray y, bint weak_x, bint weak_y,
                                      object device, bint committed, bint foreign)
cdef void set_operator_evaluator(operator_evaluator f) noexcept

cdef ArrayImpl wrap(object result, object dtype, bint weak, object device, bint committed)
cdef ArrayImpl wrap_plain(object result, bint weak, object device, bint committed)
cdef ArrayImpl wrap_resident(DeviceBuffer buffer, object dtype, bint weak, object device, bint committed)
cdef ArrayImpl wrap_like(ArrayImpl x, bint weak, object device, bint committed)   # the same elements, wherever they are
cdef ArrayImpl wrap_spanning(tuple shards, object sharding, ShapedArray aval)
cdef bint is_spanning(ArrayImpl x)
cdef cnp.ndarray buffer_of(ArrayImpl x)                   # on the host; raises RuntimeError when x was deleted
cdef object storage_dtype(object dtype)                   # of the elements of an array of this dtype
cdef object device_of(ArrayImpl x)
