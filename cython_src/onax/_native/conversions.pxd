# Conversions of arrays to Python values, text, ndarrays and DLPack capsules, and back.

cimport numpy as cnp

cdef bint truth(cnp.ndarray buffer, object dtype) except -1
cdef object python_scalar(cnp.ndarray buffer, object dtype, str kind)       # kind: the function's name, for errors
cdef object index_value(cnp.ndarray buffer, object dtype)
cdef cnp.ndarray plain_buffer(cnp.ndarray buffer, object dtype, str function)   # refuses extended dtypes
cdef object numpy_array(cnp.ndarray buffer, object own_dtype, object dtype, object copy)
cdef object physical(cnp.ndarray buffer, object dtype)          # an extended dtype's elements as integers
cdef str array_repr(cnp.ndarray buffer, object dtype, bint weak)
cdef str array_str(cnp.ndarray buffer, object dtype)
cdef object array_format(cnp.ndarray buffer, object dtype, str spec)
cdef object dlpack_export(cnp.ndarray buffer, object version, object device, object copy)
cdef cnp.ndarray dlpack_import(object x, object copy)           # the ndarray may alias x's memory
