# Source locations in users' programs.

cdef bint called_from_inside() except -1    # whether the innermost Python frame of this thread is one of onax
cpdef user_location()                       # a SourceInfo, or None
