"""Operators that ONNX defines by other operators, and that are evaluated by that definition.

The other direction: `export/recognize/attention.py`.
"""

import functools

from onax._ground import lazy
from onax._ground.dims import is_constant
from onax.onnx.operators import operator
from onax.onnx.reading import read_function
from onax.onnx.records import Graph


def _types(inputs):
    """ONNX's types of values, which some definitions depend on."""
    result = []
    for value in inputs:
        proto = lazy.onnx.TypeProto()
        if value is not None:
            proto.tensor_type.elem_type = lazy.onnx_helper.np_dtype_to_tensor_dtype(value.dtype)
            for size in value.shape:
                proto.tensor_type.shape.dim.add(
                    **({"dim_value": size} if is_constant(size) else {"dim_param": str(size)})
                )
        result.append(proto.SerializeToString())
    return tuple(result)


@functools.lru_cache(maxsize=256)
def _definition(op_type, domain, version, node, types):
    """The Function that defines an operator for a node and types of its inputs; None if there is none."""
    schema = lazy.onnx_defs.get_schema(op_type, version, domain)
    function = lazy.onnx.FunctionProto()
    if schema.has_context_dependent_function:
        # The definition for this version, or the one in operators of the version in which the operator was defined.
        for wanted in (version, schema.since_version):
            raw = schema.get_context_dependent_function_with_opset_version(wanted, node, list(types))
            if raw:
                break
        else:
            return None
        function.ParseFromString(raw)
    else:
        function.CopyFrom(schema.function_body)
    read = read_function(function)
    return read


def evaluate_definition(call, *inputs):
    """The outputs of a node, by the definition of its operator."""
    node = call.node
    proto = lazy.onnx_helper.make_node(node.op_type, node.inputs, node.outputs, domain=node.domain)
    plain = {}
    for name, value in call.attributes.items():
        if isinstance(value, (int, float, str, bytes)) or (isinstance(value, tuple) and value):
            plain[name] = value
        elif isinstance(value, Graph):
            plain[name] = value.proto
    proto.attribute.extend(lazy.onnx_helper.make_attribute(name, value) for name, value in plain.items())
    raw = proto.SerializeToString()
    function = _definition(node.op_type, node.domain, call.version, raw, _types(inputs))
    if function is None:
        call.refuse("ONNX defines the operator for other types or attributes alone")
    function.opsets.setdefault("", call.scope.opsets.get("", call.version))
    inputs = (*inputs, *[None] * (len(function.inputs) - len(inputs)))
    return call.evaluation.call_function(node, function, inputs, call.attributes)


operator(
    "Attention",
    "CausalConvWithState",
    "LinearAttention",
    "NegativeLogLikelihoodLoss",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "SwiGLU",
)(evaluate_definition)
operator("FlexAttention", domain="ai.onnx.preview")(evaluate_definition)
