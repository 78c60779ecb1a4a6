# cython: boundscheck=False, wraparound=False
"""Pytrees: flattening, unflattening, tree structures, and the registry of container classes.

A structure is a preorder array of nodes.  Containers are tuple, list, dict, None, named tuples and registered
classes (`_core/trees.py` registers OrderedDict and defaultdict); everything else is a leaf, subclasses included.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_Check, PyTuple_New, PyTuple_SET_ITEM
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from onax._native.dict_keys cimport sorted_keys
from onax._native.hooks cimport hooks

cdef extern from "Python.h":
    int Py_EnterRecursiveCall(const char* where)
    void Py_LeaveRecursiveCall()
    PyObject* PyDict_GetItemRef "PyDict_GetItemWithError"(object d, object k) except? NULL

cdef enum:
    INLINE = 6
    CACHED = 64

cdef dict _registry = {}

# Types seen to be leaves, by address; each holds a reference, so an address cannot come to mean another type.
cdef PyObject* _leaf_types[CACHED]


cdef class Registration:
    """The functions that flatten and unflatten objects of one class."""

    def __init__(self, type, flatten, unflatten, flatten_with_keys=None, data_fields=None, meta_fields=None):
        self.type = type
        self.flatten = flatten
        self.unflatten = unflatten
        self.flatten_with_keys = flatten_with_keys
        self.data_fields = data_fields
        self.meta_fields = meta_fields


cdef inline PyObject* _type(object x) noexcept:
    return <PyObject*>(<PyObject*>x).ob_type


cdef inline object _or_none(PyObject* x):
    return None if x is NULL else <object>x


cdef inline int _enter(const char* where) except -1:
    return -1 if Py_EnterRecursiveCall(where) else 0  # a recursion that is too deep returns 1


cdef inline Py_ssize_t _slot(PyObject* t) noexcept:
    return <Py_ssize_t>((<size_t>t >> 5) % CACHED)


cdef void _forget_leaf_types() noexcept:
    cdef int i
    for i in range(CACHED):
        Py_XDECREF(_leaf_types[i])
        _leaf_types[i] = NULL


cdef int _kind_of(object x, PyObject** registration) except -1:
    """The kind of node x is; `registration` is set (borrowed) for registered classes."""
    cdef PyObject* t = _type(x)
    if t is <PyObject*>tuple:
        return TUPLE
    if t is <PyObject*>dict:
        return DICT
    if t is <PyObject*>list:
        return LIST
    if x is None:
        return NONE
    cdef Py_ssize_t slot = _slot(t)
    if _leaf_types[slot] is t:
        return LEAF
    cdef PyObject* entry = PyDict_GetItemRef(_registry, <object>t)
    if entry is not NULL:
        registration[0] = entry
        return CUSTOM if (<Registration>entry).data_fields is None else DATACLASS
    if PyTuple_Check(x) and hasattr(x, "_fields"):
        return NAMED
    Py_INCREF(<object>t)
    Py_XDECREF(_leaf_types[slot])
    _leaf_types[slot] = t
    return LEAF


_BAD_FLATTEN = "The to_iterable function for a custom PyTree node should return a (children, aux_data)"


cdef tuple _take_apart(Registration registration, object x):
    """(children as a tuple, data) of a registered object."""
    if registration.data_fields is not None:
        return (tuple([getattr(x, name) for name in registration.data_fields]),
                tuple([getattr(x, name) for name in registration.meta_fields]))
    return _checked_parts(registration.flatten(x))


cdef tuple _checked_parts(object parts):
    """What the flatten function of a user returned, with the children as a tuple."""
    if type(parts) is not tuple or len(<tuple>parts) != 2:
        raise ValueError(f"{_BAD_FLATTEN} tuple, got {parts!r}")
    children, data = <tuple>parts
    if type(children) is tuple:
        return <tuple>parts
    try:
        children = iter(children)
    except TypeError:
        raise ValueError(f"{_BAD_FLATTEN} tuple where 'children' is iterable, got {parts!r}") from None
    return (tuple(children), data)


cdef object _put_together(Registration registration, object data, tuple children):
    if registration.data_fields is None:
        return registration.unflatten(data, children)
    fields = dict(zip(registration.data_fields, children))
    fields.update(zip(registration.meta_fields, data))
    return registration.type(**fields)


@cython.final
@cython.freelist(32)
cdef class PyTreeDef:
    """The structure of a tree: everything but its leaves.  Immutable, hashable, compared by value."""

    def __cinit__(self):
        self.nodes = self.inline
        self.room = INLINE
        self.cached_hash = -1

    def __init__(self):
        raise TypeError("PyTreeDef has no constructor; tree_structure(tree) makes one.")

    def __dealloc__(self):
        if self.nodes is not self.inline:
            free(self.nodes)

    cdef Py_ssize_t push(self, int kind) except -1:
        """Appends a node without children and returns its position."""
        cdef Node* grown
        if self.size == self.room:
            grown = <Node*>malloc(2 * self.room * sizeof(Node)) if self.nodes is self.inline \
                else <Node*>realloc(self.nodes, 2 * self.room * sizeof(Node))
            if grown is NULL:
                raise MemoryError()
            if self.nodes is self.inline:
                memcpy(grown, self.nodes, self.size * sizeof(Node))
            self.nodes = grown
            self.room *= 2
        cdef Node* node = &self.nodes[self.size]
        node.kind = kind
        node.arity = 0
        node.leaves = 1 if kind == LEAF else 0
        node.nodes = 1
        node.type = NULL
        node.data = NULL
        self.size += 1
        return self.size - 1

    cdef int own(self, Py_ssize_t i, object type, object data) except -1:
        """Sets `type` and `data` of node i, and keeps them alive; None is stored as NULL."""
        if self.refs is None:
            self.refs = []
        if type is not None:
            self.refs.append(type)
            self.nodes[i].type = <PyObject*>type
        self.refs.append(data)
        self.nodes[i].data = <PyObject*>data
        return 0

    cdef void close(self, Py_ssize_t i, Py_ssize_t arity, Py_ssize_t leaves) noexcept:
        """Sets the numbers of children, leaves and nodes of node i after its children were appended."""
        cdef Node* node = &self.nodes[i]
        node.arity = arity
        node.leaves = leaves
        node.nodes = self.size - i

    cdef int add(self, object x, list leaves, object is_leaf) except -1:
        """Appends the nodes of x and its leaves."""
        cdef PyObject* registration = NULL
        cdef int kind = LEAF if is_leaf is not None and leaf_test_result(is_leaf(x)) else _kind_of(x, &registration)
        cdef Py_ssize_t i = self.push(kind)
        if kind == LEAF:
            leaves.append(x)
            return 0
        if kind == NONE:
            return 0
        _enter(" while flattening a pytree")
        try:
            self.add_children(i, kind, x, _or_none(registration), leaves, is_leaf)
        finally:
            Py_LeaveRecursiveCall()
        return 0

    cdef int add_children(self, Py_ssize_t i, int kind, object x, Registration registration, list leaves,
                          object is_leaf) except -1:
        cdef Py_ssize_t first = len(leaves), arity
        cdef PyObject* value
        cdef tuple keys, parts, children
        if kind == LIST:
            arity = len(<list>x)
            for child in <list>x:
                self.add(child, leaves, is_leaf)
        elif kind == DICT:
            keys = sorted_keys(<dict>x)
            arity = len(keys)
            self.own(i, None, keys)
            for key in keys:
                value = PyDict_GetItemRef(x, key)
                if value is NULL:
                    raise RuntimeError("a dictionary changed while it was flattened")
                self.add(<object>value, leaves, is_leaf)
        else:
            if kind == TUPLE:
                children = <tuple>x
            elif kind == NAMED:
                self.own(i, type(x), None)
                children = tuple(x)
            else:
                parts = _take_apart(registration, x)
                self.own(i, registration, parts[1])
                children = <tuple>parts[0]
            arity = len(children)
            for child in children:
                self.add(child, leaves, is_leaf)
        self.close(i, arity, len(leaves) - first)
        return 0

    cdef int copy(self, PyTreeDef other, Py_ssize_t start, Py_ssize_t n) except -1:
        """Appends n nodes of `other`."""
        cdef Py_ssize_t k, i
        cdef Node* node
        for k in range(start, start + n):
            i = self.push(LEAF)
            self.nodes[i] = other.nodes[k]
            node = &self.nodes[i]
            if node.data is not NULL:
                self.own(i, _or_none(node.type), <object>node.data)
        return 0

    cdef object make(self, Node* node, tuple children):
        """Builds the container that `node` describes from `children`."""
        cdef int kind = node.kind
        if kind == NONE:
            return None
        if kind == TUPLE:
            return children
        if kind == LIST:
            return list(children)
        if kind == DICT:
            return dict(zip(<tuple>node.data, children))
        if kind == NAMED:
            return (<object>node.type)(*children)
        return _put_together(<Registration>node.type, <object>node.data, children)

    cdef object grow(self, Py_ssize_t* i, list leaves, Py_ssize_t* at):
        """Builds the tree whose nodes start at i and leaves at `at`, and advances both past it."""
        cdef Node* node = &self.nodes[i[0]]
        cdef Py_ssize_t k, arity = node.arity
        cdef dict filled
        cdef tuple children
        i[0] += 1
        if node.kind == LEAF:
            at[0] += 1
            return leaves[at[0] - 1]
        if node.kind == NONE:
            return None
        _enter(" while unflattening a pytree")
        try:
            if node.kind == DICT:
                filled = {}
                for key in <tuple>node.data:
                    filled[key] = self.grow(i, leaves, at)
                return filled
            if node.kind == LIST:
                return [self.grow(i, leaves, at) for k in range(arity)]
            children = PyTuple_New(arity)
            for k in range(arity):
                child = self.grow(i, leaves, at)
                Py_INCREF(child)
                PyTuple_SET_ITEM(children, k, child)
            if node.kind == TUPLE:
                return children
            return self.make(node, children)
        finally:
            Py_LeaveRecursiveCall()

    cdef object build(self, list leaves):
        """The tree of this structure; `leaves` has exactly as many entries as the structure has leaves."""
        cdef Py_ssize_t i = 0, at = 0
        return self.grow(&i, leaves, &at)

    def unflatten(self, leaves, /):
        """The tree of this structure whose leaves are those of the iterable `leaves`, in order."""
        cdef list given = <list>leaves if type(leaves) is list else list(leaves)
        cdef Py_ssize_t want = self.nodes[0].leaves
        if len(given) < want:
            raise ValueError(f"Too few leaves for PyTreeDef; expected {want}, got {len(given)}")
        if len(given) > want:
            raise ValueError(f"Too many leaves for PyTreeDef; expected {want}.")
        return self.build(given)

    def flatten_up_to(self, tree):
        """The subtrees of `tree` where this structure has leaves; ValueError if the structure is not a prefix."""
        cdef list out = []
        cdef Py_ssize_t i = 0
        self.descend(&i, tree, out)
        return out

    cdef int descend(self, Py_ssize_t* i, object x, list out) except -1:
        cdef Node* node = &self.nodes[i[0]]
        cdef Py_ssize_t k
        i[0] += 1
        if node.kind == LEAF:
            out.append(x)
            return 0
        cdef tuple children = _children_of(node, x)
        for k in range(node.arity):
            self.descend(i, children[k], out)
        return 0

    @property
    def num_leaves(self):
        """Number of leaves."""
        return self.nodes[0].leaves

    @property
    def num_nodes(self):
        """Number of nodes, containers and leaves together."""
        return self.size

    def children(self):
        """The structures directly below the root, as a list."""
        cdef list out = []
        cdef PyTreeDef child
        cdef Py_ssize_t k, at = 1
        for k in range(self.nodes[0].arity):
            child = PyTreeDef.__new__(PyTreeDef)
            child.copy(self, at, self.nodes[at].nodes)
            out.append(child)
            at += self.nodes[at].nodes
        return out

    def node_data(self):
        """(type, data) of the root; None if it is a leaf."""
        return _node_data(&self.nodes[0])

    def compose(self, PyTreeDef inner not None, /):
        """This structure with every leaf replaced by `inner`."""
        cdef PyTreeDef out = PyTreeDef.__new__(PyTreeDef)
        cdef Py_ssize_t k
        cdef Node* node
        for k in range(self.size):
            if self.nodes[k].kind == LEAF:
                out.copy(inner, 0, inner.size)
                continue
            out.copy(self, k, 1)
            node = &out.nodes[out.size - 1]
            node.nodes += node.leaves * (inner.size - 1)
            node.leaves *= inner.nodes[0].leaves
        return out

    def walk(self, f_node, f_leaf, leaves, /):
        """Folds from the leaves up: f_leaf(leaf), then f_node(results of the children, data of the node)."""
        given = list(leaves)
        if len(given) != self.nodes[0].leaves:
            raise ValueError(f"walk needs {self.nodes[0].leaves} leaves, got {len(given)}")
        return _fold(self, iter(given), f_node, f_leaf)

    def from_iterable_tree(self, tree, /):
        """The tree of this structure, from one whose containers may be any iterables of children."""
        cdef Node* node = &self.nodes[0]
        if node.kind == LEAF:
            return tree
        given = () if tree is None and node.kind == NONE else tuple(tree)
        if len(given) != node.arity:
            raise ValueError(f"from_iterable_tree: expected {node.arity} children, got {len(given)}")
        return self.make(node, tuple([c.from_iterable_tree(x) for c, x in zip(self.children(), given)]))

    @staticmethod
    def from_node_data_and_children(registry, node_data, children):
        """A structure from (type, data) of its root, or None for a leaf, and the structures below it."""
        return _from_node_data(node_data, list(children))

    def serialize_using_proto(self):
        """The structure as a protocol buffer; ValueError for registered classes and keys that are not strings."""
        return hooks.serialize_structure(self)

    @staticmethod
    def deserialize_using_proto(registry, data):
        """The structure that `serialize_using_proto` wrote."""
        return hooks.deserialize_structure(registry, data)

    def __eq__(self, other):
        return isinstance(other, PyTreeDef) and (self is other or _equal(self, other))

    def __hash__(self):
        cdef Py_ssize_t k
        cdef size_t h = 0x345678
        cdef Node* node
        if self.cached_hash != -1:
            return self.cached_hash
        for k in range(self.size):
            node = &self.nodes[k]
            h = (h ^ <size_t>(node.kind + 31 * node.arity)) * 1000003 + (<size_t>node.type >> 4)
            if node.kind == DICT:  # data of registered classes need not be hashable
                h = h * 31 + <size_t>hash(<object>node.data)
        self.cached_hash = <Py_hash_t>(h if h != <size_t>-1 else 1)
        return self.cached_hash

    def __repr__(self):
        cdef Py_ssize_t i = 0
        return f"PyTreeDef({_text(self, &i)})"

    def __reduce__(self):
        """Pickles container classes by reference; unpickling looks them up in the registry of its process."""
        return PyTreeDef.from_node_data_and_children, (None, self.node_data(), self.children())


def _fold(treedef, leaves, f_node, f_leaf):
    data = treedef.node_data()
    if data is None:
        return next(leaves) if f_leaf is None else f_leaf(next(leaves))
    described = data[(<PyTreeDef>treedef).nodes[0].kind != NAMED]
    return f_node(tuple([_fold(child, leaves, f_node, f_leaf) for child in treedef.children()]), described)


cdef object _type_of(Node* node):
    if node.type is NULL:
        return None
    return <object>node.type if node.kind == NAMED else (<Registration>node.type).type


cdef object _node_data(Node* node):
    if node.kind == LEAF:
        return None
    if node.kind == NONE:
        return (type(None), None)
    if node.kind == DICT:
        return (dict, list(<tuple>node.data))
    if node.kind == TUPLE:
        return (tuple, None)
    if node.kind == LIST:
        return (list, None)
    return (_type_of(node), <object>node.data)


cdef bint _equal(PyTreeDef a, PyTreeDef b) except -1:
    cdef Py_ssize_t k
    cdef Node* x
    cdef Node* y
    if a.size != b.size:
        return False
    for k in range(a.size):
        x = &a.nodes[k]
        y = &b.nodes[k]
        if x.kind != y.kind or x.arity != y.arity or x.type is not y.type:
            return False
        if x.data is not y.data and not _equal_data(<object>x.data, <object>y.data):
            return False
    return True


cdef bint _equal_data(object one, object two) except -1:
    try:
        return bool(one == two)
    except Exception as error:
        raise ValueError(
            "Exception raised while checking equality of metadata fields of pytree. Metadata must be hashable and "
            f"compare as one bool, which arrays do not; the fields are {one!r} and {two!r}"
        ) from error


cdef str _text(PyTreeDef treedef, Py_ssize_t* i):
    cdef Node* node = &treedef.nodes[i[0]]
    cdef Py_ssize_t k
    i[0] += 1
    if node.kind == LEAF:
        return "*"
    if node.kind == NONE:
        return "None"
    cdef list parts = [_text(treedef, i) for k in range(node.arity)]
    cdef str inner = ", ".join(parts)
    if node.kind == TUPLE:
        return f"({inner},)" if node.arity == 1 else f"({inner})"
    if node.kind == LIST:
        return f"[{inner}]"
    if node.kind == DICT:
        return "{" + ", ".join([f"{key!r}: {part}" for key, part in zip(<tuple>node.data, parts)]) + "}"
    if node.kind == NAMED:
        return f"CustomNode(namedtuple[{(<object>node.type).__name__}], [{inner}])"
    return f"CustomNode({_type_of(node).__name__}[{<object>node.data}], [{inner}])"


cdef tuple _children_of(Node* node, object x):
    """The children of x; ValueError if its root does not match `node`."""
    cdef int kind = node.kind
    cdef tuple keys
    if kind == NONE:
        if x is not None:
            raise ValueError(f"Expected None, got {x}.\n\nNone is an empty container, no prefix of other values; "
                             "is_leaf=lambda x: x is None makes it a leaf.")
        return ()
    if kind == TUPLE:
        if type(x) is not tuple:
            raise ValueError(f"Expected tuple, got {x!r}.")
        if len(<tuple>x) != node.arity:
            raise ValueError(f"Tuple arity mismatch: {len(x)} != {node.arity}; tuple: {x!r}.")
        return <tuple>x
    if kind == LIST:
        if type(x) is not list:
            raise ValueError(f"Expected list, got {x!r}.")
        if len(<list>x) != node.arity:
            raise ValueError(f"List arity mismatch: {len(x)} != {node.arity}; list: {x!r}.")
        return tuple(<list>x)
    if kind == DICT:
        if type(x) is not dict:
            raise ValueError(f"Expected dict, got {x!r}.")
        keys = sorted_keys(<dict>x)
        if keys != <tuple>node.data:
            raise ValueError(f"Dict key mismatch; expected keys: {list(<tuple>node.data)}; present keys: {list(keys)}.")
        return tuple([(<dict>x)[key] for key in keys])
    if kind == NAMED:
        return _fields_of(node, x)
    return _parts_of(node, x)


cdef tuple _fields_of(Node* node, object x):
    if not (isinstance(x, tuple) and hasattr(x, "_fields")):
        raise ValueError(f"Expected named tuple, got {x!r}.")
    if _type(x) is not node.type:
        raise ValueError(f"Named tuple type mismatch: expected type: {<object>node.type}, tuple: {x!r}.")
    return tuple(x)


cdef tuple _parts_of(Node* node, object x):
    cdef Registration registration = <Registration>node.type
    cdef str what = "dataclass " if node.kind == DATACLASS else ""
    if type(x) is not registration.type:
        raise ValueError(f"Custom {what}node type mismatch: expected type: {registration.type}, value: {x!r}.")
    cdef tuple parts = _take_apart(registration, x)
    if not (parts[1] is <object>node.data or parts[1] == <object>node.data):
        raise ValueError(f"Mismatch custom {what}node data: {<object>node.data} != {parts[1]}; value: {x!r}.")
    if len(<tuple>parts[0]) != node.arity:
        raise ValueError(f"Custom type arity mismatch: {len(<tuple>parts[0])} != {node.arity}; value: {x!r}.")
    return <tuple>parts[0]


cdef int _open(PyTreeDef out, object type, object data) except -1:
    """Pushes the root node for (type, data); ValueError if `type` is not a container class."""
    if type is tuple:
        out.push(TUPLE)
    elif type is list:
        out.push(LIST)
    elif type is dict:
        out.own(out.push(DICT), None, tuple(data))
    elif type is None.__class__:
        out.push(NONE)
    elif type in _registry:
        registration = <Registration>_registry[type]
        out.own(out.push(CUSTOM if registration.data_fields is None else DATACLASS), registration, data)
    elif issubclass(type, tuple) and hasattr(type, "_fields"):
        out.own(out.push(NAMED), type, None)
    else:
        raise ValueError(f"{type} is not registered as a pytree node.")
    return 0


cdef PyTreeDef _from_node_data(object node_data, list children):
    cdef PyTreeDef out = PyTreeDef.__new__(PyTreeDef)
    cdef Py_ssize_t leaves = 0
    if node_data is None:
        out.push(LEAF)
        return out
    type, data = node_data
    _open(out, type, data)
    for child in children:
        out.copy(<PyTreeDef?>child, 0, (<PyTreeDef>child).size)
        leaves += (<PyTreeDef>child).nodes[0].leaves
    out.close(0, len(children), leaves)
    return out


# ---- functions for other compiled modules

cdef PyTreeDef flatten(object tree, list leaves, object is_leaf):
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(f"tree_flatten, tree_leaves, tree_structure: is_leaf is no function: {is_leaf!r}")
    cdef PyTreeDef out = PyTreeDef.__new__(PyTreeDef)
    out.add(tree, leaves, is_leaf)
    return out


cdef PyTreeDef flatten_call(tuple args, dict kwargs, list leaves):
    cdef PyTreeDef out = PyTreeDef.__new__(PyTreeDef)
    out.push(TUPLE)
    out.add(args, leaves, None)
    out.add({} if kwargs is None else kwargs, leaves, None)
    out.close(0, 2, len(leaves))
    return out


cdef bint matches_call(PyTreeDef treedef, tuple args, dict kwargs, list leaves) except -1:
    cdef Py_ssize_t i = 1
    if not _match(treedef, &i, args, leaves):
        return False
    if kwargs is None:
        return treedef.nodes[i].arity == 0
    return _match(treedef, &i, kwargs, leaves)


cdef bint matches(PyTreeDef treedef, object tree, list leaves) except -1:
    cdef Py_ssize_t i = 0
    return _match(treedef, &i, tree, leaves)


cdef bint _match(PyTreeDef treedef, Py_ssize_t* i, object x, list leaves) except -1:
    cdef Node* node = &treedef.nodes[i[0]]
    cdef PyObject* registration = NULL
    if _kind_of(x, &registration) != node.kind:
        return False
    i[0] += 1
    if node.kind == LEAF:
        leaves.append(x)
        return True
    if node.kind == NONE:
        return True
    _enter(" while flattening a pytree")
    try:
        return _match_children(treedef, i, node, x, registration, leaves)
    finally:
        Py_LeaveRecursiveCall()


cdef bint _match_children(PyTreeDef treedef, Py_ssize_t* i, Node* node, object x, PyObject* registration,
                          list leaves) except -1:
    """The known keys of a dict are looked up one by one, so nothing is sorted here."""
    cdef PyObject* value
    cdef tuple children, parts
    if node.kind == DICT:
        if len(<dict>x) != node.arity:
            return False
        for key in <tuple>node.data:
            value = PyDict_GetItemRef(<dict>x, key)
            if value is NULL or not _match(treedef, i, <object>value, leaves):
                return False
        return True
    if node.kind == LIST:
        if len(<list>x) != node.arity:
            return False
        for child in <list>x:
            if not _match(treedef, i, child, leaves):
                return False
        return True
    if node.kind == TUPLE:
        children = <tuple>x
    elif node.kind == NAMED:
        if _type(x) is not node.type:
            return False
        children = tuple(x)
    else:
        if registration is not node.type:
            return False
        parts = _take_apart(<Registration>registration, x)
        if not (parts[1] is <object>node.data or _equal_data(<object>node.data, parts[1])):
            return False
        children = <tuple>parts[0]
    if len(children) != node.arity:
        return False
    for child in children:
        if not _match(treedef, i, child, leaves):
            return False
    return True


# ---- functions

cpdef bint leaf_test_result(object result) except -1:
    """The result of `is_leaf`, as a bool."""
    if result is True or result is False or result is None:
        return result is True
    raise ValueError(f"is_leaf predicate returned a non-boolean value {result!r}; expected a boolean")


def tree_flatten(tree: object, is_leaf: object = None) -> tuple:
    """(list of the leaves, structure) of a tree; an x with `is_leaf(x)` true is a leaf."""
    cdef list leaves = []
    return leaves, flatten(tree, leaves, is_leaf)


def tree_unflatten(treedef: object, leaves: object) -> object:
    """The tree of structure `treedef` with these leaves."""
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(f"tree_unflatten: treedef must be a PyTreeDef, got {type(treedef)}")
    return treedef.unflatten(leaves)


def tree_leaves(tree: object, is_leaf: object = None) -> list:
    """The leaves of a tree, as a list."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: object, is_leaf: object = None) -> PyTreeDef:
    """The structure of a tree."""
    return flatten(tree, [], is_leaf)


def tree_map(f, tree, *rest, is_leaf=None):
    """The tree of f(leaf, *corresponding subtrees of rest)."""
    cdef list leaves = []
    cdef PyTreeDef treedef = flatten(tree, leaves, is_leaf)
    if not rest:
        return treedef.build([f(x) for x in leaves])
    return treedef.build(list(map(f, leaves, *[treedef.flatten_up_to(r) for r in rest])))


def is_tree_node(type):
    """Whether objects of exactly this class are containers."""
    return _is_registered(type) or (issubclass(type, tuple) and hasattr(type, "_fields"))


def registration_of(type):
    """The Registration of a class, or None."""
    return _registry.get(type)


def flatten_one_level(tree: object) -> tuple:
    """(children, data) of the root container; ValueError for a leaf."""
    cdef PyObject* registration = NULL
    cdef int kind = _kind_of(tree, &registration)
    if kind == LEAF:
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    if kind in (TUPLE, LIST, NONE):
        return () if kind == NONE else tree, None
    if kind == NAMED:
        return list(tree), type(tree)
    if kind == DICT:
        keys = sorted_keys(tree)
        return tuple([tree[key] for key in keys]), keys
    if (<Registration>registration).data_fields is not None:
        children, data = _take_apart(<Registration>registration, tree)
        return list(children), data
    parts = (<Registration>registration).flatten(tree)
    if type(parts) is tuple and len(<tuple>parts) == 2 and type((<tuple>parts)[0]) is list:
        return parts  # children stay a list, as in JAX
    return _checked_parts(parts)


cdef bint _is_registered(object type) except -1:
    return type in (tuple, list, dict, None.__class__) or type in _registry


def _register(Registration registration, str what):
    if _is_registered(registration.type):
        raise ValueError(f"Duplicate custom {what}PyTreeDef type registration for {registration.type}.")
    _registry[registration.type] = registration
    _forget_leaf_types()


def register_pytree_node(nodetype: object, flatten_func: object, unflatten_func: object,
                         flatten_with_keys_func: object = None) -> None:
    """Registers a class as a container.

    `flatten_func(x)` returns (children, data); `unflatten_func(data, children)` the inverse;
    `flatten_with_keys_func(x)`, optional, returns ((key, child) pairs, data).
    """
    for name, given in (("flatten_func", flatten_func), ("unflatten_func", unflatten_func)):
        if not callable(given):
            raise TypeError(f"register_pytree_node: {name} must be callable, got {given!r}.")
    _register(Registration(nodetype, flatten_func, unflatten_func, flatten_with_keys_func), "")


def register_dataclass_node(nodetype, data_fields, meta_fields):
    """Registers a class as a container whose children are attributes; `register_dataclass` checks the fields first."""
    _register(Registration(nodetype, None, None, None, tuple(data_fields), tuple(meta_fields)), "dataclass ")
