"""Batching rules that whole groups of primitives share; the names follow jax.interpreters.batching."""

from onax._prims.shaping import broadcast_in_dim, expand_dims, moveaxis, shape_of


def defvectorized(primitive):
    """Sets the batching rule of an elementwise primitive; returns the primitive.

    Operands that have one shape and one mapped axis are passed on as they are.  Otherwise the rule moves mapped axes to
    the front, gives an unmapped operand an axis of length 1 there, and appends axes of length 1 to mapped scalars;
    unmapped scalars stay scalars.
    """

    def batch(axis_data, operands, dims, **params):
        if len(operands) == 1:
            return primitive.bind(operands[0], **params), dims[0]
        shapes = [shape_of(x) for x in operands]
        shape, dim = next((s, d) for s, d in zip(shapes, dims) if d is not None)
        if all(s == shape and d == dim for s, d in zip(shapes, dims) if s):
            return primitive.bind(*operands, **params), dim
        moved = [_to_front(x, s, d) for x, s, d in zip(operands, shapes, dims)]
        rank = max(len(shape_of(x)) for x in moved)
        return primitive.bind(*(_fill_rank(x, rank) for x in moved), **params), 0

    primitive.batch = batch
    return primitive


def _to_front(x, shape, dim):
    if dim is not None:
        return moveaxis(x, dim, 0)
    return expand_dims(x, (0,)) if shape else x


def _fill_rank(x, rank):
    """Reshapes a mapped scalar of shape (n,) to (n, 1, ..., 1)."""
    shape = shape_of(x)
    if not shape or len(shape) == rank:
        return x
    return broadcast_in_dim(x, (*shape, *(1,) * (rank - len(shape))), tuple(range(len(shape))))


def defreducer(primitive, axes_param="axes"):
    """Sets the batching rule of a primitive that removes the axes named by one of its parameters; returns the
    primitive."""

    def batch(axis_data, operands, dims, **params):
        (x,), (dim,) = operands, dims
        axes = tuple(a + (a >= dim) for a in params.pop(axes_param))
        out = primitive.bind(x, **{axes_param: axes}, **params)
        return out, dim - sum(a < dim for a in axes)

    primitive.batch = batch
    return primitive
