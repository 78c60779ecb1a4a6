cdef tuple sorted_keys(dict d)
