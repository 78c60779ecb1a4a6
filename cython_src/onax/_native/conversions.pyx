"""Conversions of arrays to Python values, text, ndarrays and DLPack capsules, and back.

NumPy does the work.  This module adds the dtypes that NumPy does not know (bfloat16 and the like have DLPack types of
their own) and the rule that nobody gets memory that they could write to.
"""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from onax._native.buffers cimport is_extended

cnp.import_array()

IN_SEVERAL_PROCESSES = (  # the error for who asks for the elements of an array that lies in several processes
    "Fetching value for `jax.Array` that spans non-addressable (non process local) devices is not possible. You can "
    "use `jax.experimental.multihost_utils.process_allgather` to print the global array or use `.addressable_shards` "
    "method of jax.Array to inspect the addressable (process local) shards."
)

# ---- Python values -------------------------------------------------------------------------------------------------


cdef cnp.ndarray plain_buffer(cnp.ndarray buffer, object dtype, str function):
    """The buffer, if its elements are numbers."""
    if is_extended(dtype):
        raise TypeError(f"{function} is not supported for arrays of dtype {dtype}; use onax.random.key_data(arr)")
    return buffer


cdef bint truth(cnp.ndarray buffer, object dtype) except -1:
    if is_extended(dtype):
        raise TypeError("key array cannot be converted to boolean.")
    if cnp.PyArray_SIZE(buffer) == 1:
        return bool(buffer.item())
    if cnp.PyArray_SIZE(buffer) == 0:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array "
                         "is not empty.")
    raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")


cdef object python_scalar(cnp.ndarray buffer, object dtype, str kind):
    """The element of a 0-d array as a Python scalar."""
    if is_extended(dtype):
        raise TypeError(f"{kind}() argument must be a number, not an array of dtype {dtype}")
    if cnp.PyArray_NDIM(buffer) != 0:
        raise TypeError(
            f"Only scalar arrays can be converted to Python scalars; got arr.ndim={cnp.PyArray_NDIM(buffer)}"
        )
    return buffer.item()


cdef object index_value(cnp.ndarray buffer, object dtype):
    if cnp.PyArray_NDIM(buffer) != 0 or is_extended(dtype) or not _is_integer(dtype):
        raise TypeError("Only integer scalar arrays can be converted to a scalar index.")
    return int(buffer.item())


cdef bint _is_integer(object dtype) except -1:
    return dtype.kind in "iu" or (dtype.kind == "V" and dtype.names is None and "int" in dtype.name)


cdef object numpy_array(cnp.ndarray buffer, object own_dtype, object dtype, object copy):
    """What `__array__` gives: a read-only view, or a copy where one is asked for or the dtype differs."""
    if is_extended(own_dtype):
        raise TypeError("JAX array with PRNGKey dtype cannot be converted to a NumPy array. Use "
                        "jax.random.key_data(arr) if you wish to extract the underlying integer array.")
    view = buffer.view()
    if dtype is not None and np.dtype(dtype) != view.dtype:
        return np.array(view, dtype=dtype, copy=False) if copy is not None and not copy else view.astype(dtype)
    return view.copy() if copy else view


# ---- text ----------------------------------------------------------------------------------------------------------


cdef object physical(cnp.ndarray buffer, object dtype):
    """The elements of an extended dtype as what they are made of: logical shape + element shape."""
    whole = np.asarray(buffer, order="C")
    return whole.view(np.uint8).view(dtype.element_dtype).reshape(whole.shape + tuple(dtype.element_shape)) \
        if whole.ndim else np.frombuffer(whole.tobytes(), dtype.element_dtype).reshape(dtype.element_shape)


cdef str array_repr(cnp.ndarray buffer, object dtype, bint weak):
    """`Array([1., 2.], dtype=float32)`; a weak dtype and the shape of an empty array are stated."""
    shape = (<object>buffer).shape
    if is_extended(dtype):
        return f"Array({shape}, dtype={dtype}) overlaying:\n{physical(buffer, dtype)}"
    tail = f"dtype={dtype.name}, weak_type=True)" if weak else f"dtype={dtype.name})"
    if cnp.PyArray_SIZE(buffer) == 0:
        return f"Array([], shape={shape}, {tail}"
    width = np.get_printoptions()["linewidth"]
    body = np.array2string(buffer, prefix="Array(", suffix=",", separator=", ", max_line_width=width)
    last = len(body) - (body.rfind("\n") + 1) + 1
    gap = " " if last + len(tail) + 1 <= width else " " * len("Array(")
    return f"Array({body},{gap}{tail}"


cdef str array_str(cnp.ndarray buffer, object dtype):
    if is_extended(dtype):
        return array_repr(buffer, dtype, False)
    return str((<object>buffer)[()])


cdef object array_format(cnp.ndarray buffer, object dtype, str spec):
    """A number is formatted as NumPy's is, a float32 thus as the float64 of its value; other arrays take no format."""
    if cnp.PyArray_NDIM(buffer) == 0 and not is_extended(dtype):
        return format((<object>buffer)[()], spec)
    if spec:
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
    return array_str(buffer, dtype)


# ---- DLPack --------------------------------------------------------------------------------------------------------

cdef extern from *:
    """
    #include <stdint.h>
    typedef struct { int32_t type, id; } OnaxDLDevice;
    typedef struct { uint8_t code, bits; uint16_t lanes; } OnaxDLType;
    typedef struct {
        void *data; OnaxDLDevice device; int32_t ndim; OnaxDLType dtype; int64_t *shape, *strides; uint64_t offset;
    } OnaxDLTensor;
    typedef struct { OnaxDLTensor tensor; void *context, *deleter; } OnaxDLManaged;
    typedef struct {
        struct { uint32_t major, minor; } version; void *context, *deleter; uint64_t flags; OnaxDLTensor tensor;
    } OnaxDLVersioned;
    """
    ctypedef struct OnaxDLType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct OnaxDLTensor:
        OnaxDLType dtype
    ctypedef struct OnaxDLManaged:
        OnaxDLTensor tensor
    ctypedef struct OnaxDLVersioned:
        uint64_t flags
        OnaxDLTensor tensor

cdef enum:
    DL_UINT = 1

# ml_dtypes by name -> DLPack's type code (bits as in the dtype); NumPy exports none of them.
cdef dict _DL_CODES = {
    "bfloat16": 4, "float8_e3m4": 7, "float8_e4m3": 8, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
}


cdef OnaxDLTensor* _tensor(object capsule) except NULL:
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        return &(<OnaxDLVersioned *>PyCapsule_GetPointer(capsule, b"dltensor_versioned")).tensor
    return &(<OnaxDLManaged *>PyCapsule_GetPointer(capsule, b"dltensor")).tensor


cdef object dlpack_export(cnp.ndarray buffer, object version, object device, object copy):
    """A capsule over the elements: the same memory, marked read-only, for consumers of DLPack 1.0 or later.

    Older consumers cannot be told that memory is read-only; they get a copy, or BufferError with `copy=False`.
    """
    if device is not None and tuple(device) != (1, 0):
        raise BufferError(f"the array is on DLPack device (1, 0); it cannot be exported to {tuple(device)}")
    name = buffer.dtype.name
    code = _DL_CODES.get(name)
    if buffer.dtype.kind == "V" and code is None:
        raise BufferError(f"DLPack has no type for {name}")
    source = buffer if code is None else (<object>buffer).view(f"u{buffer.dtype.itemsize}")
    if version is None or version[0] < 1:
        if copy is False:
            raise BufferError("without a copy, read-only memory can be exported only with max_version=(1, 0) or later")
        source = np.array(source)
        copy = None
    else:
        source = source.view()
    # Arguments that are not stated are left out: NumPy learned some of them late.
    keywords = {key: value for key, value in (("max_version", version), ("copy", copy)) if value is not None}
    capsule = source.__dlpack__(**keywords)
    if code is not None:
        _tensor(capsule).dtype.code = code
    return capsule


class _Source:
    """What np.from_dlpack reads: one capsule, made already."""

    def __init__(self, capsule, device):
        self.capsule = capsule
        self.device = device

    def __dlpack__(self, **ignored):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


cdef object _capsule_of(object x):
    try:
        return x.__dlpack__(max_version=(1, 0))
    except TypeError:   # written before DLPack 1.0: knows no such argument
        return x.__dlpack__()


cdef cnp.ndarray dlpack_import(object x, object copy):
    """The elements of any object with `__dlpack__`, as an ndarray over the same memory unless `copy` is true."""
    cdef OnaxDLTensor *tensor
    device = x.__dlpack_device__()
    if int(device[0]) not in (1, 3):    # CPU, pinned host memory
        raise BufferError(f"from_dlpack reads host memory only; the array is on DLPack device {tuple(device)}")
    capsule = _capsule_of(x)
    tensor = _tensor(capsule)
    dtype = None
    for name, code in _DL_CODES.items():
        if tensor.dtype.code == <int>code:
            dtype = np.dtype(name)
            tensor.dtype.code = DL_UINT
    array = np.from_dlpack(_Source(capsule, (1, 0)))
    if dtype is not None:
        array = array.view(dtype)
    return np.array(array) if copy else array
