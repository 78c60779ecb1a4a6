"""Calls of exported functions of which only the model is at hand: its nodes are copied into the graph.

Values get new names; what the model computes from the sizes of its arguments, it computes from those of the operands.
"""

from onax._ground import dims as dim_rules
from onax._ground import lazy
from onax._ground.dims import SymbolicScope, parse_dims
from onax._native.avals import ShapedArray
from onax.export.calls import exported_call_p
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.lower.components import join, split
from onax.export.lower.convert import refuse
from onax.export.lower.registry import lowers

_DTYPES = {element: dtype for dtype, element in ELEMENT_TYPES.items()}
_CHANGED = {"DFT": 20, "GridSample": 20, "GroupNormalization": 21}  # opsets in which operators got other operands


@lowers(exported_call_p, components=True)
def _exported_call(g, out, *values, exported):
    if g.target == "native":
        refuse(g, "the model of an exported function runs in a session of its own")
    if exported.opset > g.opset:
        refuse(g, f"{exported.fun_name} was exported with opset {exported.opset}, which the caller has to have too")
    model = exported.onnx_model
    if model.functions:
        refuse(g, f"the model of {exported.fun_name} defines functions")
    avals = exported.in_avals
    sizes = exported._dim_solver.solve([(v[0] if type(v) is tuple else v).shape for v in values])
    copy = _Copy(model, exported._arrays, exported._dim_solver.scope, sizes)
    known = [join(g, v, a.update(shape=(v[0] if type(v) is tuple else v).shape)) for v, a in zip(values, avals)]
    results = copy.run(g, model.graph, dict(zip(exported.in_names, known)), {})
    return tuple(split(g, result, aval) for result, aval in zip(results, out))


class _Copy:
    """The copying of one model's nodes.

    Attributes:
      model: the ModelProto.
      arrays: constants that it only names.
      scope: the scope of its dimensions; None if they are all known.
      sizes: the values of their variables in the caller.
    """

    __slots__ = ("arrays", "count", "domains", "model", "opset", "scope", "sizes", "unknown")

    def __init__(self, model, arrays, scope, sizes):
        self.model = model
        self.arrays = arrays
        self.scope = scope
        self.sizes = sizes
        self.count, self.unknown = 0, SymbolicScope()
        self.domains = {o.domain: o.version for o in model.opset_import}
        self.opset = self.domains.get("", 0)

    def run(self, g, graph, values, types):
        """The results of a graph as Values of `g`.

        values  the values around it and its arguments, by name
        types   the types of the values around it, by name
        """
        values, types = dict(values), {**types, **self._types(graph, types)}
        for tensor in graph.initializer:
            array = self.arrays.get(tensor.name)
            values[tensor.name] = g.const(lazy.onnx_numpy_helper.to_array(tensor) if array is None else array)
        for node in graph.node:
            self._check(g, node)
            attributes = {a.name: self._attribute(g, a, values, types) for a in node.attribute}
            inputs = tuple(values[name] if name else None for name in node.input)
            avals = tuple(self._aval(types[name]) for name in node.output if name)
            outs = g._emit_all(node.op_type, node.domain, inputs, avals, attributes)
            values.update(zip([name for name in node.output if name], outs))
            if node.domain:
                g.model.domains[node.domain] = self.domains[node.domain]
        return [values[port.name] for port in graph.output]

    def _check(self, g, node):
        changed = _CHANGED.get(node.op_type)
        if not node.domain and changed is not None and self.opset < changed <= g.opset:
            refuse(g, f"{node.op_type} of opset {self.opset} is another operator in opset {g.opset}")
        if "" in node.output and any(node.output[list(node.output).index("") :]):
            refuse(g, f"{node.op_type} leaves out a result")

    def _attribute(self, g, attribute, values, types):
        value = lazy.onnx_helper.get_attribute_value(attribute)
        if attribute.HasField("t"):
            return lazy.onnx_numpy_helper.to_array(value)
        if not attribute.HasField("g"):
            return value.decode() if isinstance(value, bytes) else list(value) if attribute.type > 5 else value
        body = g.subgraph([self._aval(port.type.tensor_type) for port in value.input])
        for result in self.run(body, value, {**values, **{p.name: v for p, v in zip(value.input, body.inputs)}}, types):
            body.output(None, result)
        return body

    def _types(self, graph, outer):
        """The types of a graph's values by name; those which it does not state are inferred."""
        found = _stated(graph)
        if all(name in found for node in graph.node for name in node.output if name):
            return found
        whole = lazy.onnx.ModelProto(ir_version=self.model.ir_version, opset_import=self.model.opset_import)
        whole.graph.CopyFrom(graph)
        for name, tensor_type in outer.items():
            if name not in found:
                port = whole.graph.input.add(name=name)
                port.type.tensor_type.CopyFrom(tensor_type)
        return {**_stated(lazy.onnx.shape_inference.infer_shapes(whole).graph), **found}

    def _aval(self, tensor_type):
        return ShapedArray(tuple(map(self._dim, tensor_type.shape.dim)), _DTYPES[tensor_type.elem_type])

    def _dim(self, dim):
        """A dimension in the caller's terms; a variable of its own for one that the model does not say."""
        if dim.HasField("dim_value"):
            return dim.dim_value
        if self.scope is not None and dim.dim_param:
            try:
                (d,) = parse_dims(dim.dim_param, self.scope)
            except ValueError:  # a name that is no expression in the variables of the signature
                d = None
            if d is not None and dim_rules.free_variables(d) <= set(self.sizes):
                return dim_rules.evaluate(d, self.sizes)
        self.count += 1
        (d,) = parse_dims(f"unknown{self.count}", self.unknown)
        return d


def _stated(graph):
    """The types of tensors that a graph states, by name."""
    types = {t.name: _constant_type(t) for t in graph.initializer}
    for port in (*graph.input, *graph.value_info, *graph.output):
        if port.type.HasField("tensor_type"):
            types[port.name] = port.type.tensor_type
    return types


def _constant_type(tensor):
    result = lazy.onnx.TypeProto.Tensor(elem_type=tensor.data_type)
    for size in tensor.dims:
        result.shape.dim.add(dim_value=size)
    return result
