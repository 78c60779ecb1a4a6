# The bytes by which compiled functions are looked up.

cpdef bytes signature(leaves)       # None when some leaf is a tracer or no array at all
