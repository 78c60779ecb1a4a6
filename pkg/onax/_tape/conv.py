"""conv_general_dilated on tapes: the instruction `convolution`."""

from onax._prims.conv import conv_general_dilated_p
from onax._tape.dot import product_types, strides_of
from onax._tape.rules import Unsupported, tape

MOST_SPATIAL_AXES = 8


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
