# How the elements of an array leave and enter: text and DLPack.

cimport numpy as cnp

cdef str array_repr(cnp.ndarray buffer, object dtype, bint weak)
cdef str array_str(cnp.ndarray buffer, object dtype)
cdef object dlpack_export(cnp.ndarray buffer, dict options)     # options as given to __dlpack__
cdef cnp.ndarray dlpack_import(object x, object copy)           # the ndarray may alias x's memory
cdef object physical(cnp.ndarray buffer, object dtype)          # an extended dtype's elements as integers
