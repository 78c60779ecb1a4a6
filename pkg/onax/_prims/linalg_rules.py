"""Checks and rules that the linear algebra primitives share."""

import numpy as np

from onax._core.trace import as_array
from onax._ground import dims, dtypes
from onax._native.array import Array
from onax._prims.elementwise_rows import check_same_dtypes
from onax._prims.shaping import bdim_at_front

_ANY = (np.floating, np.complexfloating)


def check_operands(name, avals, ranks, kinds=_ANY):
    """Raises TypeError unless the operands have one dtype of `kinds` and equally many batch axes in front of `ranks`
    matrix or vector axes; raises ValueError unless the batch axes have equal lengths."""
    for i, (x, rank) in enumerate(zip(avals, ranks)):
        if not any(dtypes.issubdtype(x.dtype, kind) for kind in kinds):
            at, named = f"at position {i}", ", ".join(k.__name__ for k in kinds)
            raise TypeError(
                f"{name} does not accept dtype {x.dtype} {at}. Accepted dtypes {at} are subtypes of "
                f"{named.replace('integer', 'int32')}."
            )
        if x.ndim < rank:
            raise TypeError(f"Input {i} to {name} must have rank at least {rank}, but got shape={x.shape}")
    if len(avals) == 1:
        return
    check_same_dtypes(name, avals)
    counts = [x.ndim - rank for x, rank in zip(avals, ranks)]
    if len(set(counts)) > 1:
        raise TypeError(
            f"All inputs to {name} must have the same number of batch dimensions, but got {counts} batch dimensions "
            "for the inputs."
        )
    first = avals[0].shape[: counts[0]]
    for x in avals[1:]:
        for axis, (m, n) in enumerate(zip(first, x.shape)):
            if not dims.equal(m, n):
                raise ValueError(f"Batching dimension 0_{axis} corresponds to two sizes: {m} and {n}")


def is_square(x):
    """Whether the matrices of an aval are square."""
    return dims.equal(x.shape[-1], x.shape[-2])


def check_square(name, x, what="input to {name}"):
    """Raises ValueError unless the matrices are square."""
    if not is_square(x):
        raise ValueError(f"The {what.format(name=name)} must be a square matrix. Got shape {x.shape[-2:]}.")


def def_linalg_rules(primitive):
    """Sets the batching rule and the weak types of a primitive on stacks of matrices: mapped axes become leading
    axes."""

    def batch(axis_data, operands, mapped, **params):
        moved = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, mapped)]
        out = primitive.bind(*moved, **params)
        return out, [0] * len(out) if primitive.multiple_results else 0

    primitive.batch = batch
    primitive.abstract_eval = weak_as_operands(primitive.abstract_eval)
    return primitive


def weak_as_operands(abstract_eval):
    """Wraps an abstract rule to make its results weakly typed where all operands are."""

    def with_weak_types(*avals, **params):
        out = abstract_eval(*avals, **params)
        if not all(a.weak_type for a in avals):
            return out
        if isinstance(out, (list, tuple)):
            return [a.update_weak_type(True) for a in out]
        return out.update_weak_type(True)

    return with_weak_types


def operand(x):
    """Converts x to an Array."""
    return x if isinstance(x, Array) else as_array(x)
