"""A graph under construction: typed values, nodes, constants and subgraphs.

    Graph                one ONNX graph: inputs, nodes, outputs
      .model             what a graph shares with its subgraphs: opset, provider, names, constants, source location
      .node(...)         adds a node with the types of its results; casts where the operator has no kernel for a type
      .const(...)        a constant, cached
      .shape_const(...)  a shape as an int64 vector: a constant, or computed at run time from symbolic dimensions
      .subgraph(...)     the body of If, Loop or Scan; it may use every value of the graphs around it
    Value                one tensor in it: a name and an aval

Nothing here knows ONNX's protobuf classes: `proto.py` writes the finished graph.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from onax._ground import dims as dim_rules
from onax._ground import source
from onax._ground.errors import LoweringError
from onax._native.avals import ShapedArray
from onax.export.graph import kernels as measured
from onax.export.graph.bounds import is_within

# Constants up to this size are compared by their bytes and stored once; larger ones by identity.
SMALL_BYTES = 1024

_INT64, _F32 = np.dtype(np.int64), np.dtype(np.float32)
_HALVES = frozenset((np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)))
_NO_OPERANDS = ()
_VALUES = {"Clip": 1, "ReduceMax": 1, "ReduceMin": 1}  # how many operands hold numbers that are compared


@dataclass(slots=True, eq=False, repr=False)
class Value:
    """One tensor of a graph; `const` is the ndarray of a constant, `node` the node that computes any other value."""

    name: str
    aval: object
    graph: object
    node: object = None
    const: object = None

    @property
    def shape(self):
        """The dimensions: ints or symbolic expressions."""
        return self.aval.shape

    @property
    def dtype(self):
        """The NumPy dtype."""
        return self.aval.dtype

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.aval.shape)

    def __repr__(self):
        return f"Value({self.name}: {self.aval.str_short()})"


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One operator call.  `inputs` are Values, or None for an omitted optional input."""

    op_type: str
    domain: str
    name: str
    inputs: list
    outputs: list
    attributes: dict
    location: object

    def __repr__(self):
        outputs = ", ".join(v.name for v in self.outputs)
        inputs = ", ".join("_" if v is None else v.name for v in self.inputs)
        return f"{outputs} = {self.op_type}({inputs})"


class Model:
    """The state that a graph shares with all its subgraphs."""

    __slots__ = (
        "constants",
        "counter",
        "dims",
        "domains",
        "kernels",
        "left_out",
        "location",
        "names",
        "opset",
        "prefix",
        "promised",
        "provider",
        "recognizes",
        "refusals",
        "resolved",
        "target",
        "wishes",
    )  # fmt: skip

    def __init__(self, opset, provider, target, dims):
        self.opset = opset
        self.provider = provider
        self.target = target
        self.kernels = measured.kernels(provider, opset)
        self.dims = dims  # (graph, symbolic dimension) -> Value of int64[]
        self.resolved = {}  # symbolic dimension, or shape -> Value
        self.constants = {}  # key -> Value
        self.names = set()  # names that the caller chose
        self.promised = set()  # names that outputs will take
        self.recognizes = False  # whether `formula` waits for recognition
        self.refusals = None  # collects operations without an ONNX form, if the caller asks for all of them
        self.counter = 0
        self.prefix = None  # the primitive being lowered, after which nodes are named
        self.location = None  # the source record of the equation being lowered
        self.domains = {}  # domain -> version, beyond ONNX's own
        self.left_out = None  # texts about prints that the file does not have, for warnings, if it may lack them
        self.wishes = set()  # higher opsets in which rules would do with fewer nodes

    def wish(self, opset):
        """Notes that a rule would use an operator that this opset has and the model's opset has not."""
        if opset is not None and opset > self.opset:
            self.wishes.add(opset)

    def fresh(self, stem):
        """A new name."""
        while True:
            self.counter += 1
            name = f"{stem}_{self.counter}"
            if name not in self.names and name not in self.promised:
                return name

    def reserve(self, name):
        """Reserves a name that the caller chose."""
        if name in self.names:
            raise ValueError(f"two inputs or outputs of the graph have the name {name!r}")
        self.names.add(name)


@dataclass(slots=True, eq=False)
class _EquationScope:
    """A context in which new nodes get the name and the source location of an equation."""

    model: object
    name: str
    location: object
    before: tuple | None = None

    def __enter__(self):
        model = self.model
        self.before = model.prefix, model.location
        model.prefix, model.location = self.name, self.location

    def __exit__(self, *_):
        self.model.prefix, self.model.location = self.before


def _folds(source, target):
    """Whether NumPy casts as the runtime does: not from floats to integers, nor from float64 to 16 bits."""
    return source.kind in "biu" or (target.kind not in "biu" and not (source.itemsize == 8 and target.itemsize == 2))


def as_aval(out):
    """The aval of a result type, which is an aval or (shape, dtype)."""
    if type(out) is tuple:
        shape, dtype = out
        return ShapedArray(tuple(shape), np.dtype(dtype))
    return out


class Graph:
    """An ONNX graph; see the module docstring.

    opset     ONNX opset, 18 to 26
    provider  execution provider, whose measured kernels decide which element types need casts
    target    "portable": ONNX's own operators only; "native": also operators of the domain `onax`
    dims      computes a symbolic dimension at run time: (graph, dimension) -> Value of int64[]
    """

    __slots__ = ("casts", "initializers", "inputs", "model", "nodes", "outputs", "parent", "token")

    def __init__(self, opset=21, provider="cpu", target="portable", dims=None, *, parent=None):
        self.parent = parent
        self.model = Model(opset, provider, target, dims) if parent is None else parent.model
        self.inputs = []
        self.outputs = []
        self.nodes = []
        self.initializers = {}  # name -> Value with .const; only the outermost graph has any
        self.casts = {}  # (name, dtype) -> Value
        self.token = None  # result of the last node with an effect, operand of the next one

    # ---- reading

    @property
    def opset(self):
        """The ONNX opset."""
        return self.model.opset

    @property
    def target(self):
        """ "portable" or "native"."""
        return self.model.target

    @property
    def root(self):
        """The outermost graph."""
        graph = self
        while graph.parent is not None:
            graph = graph.parent
        return graph

    def runs(self, op_type, dtype, *, directly=False, **attributes):
        """Whether `node` accepts this operator and element type; `directly`: without casts."""
        name = measured.variant(op_type, attributes)
        table = self.model.kernels
        found = table.runs_directly(name, dtype) if directly else table.runs(name, dtype)
        if not found and self.model.target == "portable":
            self.model.wish(table.lowest_opset(name, np.dtype(dtype)))
        return found

    # ---- boundary

    def input(self, name, aval):
        """A new graph input."""
        self.model.reserve(name)
        value = Value(name, as_aval(aval), self)
        self.inputs.append(value)
        return value

    def output(self, name, value):
        """Makes a value a graph output called `name` (None: any name).  It renames or copies the value."""
        fixed = value.node is None or value.graph is not self or any(v is value for v in self.outputs)
        if fixed:
            value = self._emit("Identity", "", (value,), (value.aval,), {})
        if name is not None and name != value.name:
            self.model.reserve(name)
            value.name = name
        self.outputs.append(value)
        return value

    def initializer(self, name, array):
        """A named constant."""
        self.model.reserve(name)
        return self._initializer(name, np.asarray(array, order="C"))

    def subgraph(self, inputs=_NO_OPERANDS):
        """A graph for a node's attribute; `inputs` are the types of its inputs (avals or (shape, dtype))."""
        graph = Graph(parent=self)
        for out in inputs:
            graph.inputs.append(Value(self.model.fresh("in"), as_aval(out), graph))
        return graph

    # ---- constants

    def const(self, x, dtype=None):
        """A constant: an ndarray or a scalar, converted to `dtype` if given (else NumPy's own choice)."""
        array = np.asarray(x, dtype, order="C")
        constants = self.model.constants
        small = array.nbytes <= SMALL_BYTES
        key = (array.dtype, array.shape, array.tobytes()) if small else id(array)
        value = constants.get(key)
        if value is None:
            value = constants[key] = self.root._initializer(self.model.fresh("const"), array)
        return value

    def _initializer(self, name, array):
        value = Value(name, ShapedArray(array.shape, array.dtype), self, const=array)
        self.initializers[name] = value
        return value

    def dim(self, d):
        """A dimension as an int64 scalar: a constant, or computed at run time if it is symbolic."""
        if dim_rules.is_constant(d):
            return self.const(d, _INT64)
        model = self.model
        value = model.resolved.get(d)
        if value is None:
            if model.dims is None:
                raise LoweringError(self._say(f"the dimension {d} is unknown, and the graph cannot compute it"))
            with _EquationScope(model, "dim", None):
                value = model.resolved[d] = model.dims(self.root, d)
        return value

    def shape_const(self, dims):
        """Dimensions as an int64 vector: a constant, or computed at run time if one is symbolic."""
        dims = tuple(dims)
        if dim_rules.is_constant_shape(dims):
            return self.const(dims, _INT64)
        resolved = self.model.resolved
        value = resolved.get(dims)
        if value is None:
            # Emitted into the outermost graph, before the node with this subgraph, so that every graph can read it.
            root = self.root
            one, zero = ((1,), _INT64), root.const([0], _INT64)
            parts = [root.const([d], _INT64) if dim_rules.is_constant(d)
                     else root.node("Unsqueeze", self.dim(d), zero, out=one) for d in dims]  # fmt: skip
            value = root.node("Concat", *parts, out=((len(dims),), _INT64), axis=0) if len(parts) > 1 else parts[0]
            resolved[dims] = value
        return value

    # ---- nodes

    def at(self, eqn):
        """A context in which new nodes are named after this equation's primitive and have its source location."""
        return _EquationScope(self.model, eqn.primitive.name, eqn.source_info or self.model.location)

    def node(self, op_type, *inputs, out=None, outs=None, domain="", **attributes):
        """Adds a node and returns its result as a Value, or a tuple of them when `outs` lists their types.

        inputs      Values; None for an omitted optional input
        out         the result's type: an aval or (shape, dtype); by default the first input's
        attributes  ints, floats, strings, lists of them, ndarrays (tensors), Graphs (subgraphs); None means absent

        Raises LoweringError if the operator runs neither on this element type nor on one that can carry it.
        """
        avals = (inputs[0].aval if out is None else as_aval(out),) if outs is None else tuple(map(as_aval, outs))
        if domain or op_type in measured.UNTYPED:
            values = self._emit_all(op_type, domain, inputs, avals, attributes)
        else:
            values = self._typed(op_type, inputs, avals, attributes)
        return values[0] if outs is None else values

    def formula(self, name, *inputs, out, build, **attributes):
        """The value `build(graph, *inputs)`, of the type `out`; the attributes are for rules that look for it.

        Where functions are recognized it is one node of the domain "formula" at first, which rules can find; the pass
        `expand_formulas` builds those that remain.
        """
        if not self.model.recognizes:
            return build(self, *inputs)
        model = self.model
        attributes["build"] = build
        node = Node(name, "formula", model.fresh(model.prefix or name), inputs, None, attributes, model.location)
        value = Value(node.name, as_aval(out), self, node)
        node.outputs = (value,)
        self.nodes.append(node)
        return value

    def _typed(self, op_type, inputs, avals, attributes):
        """A node of ONNX's own domain, with casts to another element type if it has no kernel for this one."""
        if op_type == "Neg":
            folded = self._folded(inputs[0], np.negative)
            if folded is not None:
                return (folded,)
        dtype, carrier, operands, results = self._carrier(op_type, inputs, avals, attributes)
        if carrier is None or (self.model.recognizes and dtype in _HALVES):
            return self._emit_all(op_type, "", inputs, avals, attributes)
        into = [self._carried(v, i, operands, carrier) for i, v in enumerate(inputs)]
        back = [i for i, a in enumerate(avals) if (results is None or i in results) and a.dtype == dtype]
        inner = [ShapedArray(a.shape, carrier) if i in back else a for i, a in enumerate(avals)]
        values = self._emit_all(op_type, "", into, inner, attributes)
        return tuple(self.cast(v, dtype) if i in back else v for i, v in enumerate(values))

    def _carrier(self, op_type, inputs, avals, attributes):
        """(the element type of a node, the one to compute in or None, the operands and the results that have it)."""
        name = measured.variant(op_type, attributes)
        _, operands, results = measured.OPERATORS.get(name, measured.REAL)
        if operands is None:
            dtype = inputs[0].aval.dtype
        else:
            dtype = inputs[operands[0]].aval.dtype if operands else avals[0].dtype
        if (name, dtype) in measured.EXACT_BITS:
            self._check_bits(name, dtype, inputs)
        try:
            return dtype, self.model.kernels.carrier(name, dtype), operands, results
        except LoweringError as error:
            raise LoweringError(self._say(str(error))) from None

    def carry_halves(self, node):
        """Adds a node that recognition has left, with the casts for which 16-bit floats waited."""
        avals = [v.aval for v in node.outputs]
        untyped = node.domain or node.op_type in measured.UNTYPED or not node.inputs
        dtype, carrier, operands, results = (
            (None,) * 4 if untyped else self._carrier(node.op_type, node.inputs, avals, node.attributes)
        )
        if carrier is None and node.op_type in measured.IN_FLOAT32:
            carrier = _F32
        self.nodes.append(node)
        if carrier is None or dtype not in _HALVES:
            if node.op_type == "Cast":
                self.casts.setdefault((node.inputs[0].name, avals[0].dtype), node.outputs[0])
            return
        self.nodes.pop()
        node.inputs = tuple([self._carried(v, i, operands, carrier) for i, v in enumerate(node.inputs)])
        self.nodes.append(node)
        outputs = []
        for i, old in enumerate(node.outputs):
            if (results is None or i in results) and old.aval.dtype == dtype:
                inner = Value(self.model.fresh(node.op_type), ShapedArray(old.aval.shape, carrier), self, node)
                to = {"to": measured.ELEMENT_TYPES[dtype]}
                old.node = Node("Cast", "", self.model.fresh("Cast"), (inner,), (old,), to, node.location)
                self.nodes.append(old.node)
                old = inner
            outputs.append(old)
        node.outputs = tuple(outputs)

    def _check_bits(self, name, dtype, inputs):
        """Refuses integers for which a kernel may be wrong; rules are responsible for the limits of Clip."""
        bits = measured.EXACT_BITS[name, dtype]
        if not all(is_within(v, -(2**bits), 2**bits - 1) for v in inputs[: _VALUES.get(name)]):
            raise LoweringError(
                self._say(f"ONNX Runtime's {name} of {dtype} is wrong for numbers of more than {bits} bits")
            )

    def _carried(self, value, position, operands, carrier):
        if value is None or not (operands is None or position in operands):
            return value
        return self.cast(value, carrier)

    def cast(self, value, dtype):
        """ONNX's Cast; the value itself if it has that type already.  Integers wrap."""
        dtype = np.dtype(dtype)
        if value.aval.dtype == dtype:
            return value
        if _folds(value.aval.dtype, dtype):
            folded = self._folded(value, lambda x: x.astype(dtype))
            if folded is not None:
                return folded
        key = value.name, dtype
        result = self.casts.get(key)
        if result is None or result.graph is not self:
            aval = ShapedArray(value.aval.shape, dtype)
            to = measured.ELEMENT_TYPES[dtype]
            result = self.casts[key] = self._emit("Cast", "", (value,), (aval,), {"to": to})
        return result

    def _folded(self, value, function):
        """function(value) as a constant or an expanded constant, if the value is one; else None.

        The runtime would fold it too, but it takes 0.1 ms per node during session creation.
        """
        node = value.node
        source = value if node is None or node.op_type != "Expand" else node.inputs[0]
        if source.const is None or source.const.nbytes > SMALL_BYTES:
            return None
        folded = self.const(function(source.const))
        if source is value:
            return folded
        if not self.runs("Expand", folded.aval.dtype, directly=True):  # Expand itself would cast, which ends here again
            return None
        return self.node("Expand", folded, node.inputs[1], out=ShapedArray(value.aval.shape, folded.aval.dtype))

    def _emit(self, op_type, domain, inputs, avals, attributes):
        return self._emit_all(op_type, domain, inputs, avals, attributes)[0]

    def _emit_all(self, op_type, domain, inputs, avals, attributes):
        model = self.model
        name = model.fresh(model.prefix or op_type)
        node = Node(op_type, domain, name, inputs, None, attributes, model.location)
        if len(avals) == 1:
            node.outputs = (Value(name, avals[0], self, node),)
        else:
            node.outputs = tuple([Value(f"{name}.{i}", a, self, node) for i, a in enumerate(avals)])
        self.nodes.append(node)
        if domain:
            model.domains.setdefault(domain, 1)
        return node.outputs

    def _say(self, fault):
        """The text of an error: the fault and the source location."""
        model = self.model
        if model.prefix is None:
            return fault
        location = "" if model.location is None else f" from {source.summarize(model.location)}"
        return f"{fault}\nIn operation {model.prefix}{location}."
