"""conv_general_dilated on tapes: the instruction `convolution`."""

from math import prod

from onax._prims.conv import conv_general_dilated_p
from onax._tape.dot import has_product, product_types, strides_of
from onax._tape.rules import Unsupported, tape

MOST_SPATIAL_AXES = 8
FEW_TERMS = 8  # sums of fewer products, of which packing is most of the work
LARGE_WINDOW = 64  # elements; with one as large, zeros between the images' elements cost less than the runtime's detour


def is_quicker_on_tape(eqn):
    """Whether the instruction takes a convolution less time than the runtime: in float64 and integers, and where the
    runtime would transpose the images or the result.

    The runtime's kernels are quicker for features before space, for few terms, and for dilated images.
    """
    images, kernel, places = eqn.params["dimension_numbers"]
    lhs, rhs, out = [x.aval for x in (*eqn.invars, *eqn.outvars)]
    rank = len(eqn.params["window_strides"])
    if rank > MOST_SPATIAL_AXES or not has_product(lhs.dtype, rhs.dtype, out.dtype):
        return False
    if out.dtype.kind in "iub" or out.dtype.kind == "c":
        return True
    window = prod([rhs.shape[i] for i in kernel[2:]])
    dilated = any(d != 1 for d in eqn.params["lhs_dilation"])
    if dilated and window <= LARGE_WINDOW:
        return False
    if out.dtype == "float64":
        return True
    in_order = tuple(range(rank + 2))
    return (
        rhs.shape[kernel[1]] * window >= FEW_TERMS
        and not tuple(images) == tuple(places) == in_order
        and (
            eqn.params["feature_group_count"] * eqn.params["batch_group_count"] == 1
            or rhs.shape[kernel[1]] >= FEW_TERMS
        )
    )


@tape.rule(conv_general_dilated_p)
def _convolution(b, out, lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
                 feature_group_count, batch_group_count, **_):  # fmt: skip
    images, kernel, places = dimension_numbers
    rank = len(window_strides)
    if rank > MOST_SPATIAL_AXES:
        raise Unsupported(f"a convolution over {rank} axes")
    result = b.buffer(out)
    left, right, to = strides_of(lhs.shape), strides_of(rhs.shape), strides_of(out.shape)
    numbers = [
        *product_types(lhs.dtype, rhs.dtype, result.dtype),
        *(rank, lhs.shape[images[0]], lhs.shape[images[1]], rhs.shape[kernel[0]], rhs.shape[kernel[1]]),
        *(feature_group_count, batch_group_count),
        *(left[images[0]], left[images[1]], right[kernel[0]], right[kernel[1]], to[places[0]], to[places[1]]),
    ]
    for i in range(rank):
        x, w, y = images[2 + i], kernel[2 + i], places[2 + i]
        numbers += [lhs.shape[x], left[x], rhs.shape[w], right[w], out.shape[y], to[y]]
        numbers += [window_strides[i], *padding[i], lhs_dilation[i], rhs_dilation[i]]
    b.emit("convolution", [result], [lhs, rhs], numbers)
    return result
