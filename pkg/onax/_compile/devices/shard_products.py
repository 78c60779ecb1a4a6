"""Rules of the slot `shard`: products and convolutions.

Operands that are split along a contracted dimension give partial sums, which are summed over devices where they are
read.  An axis can serve one purpose: first it splits batch dimensions, then the remaining ones of the left operand, of
the right one, and contracted dimensions at last.  So activations that are split over a batch meet gathered weights.
"""

from onax._compile.devices.shard_windows import halo_of, with_halo
from onax._compile.devices.spmd import shard
from onax._prims.conv import conv_general_dilated_p
from onax._prims.dot import dot_general_p


class AxisAssignment:
    """Chooses the axes of groups of dimensions that must be split alike; an axis is used once."""

    def __init__(self, partitioner):
        self.partitioner = partitioner
        self.used = set()

    def choose(self, candidates, size):
        """The first candidate whose axes divide a dimension and has not been used."""
        for names in candidates:
            if names and self.used.isdisjoint(names) and size % self.partitioner.count(names) == 0:
                self.used.update(names)
                return names
        return ()


@shard.rule(dot_general_p)
def _dot_general(p, operands, eqn):
    x, y = operands
    (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
    chosen, left, right = AxisAssignment(p), [()] * x.aval.ndim, [()] * y.aval.ndim
    for i, j in zip(lb, rb):
        left[i] = right[j] = chosen.choose((x.axes[i], y.axes[j]), x.aval.shape[i])
    free_left = [i for i in range(x.aval.ndim) if i not in lc and i not in lb]
    free_right = [j for j in range(y.aval.ndim) if j not in rc and j not in rb]
    for i in free_left:
        left[i] = chosen.choose((x.axes[i],), x.aval.shape[i])
    for j in free_right:
        right[j] = chosen.choose((y.axes[j],), y.aval.shape[j])
    for i, j in zip(lc, rc):
        left[i] = right[j] = chosen.choose((x.axes[i], y.axes[j]), x.aval.shape[i])
    out = [*(left[i] for i in lb), *(left[i] for i in free_left), *(right[j] for j in free_right)]
    summed = [a for i in lc for a in left[i]]
    return p.bind(eqn, [p.block_of(x, left), p.block_of(y, right)], [out], pending=summed, out_sharding=None)


@shard.rule(conv_general_dilated_p)
def _conv(p, operands, eqn):
    """Batch and output features keep their axes; input features give partial sums.  Spatial dimensions keep them if
    neighbours can exchange the rows at their ends, those of the kernel as partial sums; otherwise they are gathered."""
    x, w = operands
    numbers, params = eqn.params["dimension_numbers"], eqn.params
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return _conv_in_groups(p, operands, eqn)
    batch, features = numbers.lhs_spec[0], numbers.lhs_spec[1]
    outputs, inputs = numbers.rhs_spec[0], numbers.rhs_spec[1]
    chosen, left, right = AxisAssignment(p), [()] * x.aval.ndim, [()] * w.aval.ndim
    left[batch] = chosen.choose((x.axes[batch],), x.aval.shape[batch])
    right[outputs] = chosen.choose((w.axes[outputs],), w.aval.shape[outputs])
    candidates = x.axes[features], w.axes[inputs]
    left[features] = right[inputs] = chosen.choose(candidates, x.aval.shape[features])
    out, pending, padding = [()] * x.aval.ndim, left[features], list(params["padding"])
    out[numbers.out_spec[0]], out[numbers.out_spec[1]] = left[batch], right[outputs]
    halos = {}
    for i, (d, k, o) in enumerate(zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:])):
        of_kernel, halo = _spatial_halo(p, operands, eqn, i, (d, k, o))
        names = halo and chosen.choose(((w if of_kernel else x).axes[k if of_kernel else d],), x.aval.shape[d])
        if names:
            left[d], halos[d], padding[i] = names, halo, (0, 0)
            pending = (*pending, *names) if of_kernel else pending
            (right if of_kernel else out)[k if of_kernel else o] = names
    block = p.block_of(x, left)
    for d, halo in halos.items():
        block = with_halo(p, block, d, left[d], halo)
    return p.bind(eqn, [block, p.block_of(w, right)], [out], pending, padding=tuple(padding), out_sharding=None)


def _spatial_halo(p, operands, eqn, i, dims):
    """(whether spatial dimension `i` is split in the kernel, what devices need from their neighbours, or None)."""
    (x, w), params, (d, k, o) = operands, eqn.params, dims
    stride, dilation, before = params["window_strides"][i], params["rhs_dilation"][i], params["padding"][i][0]
    length, window, count = x.aval.shape[d], w.aval.shape[k], eqn.outvars[0].aval.shape[o]
    of_kernel = bool(w.axes[k])
    names = w.axes[k] if of_kernel else x.axes[d]
    if not names or params["lhs_dilation"][i] != 1:
        return of_kernel, None
    if of_kernel:  # it goes over the operand in steps of its dilation, with a window for each element of the result
        stride, dilation, window, count = dilation, stride, count, window
    halo = halo_of(length, p.count(names), window, stride, dilation, before) if count * stride == length else None
    return of_kernel, halo


def _conv_in_groups(p, operands, eqn):
    """A convolution in groups keeps the axes of the batch, unless the batch is what is grouped."""
    x, w = operands
    numbers = eqn.params["dimension_numbers"]
    batch, left, out = numbers.lhs_spec[0], [()] * x.aval.ndim, [()] * x.aval.ndim
    if eqn.params["batch_group_count"] == 1:
        left[batch] = out[numbers.out_spec[0]] = x.axes[batch]
    return p.bind(eqn, [p.block_of(x, left), p.whole(w)], [out], out_sharding=None)
