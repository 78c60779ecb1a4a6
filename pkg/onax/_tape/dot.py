"""dot_general on tapes: the instruction `dot`."""

from dataclasses import dataclass

from onax._native.tape import TYPES
from onax._prims.dot import dot_general_p
from onax._tape.attention import emit_attention, find_attention
from onax._tape.copies import is_in_order, readable_origin
from onax._tape.rules import Unsupported, tape

_HEAD = 7  # attributes before those of the axes


def strides_of(shape):
    """How many elements apart neighbours along each axis of a row-major array lie."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * shape[i]
    return strides


def product_types(lhs, rhs, out):
    """The type numbers of a product's operands and result.  Raises Unsupported for types that C does not multiply."""
    kinds = [d.kind if d in TYPES else "" for d in (lhs, rhs, out)]
    if "" in kinds:
        raise Unsupported(f"there is no product of {lhs} and {rhs}")
    if "c" in kinds and not lhs == rhs == out:
        raise Unsupported(f"complex numbers are multiplied with their own dtype, not {lhs} with {rhs} to {out}")
    if (kinds[2] == "b" and kinds[:2] != ["b", "b"]) or (kinds[2] in "iu" and not set(kinds[:2]) <= set("iub")):
        raise Unsupported(f"a product of {lhs} and {rhs} is not computed in {out}")
    return [TYPES[lhs], TYPES[rhs], TYPES[out]]


def has_product(lhs, rhs, out):
    """Whether there is an instruction for products of these dtypes."""
    try:
        return bool(product_types(lhs, rhs, out))
    except Unsupported:
        return False


@tape.rule(dot_general_p)
def _dot_general(b, out, lhs, rhs, *, dimension_numbers, **_):
    (lc, rc), (lb, rb) = dimension_numbers
    types = product_types(lhs.dtype, rhs.dtype, out.dtype)
    result, to = b.buffer(out), iter(strides_of(out.shape))
    left_source, left = _before_transpose(b, lhs)
    right_source, right = (left_source, left) if lhs is rhs else _before_transpose(b, rhs)
    lf = [i for i in range(len(lhs.shape)) if i not in lc and i not in lb]
    rf = [i for i in range(len(rhs.shape)) if i not in rc and i not in rb]
    axes = [*types, len(lb), len(lf), len(rf), len(lc)]
    for i, j in zip(lb, rb):
        axes += [lhs.shape[i], left[i], right[j], next(to)]
    for i in lf:
        axes += [lhs.shape[i], left[i], 0, next(to)]
    for j in rf:
        axes += [rhs.shape[j], 0, right[j], next(to)]
    for i, j in zip(lc, rc):
        axes += [lhs.shape[i], left[i], right[j], 0]
    strides = range(_HEAD + 3, _HEAD + 4 * len(out.shape), 4)
    attention = find_attention(b, axes, (lhs, rhs))
    if attention is None:
        b.emit("dot", [result], [left_source, right_source], axes)
        result.product = Product(axes, strides, len(lb), b.clock)
    else:
        attributes, order = emit_attention(b, attention, result, (left_source, right_source))
        result.product = Product(attributes, [order[i] for i in strides], len(lb), b.clock)
    return result


@dataclass(slots=True, eq=False)
class Product:
    """Where the strides of a product's axes are in the attributes of the instruction emitted at `clock`."""

    attributes: object
    strides: object
    batch_axes: int
    clock: int


def write_permuted(b, x, permutation):
    """Has a product write its axes in another order, if the current equation alone reads it; whether it does.

    The last axis has to be one of a single operand: along batch axes no product is written side by side.
    """
    product = x.product
    if product is None or x.root is not x or x.part is not b.part or not b.is_last_use(x) or x.end != product.clock:
        return False
    sizes = [x.shape[p] for p in permutation]
    long = [p for p, n in zip(permutation, sizes) if n != 1]
    if not long or long[-1] < product.batch_axes:
        return False
    for axis, stride in zip(permutation, strides_of(sizes)):
        product.attributes[product.strides[axis]] = stride
    x.product = None
    return True


def _before_transpose(b, x):
    """(Buffer, strides) of an operand: those of the array of which it is the transpose, if nothing else reads that."""
    origin = readable_origin(b, x)
    if origin is None or origin.start or not _is_transpose(x.shape, origin.strides):
        return x, strides_of(x.shape)
    b.withdraw([origin.instruction])
    return origin.source, origin.strides


def _is_transpose(shape, strides):
    """Whether these strides go through a dense array in some order of its axes."""
    axes = sorted([(-stride, n) for n, stride in zip(shape, strides) if n != 1])
    return is_in_order([n for _, n in axes], [-stride for stride, _ in axes])
