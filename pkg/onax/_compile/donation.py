"""Which arguments of a call are given up to its results, and what says so."""

import warnings

from onax._ground import source
from onax._ground.errors import JaxRuntimeError
from onax._native.array import ArrayImpl


def usable_donations(donated, in_avals, out_avals):
    """Positions of donated arguments that a result can reuse, one of equal shape and dtype for each."""
    result_types = [(a.shape, a.dtype) for a in out_avals]
    used = []
    for i, (flag, aval) in enumerate(zip(donated, in_avals)):
        if flag and (aval.shape, aval.dtype) in result_types:
            result_types.remove((aval.shape, aval.dtype))
            used.append(i)
    return used


def warn_of_unused(donated, used, in_avals):
    """Warns of the donated arguments that are not at the positions `used`."""
    unused = [aval.str_short() for i, (flag, aval) in enumerate(zip(donated, in_avals)) if flag and i not in used]
    if unused:
        warnings.warn(f"Some donated buffers were not usable: {', '.join(unused)}.", stacklevel=source.stacklevel())


def refuse_double_donation(position, other):
    """Raises the error of an array that is donated and an argument once more."""
    raise JaxRuntimeError(
        "INVALID_ARGUMENT: Attempt to use a buffer that was previously donated in the same call: the flattened "
        f"argument {position}, which is donated, is the flattened argument {other} too"
    )


def moved_donations(donated, given, leaves):
    """Pairs of a donated array and what stands for it on the devices of its sharding, where both can share memory."""
    pairs = []
    for array, copy, flag in zip(given, leaves, donated):
        if flag and array is not copy and type(array) is ArrayImpl and type(copy) is ArrayImpl:
            target = copy.sharding
            if target.is_fully_replicated or array.sharding.is_equivalent_to(target, array.ndim):
                pairs.append((array, copy))
    return pairs


def delete_moved(moved):
    """Deletes the donated arrays of `moved_donations` whose stand-ins a call has used up."""
    for array, copy in moved:
        if copy.is_deleted():
            array.delete()
