"""stack, unstack and tile on tapes."""

from onax._control.fused import dense_strides
from onax._prims.stacking import stack_p, tile_p, unstack_p
from onax._tape.copies import copied
from onax._tape.rules import tape
from onax._tape.slicing import concatenated


@tape.rule(stack_p)
def _stack(b, out, *xs, axis):
    return b.bind(xs[0], out) if len(xs) == 1 else concatenated(b, out, xs, axis)


@tape.rule(unstack_p)
def _unstack(b, outs, x, *, axis):
    strides = dense_strides(x.shape)
    if len(outs) == 1:
        return [b.bind(x, outs[0])]
    rest = (*strides[:axis], *strides[axis + 1 :])
    return [copied(b, out, x, out.shape, rest, i * strides[axis]) for i, out in enumerate(outs)]


@tape.rule(tile_p)
def _tile(b, out, x, *, reps):
    if out.shape == x.shape:
        return b.bind(x, out)
    shape = [n for pair in zip(reps, x.shape) for n in pair]
    return copied(b, out, x, shape, [s for stride in dense_strides(x.shape) for s in (0, stride)])
