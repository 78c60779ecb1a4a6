"""Values of dtypes that ONNX has no element type for: complex numbers and keys, as tuples of components.

A variable of such a dtype is a tuple of Values, its *components* (real and imaginary part; the words of a key; the byte
of a narrow number), each of the variable's own shape.  At the boundary of a graph one tensor holds them along trailing
axes: [..., 2] for complex numbers, [..., *key shape] for keys, [..., 1] for narrow numbers, those of at most 8 bits for
which the runtime has no kernels.  Only graphs of the native target hold these as bytes; exports use wider numbers.
"""

import numpy as np

from onax._ground.dtypes import ExtendedDType, is_float, is_integer, real_dtype
from onax._ground.errors import LoweringError
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax.export.graph import ops
from onax.export.graph.kernels import ELEMENT_TYPES

_BYTE = np.dtype(np.uint8)


def is_narrow(dtype):
    """Whether a dtype is one of numbers of at most 8 bits that ONNX Runtime has no kernels for."""
    if dtype in ELEMENT_TYPES or not isinstance(dtype, np.dtype) or dtype.itemsize != 1:
        return False
    return is_float(dtype) or is_integer(dtype)


def check_form(g, dtype):
    """Raises LoweringError for a dtype that graphs of this target have no form for."""
    if g.model.target != "native" and is_narrow(dtype):
        raise LoweringError(f"ONNX has no element type for {dtype}")
    trailing_axes(dtype)


def trailing_axes(dtype):
    """(trailing axes, element dtype) of a dtype's components at a boundary; ((), dtype) if ONNX has the dtype.

    Raises LoweringError for a dtype that has no ONNX form.
    """
    if dtype in ELEMENT_TYPES:
        return (), dtype
    if isinstance(dtype, ExtendedDType):
        return dtype.element_shape, dtype.element_dtype
    if dtype.kind == "c":
        return (2,), real_dtype(dtype)
    if is_narrow(dtype):
        return (1,), _BYTE
    raise LoweringError(f"ONNX has no element type for {dtype}")


def physical_aval(aval):
    """The type of the tensor that holds a value at the boundary of a graph."""
    axes, dtype = trailing_axes(aval.dtype)
    return ShapedArray((*aval.shape, *axes), dtype) if axes or aval.weak_type else aval


def component_aval(aval):
    """The type of one component."""
    return ShapedArray(aval.shape, trailing_axes(aval.dtype)[1])


def flat_values(values):
    """Flattens tuples of components; other values stay as they are."""
    return [part for v in values for part in (v if type(v) is tuple else (v,))]


def flat_avals(avals):
    """The types of the values that `flat_values` returns for variables of these types."""
    flat = []
    for aval in avals:
        axes, _ = trailing_axes(aval.dtype)
        flat.extend([component_aval(aval)] * int(np.prod(axes)))
    return flat


def unflatten_components(flat, avals):
    """The inverse of `flat_values`: a value or a tuple of components for each aval."""
    flat, values = iter(flat), []
    for aval in avals:
        axes, _ = trailing_axes(aval.dtype)
        values.append(tuple(next(flat) for _ in range(int(np.prod(axes)))) if axes else next(flat))
    return values


def split(g, value, aval):
    """The components of a boundary tensor; the tensor itself for a dtype of ONNX."""
    axes, dtype = trailing_axes(aval.dtype)
    if not axes:
        return value
    n, last = int(np.prod(axes)), len(aval.shape)
    if n == 1:
        return (ops.reshape(g, value, aval.shape),)
    flat = ops.reshape(g, value, (*aval.shape, n)) if len(axes) > 1 else value
    return tuple(g.node("Gather", flat, g.const(i, ops.INT64), out=(aval.shape, dtype), axis=last) for i in range(n))


def join(g, value, aval):
    """The boundary tensor of a value: the inverse of `split`."""
    if type(value) is not tuple:
        return value
    axes, dtype = trailing_axes(aval.dtype)
    last = len(aval.shape)
    if len(value) == 1:
        return ops.reshape(g, value[0], (*aval.shape, *axes))
    whole = _split_from(value, (*aval.shape, len(value)), dtype)
    if whole is None:
        whole = ops.concat(g, [ops.unsqueeze(g, v, (last,)) for v in value], last)
    return ops.reshape(g, whole, (*aval.shape, *axes)) if len(axes) > 1 else whole


def _split_from(parts, shape, dtype):
    """The tensor of which `split` made these components, or None."""
    nodes = [v.node for v in parts]
    if any(n is None or n.op_type != "Gather" or n.domain for n in nodes):
        return None
    whole = nodes[0].inputs[0]
    for i, node in enumerate(nodes):
        position = node.inputs[1].const
        if node.inputs[0] is not whole or position is None or position.ndim or position != i:
            return None
        if node.attributes.get("axis", 0) != len(shape) - 1:
            return None
    return whole if (whole.shape, whole.dtype) == (shape, dtype) else None


def constant(g, x, aval):
    """A constant of a jaxpr, as components if its dtype has them.  Large arrays are not copied."""
    array = x._value if isinstance(x, Array) else np.asarray(x)
    if aval.dtype in ELEMENT_TYPES:
        return g.const(array, aval.dtype)
    if isinstance(aval.dtype, np.dtype):
        array = array.astype(aval.dtype, copy=False)  # a Python number may be wider than its type in the jaxpr
    return tuple(g.const(part) for part in split_array(array, aval.dtype))


def split_array(array, dtype):
    """The components of an ndarray of a dtype; the ndarray alone for a dtype of ONNX."""
    axes, element = trailing_axes(dtype)
    if not axes:
        return [array]
    words = np.asarray(array, order="C").reshape(-1).view(element).reshape((*array.shape, int(np.prod(axes))))
    return [words[..., i] for i in range(words.shape[-1])]


def join_array(parts, dtype):
    """The ndarray of a dtype with these components: the inverse of `split_array`."""
    if not trailing_axes(dtype)[0]:
        return parts[0]
    words = np.stack(parts, -1).reshape(-1)
    return words.view(getattr(dtype, "storage", dtype)).reshape(parts[0].shape)
