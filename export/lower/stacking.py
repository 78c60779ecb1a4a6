"""Lowerings of stack, unstack and tile."""

from onax._prims.shaping import broadcast_in_dim, expand_dims, reshape, squeeze
from onax._prims.slicing import concatenate, split
from onax._prims.stacking import stack_p, tile_p, unstack_p
from onax.export.lower.registry import decompose


def _stack(*xs, axis):
    return concatenate([expand_dims(x, (axis,)) for x in xs], axis)


def _unstack(x, *, axis):
    return [squeeze(part, (axis,)) for part in split(x, (1,) * x.shape[axis], axis)]


def _tile(x, *, reps):
    pairs = tuple(n for pair in zip(reps, x.shape) for n in pair)
    wide = broadcast_in_dim(x, pairs, tuple(range(1, 2 * x.ndim, 2)))
    return reshape(wide, tuple(n * r for n, r in zip(x.shape, reps)))


decompose(stack_p, _stack)
decompose(unstack_p, _unstack)
decompose(tile_p, _tile)
