# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Writes an ONNX ModelProto as bytes, without the onnx package.

    model_bytes(graph, ...)     the whole model
    ELEMENT_TYPES               NumPy dtype -> number of ONNX's element type

It reads any objects with these attributes (`onax.export.graph.value` has them):

    graph   inputs outputs: values; nodes; initializers: {name: value with an ndarray in .const}
    value   name; aval with dtype and shape (None: not stated; a dimension that is no int is symbolic, written as text)
    node    op_type domain name location; inputs: values or None; outputs: values; attributes: {name: int, float, str,
            bytes, ndarray (a tensor), graph, or a list or tuple of one of these; None: left out}

A message is written behind one byte for its length; if the length needs more, the message moves up when it is closed.
Numbers in the code are the field numbers of ONNX's .proto files, as (field << 3 | wire type).
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memmove

import ml_dtypes
import numpy as np

cnp.import_array()

ELEMENT_TYPES = {
    np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3, np.dtype(np.uint16): 4,
    np.dtype(np.int16): 5, np.dtype(np.int32): 6, np.dtype(np.int64): 7, np.dtype(np.bool_): 9,
    np.dtype(np.float16): 10, np.dtype(np.float64): 11, np.dtype(np.uint32): 12, np.dtype(np.uint64): 13,
    np.dtype(ml_dtypes.bfloat16): 16,
}
cdef dict _elements = ELEMENT_TYPES


@cython.final
cdef class _Writer:
    """A growing buffer, and the options that messages read."""

    cdef uint8_t *data
    cdef Py_ssize_t size
    cdef Py_ssize_t capacity
    cdef Py_ssize_t share_over     # constants of more bytes are written without data; -1: none are
    cdef dict shared               # those constants
    cdef object share_location     # the file that will contain them, each at a multiple of 64 bytes; None: no file
    cdef Py_ssize_t share_end      # the end of the last one in that file
    cdef object location_text         # location -> text of a node's doc_string, or None
    cdef object is_graph           # the class of graphs

    def __cinit__(self):
        self.capacity = 4096
        self.data = <uint8_t *>PyMem_Malloc(self.capacity)
        if self.data == NULL:
            raise MemoryError()

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int need(self, Py_ssize_t n) except -1:
        cdef uint8_t *data
        if self.size + n > self.capacity:
            self.capacity = 2 * (self.size + n)
            data = <uint8_t *>PyMem_Realloc(self.data, self.capacity)
            if data == NULL:
                raise MemoryError()
            self.data = data
        return 0

    cdef inline void varint(self, uint64_t x) noexcept:
        """The caller has reserved ten bytes."""
        while x > 127:
            self.data[self.size] = <uint8_t>(x | 128)
            self.size += 1
            x >>= 7
        self.data[self.size] = <uint8_t>x
        self.size += 1

    cdef int raw(self, int tag, const void *data, Py_ssize_t n) except -1:
        self.need(n + 12)
        self.varint(tag)
        self.varint(n)
        memcpy(self.data + self.size, data, n)
        self.size += n
        return 0

    cdef int text(self, int tag, object s) except -1:
        cdef Py_ssize_t n = 0
        cdef const char *data
        if isinstance(s, bytes):
            return self.raw(tag, PyBytes_AS_STRING(s), PyBytes_GET_SIZE(s))
        data = PyUnicode_AsUTF8AndSize(s, &n)
        return self.raw(tag, data, n)

    cdef int number(self, int tag, int64_t x) except -1:
        self.need(22)
        self.varint(tag)
        self.varint(<uint64_t>x)
        return 0

    cdef int real(self, int tag, float x) except -1:
        self.need(16)
        self.varint(tag)
        memcpy(self.data + self.size, &x, 4)
        self.size += 4
        return 0

    cdef Py_ssize_t open(self, int tag) except -1:
        """Starts a message; its result is the argument of `close`."""
        self.need(12)
        self.varint(tag)
        self.size += 1
        return self.size

    cdef int close(self, Py_ssize_t start) except -1:
        cdef Py_ssize_t n = self.size - start
        cdef Py_ssize_t more = 0
        cdef Py_ssize_t rest = n >> 7
        while rest:
            more += 1
            rest >>= 7
        if more:
            self.need(more)
            memmove(self.data + start + more, self.data + start, n)
        self.size = start - 1
        self.varint(n)
        self.size += n
        return 0


cdef int element_type(object dtype) except -1:
    number = _elements.get(dtype)
    if number is None:
        raise TypeError(f"ONNX has no element type for {dtype}")
    return number


cdef enum:
    SHARE_ALIGNMENT = 64


cdef int write_entry(_Writer w, str key, str value) except -1:
    """One key and value of a tensor's external_data."""
    cdef Py_ssize_t start = w.open(13 << 3 | 2)
    w.text(1 << 3 | 2, key)
    w.text(2 << 3 | 2, value)
    return w.close(start)


cdef int write_tensor(_Writer w, int tag, object name, object x) except -1:
    """A TensorProto; a large constant is written as its name, without its data."""
    cdef cnp.ndarray a = np.asarray(x, order="C")
    cdef Py_ssize_t start = w.open(tag)
    cdef int i
    for i in range(cnp.PyArray_NDIM(a)):
        w.number(1 << 3, cnp.PyArray_DIMS(a)[i])
    w.number(2 << 3, element_type(a.dtype))
    if name is not None:
        w.text(8 << 3 | 2, name)
    if name is not None and w.share_over >= 0 and cnp.PyArray_NBYTES(a) > w.share_over:
        write_entry(w, "location", "shared" if w.share_location is None else w.share_location)
        if w.share_location is not None:
            w.share_end += -w.share_end % SHARE_ALIGNMENT
            write_entry(w, "offset", str(w.share_end))
            write_entry(w, "length", str(cnp.PyArray_NBYTES(a)))
            w.share_end += cnp.PyArray_NBYTES(a)
        w.number(14 << 3, 1)
        w.shared[name] = a
    else:
        w.raw(9 << 3 | 2, cnp.PyArray_DATA(a), cnp.PyArray_NBYTES(a))
    return w.close(start)


cdef int write_value(_Writer w, int tag, object value) except -1:
    """A ValueInfoProto."""
    cdef Py_ssize_t start = w.open(tag)
    cdef Py_ssize_t kind, tensor, shape, dim
    aval = value.aval
    w.text(1 << 3 | 2, value.name)
    kind = w.open(2 << 3 | 2)
    tensor = w.open(1 << 3 | 2)
    w.number(1 << 3, element_type(aval.dtype))
    if aval.shape is not None:
        shape = w.open(2 << 3 | 2)
        for d in aval.shape:
            dim = w.open(1 << 3 | 2)
            if isinstance(d, int):
                w.number(1 << 3, d)
            else:
                w.text(2 << 3 | 2, str(d))
            w.close(dim)
        w.close(shape)
    w.close(tensor)
    w.close(kind)
    return w.close(start)


cdef enum:
    # AttributeProto.AttributeType of a single item; the type of a list is larger by 5
    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5

cdef int kind_of(_Writer w, object x) except -1:
    if isinstance(x, (int, np.integer, np.bool_)):
        return INT
    if isinstance(x, (float, np.floating)):
        return FLOAT
    if isinstance(x, (str, bytes)):
        return STRING
    if isinstance(x, np.ndarray):
        return TENSOR
    if isinstance(x, w.is_graph):
        return GRAPH
    raise TypeError(f"an ONNX attribute cannot hold {type(x).__name__}: {x!r}")


cdef int write_item(_Writer w, int kind, object x, bint listed) except -1:
    """One attribute value, in the field for a single item or in the field for list items."""
    cdef Py_ssize_t start
    if kind == FLOAT:
        return w.real((7 if listed else 2) << 3 | 5, x)
    if kind == INT:
        return w.number((8 if listed else 3) << 3, x)
    if kind == STRING:
        return w.text((9 if listed else 4) << 3 | 2, x)
    if kind == TENSOR:
        return write_tensor(w, (10 if listed else 5) << 3 | 2, None, x)
    start = w.open((11 if listed else 6) << 3 | 2)
    write_graph(w, x, "body", own_results(x))
    return w.close(start)


cdef int write_attribute(_Writer w, object name, object x) except -1:
    cdef Py_ssize_t start = w.open(5 << 3 | 2)
    cdef int kind
    w.text(1 << 3 | 2, name)
    if isinstance(x, (list, tuple)):
        # A list that mixes ints and floats holds floats; an empty one is a list of ints.
        kinds = {kind_of(w, item) for item in x} or {INT}
        kind = FLOAT if kinds == {INT, FLOAT} else kinds.pop()
        if kinds and kind != FLOAT:
            raise TypeError(f"attribute {name} mixes kinds: {x!r}")
        for item in x:
            write_item(w, kind, item, True)
        w.number(20 << 3, kind + 5)
    else:
        kind = kind_of(w, x)
        write_item(w, kind, x, False)
        w.number(20 << 3, kind)
    return w.close(start)


cdef int write_node(_Writer w, object node) except -1:
    cdef Py_ssize_t start = w.open(1 << 3 | 2)
    for v in node.inputs:
        w.text(1 << 3 | 2, "" if v is None else v.name)
    for v in node.outputs:
        w.text(2 << 3 | 2, v.name)
    w.text(3 << 3 | 2, node.name)
    w.text(4 << 3 | 2, node.op_type)
    for name, x in (<dict>node.attributes).items():
        if x is not None:
            write_attribute(w, name, x)
    if w.location_text is not None and node.location is not None:
        w.text(6 << 3 | 2, w.location_text(node.location))
    if node.domain:
        w.text(7 << 3 | 2, node.domain)
    return w.close(start)


cdef list own_results(object graph):
    """Results of operators of other domains, whose types ONNX cannot infer, so that the graph declares them."""
    cdef list results = [v for node in graph.nodes if node.domain for v in node.outputs]
    if results:
        known = {id(v) for v in graph.outputs}
        results = [v for v in results if id(v) not in known]
    return results


cdef int write_graph(_Writer w, object graph, object name, object stated) except -1:
    """The fields of a GraphProto."""
    for node in graph.nodes:
        write_node(w, node)
    w.text(2 << 3 | 2, name)
    for key, value in graph.initializers.items():
        write_tensor(w, 5 << 3 | 2, key, value.const)
    for value in graph.inputs:
        write_value(w, 11 << 3 | 2, value)
    for value in graph.outputs:
        write_value(w, 12 << 3 | 2, value)
    for value in stated:
        write_value(w, 13 << 3 | 2, value)
    return 0


def model_bytes(graph, *, int ir_version, opsets, name="main", stated=None, metadata=None, producer="onax",
                producer_version="", doc="", share_over=None, share_location=None, location_text=None):
    """The bytes of a ModelProto, and the constants whose data it does not contain.

    opsets        [(domain, version)]; ONNX's own domain is ""
    stated        values whose types the graph states besides its inputs and outputs; None: the results of operators of
                  other domains than ONNX's, which nobody can infer (subgraphs state these always)
    metadata      {key: text}
    share_over    constants of more bytes than this are only named, and returned as {name: ndarray}; None: all inside
    share_location    the file those constants will stand in, in their order, each at a multiple of 64 bytes
    location_text    source location of a node -> text for its doc_string; None: no doc_strings

    Raises TypeError for an attribute, or an element type, that ONNX cannot hold.
    """
    cdef _Writer w = _Writer()
    cdef Py_ssize_t start
    w.share_over = -1 if share_over is None else share_over
    w.shared = {}
    w.share_location = share_location
    w.location_text = location_text
    w.is_graph = type(graph)
    w.number(1 << 3, ir_version)
    w.text(2 << 3 | 2, producer)
    if producer_version:
        w.text(3 << 3 | 2, producer_version)
    if doc:
        w.text(6 << 3 | 2, doc)
    start = w.open(7 << 3 | 2)
    write_graph(w, graph, name, own_results(graph) if stated is None else stated)
    w.close(start)
    for domain, version in opsets:
        start = w.open(8 << 3 | 2)
        if domain:
            w.text(1 << 3 | 2, domain)
        w.number(2 << 3, version)
        w.close(start)
    for key, text in (metadata or {}).items():
        start = w.open(14 << 3 | 2)
        w.text(1 << 3 | 2, key)
        w.text(2 << 3 | 2, text)
        w.close(start)
    return PyBytes_FromStringAndSize(<char *>w.data, w.size), w.shared
