# NumPy and Python values as ndarrays of the dtypes that arrays have.

cimport numpy as cnp

cdef bint is_extended(object dtype) noexcept              # not an np.dtype
cdef bint is_numpy(object x) noexcept                     # an ndarray or a NumPy scalar
cdef bint fits_integer(object value, long long *out) except -1  # a Python int: the default integer dtype
cdef cnp.ndarray scalar_buffer(object value, bint *weak)  # Python scalar -> 0-d ndarray; None for anything else
cdef cnp.ndarray scalar_like(object value, object dtype)  # the same in a given dtype; None when promotion is needed
cdef cnp.ndarray canonical(object x)                      # ndarray or NumPy scalar -> accepted dtype, maybe x itself
cdef bint shares_with_user(object x, cnp.ndarray converted) except -1   # `converted` = canonical(x) views user memory
cdef object invalid_value(object x)                       # the TypeError for what can be no array
