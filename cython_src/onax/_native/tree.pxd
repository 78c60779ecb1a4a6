"""Fields of the tree structures, for modules that flatten and unflatten without Python calls."""

cimport cython
from cpython.object cimport PyObject

cdef enum Kind:
    LEAF        # any object whose type is no container
    NONE        # None: a container of nothing
    TUPLE
    LIST
    DICT        # data: tuple of the keys, sorted
    NAMED       # type: the named-tuple class
    CUSTOM      # type: the Registration; data: what its flatten function gave beside the children
    DATACLASS   # as CUSTOM; data: tuple of the meta fields' values

cdef struct Node:
    int kind
    Py_ssize_t arity        # children
    Py_ssize_t leaves       # leaves of the subtree
    Py_ssize_t nodes        # nodes of the subtree, this one included
    PyObject* type          # borrowed; PyTreeDef.refs owns it
    PyObject* data          # borrowed; PyTreeDef.refs owns it

cdef class Registration:
    cdef readonly object type
    cdef readonly object flatten            # x -> (children, data)
    cdef readonly object unflatten          # (data, children) -> x
    cdef readonly object flatten_with_keys  # x -> ((key, child) ..., data), or None
    cdef readonly tuple data_fields         # of a dataclass, else None
    cdef readonly tuple meta_fields

@cython.final
cdef class PyTreeDef:
    cdef Node* nodes        # preorder
    cdef Py_ssize_t size    # nodes in use
    cdef Py_ssize_t room    # nodes allocated; INLINE while `nodes` points at `inline`
    cdef Node inline[6]     # small trees need no allocation
    cdef list refs          # owns what the nodes point at (so the garbage collector sees it)
    cdef Py_hash_t cached_hash

    cdef Py_ssize_t push(self, int kind) except -1
    cdef int own(self, Py_ssize_t i, object type, object data) except -1
    cdef void close(self, Py_ssize_t i, Py_ssize_t arity, Py_ssize_t leaves) noexcept
    cdef int add(self, object x, list leaves, object is_leaf) except -1
    cdef int add_children(self, Py_ssize_t i, int kind, object x, Registration registration, list leaves,
                          object is_leaf) except -1
    cdef int copy(self, PyTreeDef other, Py_ssize_t start, Py_ssize_t n) except -1
    cdef object make(self, Node* node, tuple children)
    cdef object grow(self, Py_ssize_t* i, list leaves, Py_ssize_t* at)
    cdef object build(self, list leaves)
    cdef int descend(self, Py_ssize_t* i, object x, list out) except -1

cdef PyTreeDef flatten(object tree, list leaves, object is_leaf)
# Flattens (args, kwargs) as one tuple would be; kwargs may be None for an empty dict.
cdef PyTreeDef flatten_call(tuple args, dict kwargs, list leaves)
# Appends the leaves of (args, kwargs) if their structure equals `treedef`; else gives False, the leaves being rubbish.
cdef bint matches_call(PyTreeDef treedef, tuple args, dict kwargs, list leaves) except -1
# The same for one tree.
cdef bint matches(PyTreeDef treedef, object tree, list leaves) except -1
