"""Which arguments of a call are given up to its results, and what says so."""

import warnings

from onax._core.jaxpr import Literal
from onax._ground import source
from onax._ground.errors import JaxRuntimeError
from onax._native.array import ArrayImpl


def read_donations(donated, jaxpr, keep_unused):
    """The flags of donated arguments without those that the program does not read, which the caller keeps."""
    if keep_unused or not any(donated):
        return donated
    read = {v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal}
    read |= {v for v in jaxpr.outvars if type(v) is not Literal}
    return [flag and v in read for flag, v in zip(donated, jaxpr.invars[len(jaxpr.invars) - len(donated) :])]


def usable_donations(donated, in_avals, out_avals):
    """Positions of donated arguments that a result can reuse, one of as many elements and bytes for each."""
    return [i for i, j in _matches(donated, in_avals, out_avals) if _itemsize(in_avals[i]) == _itemsize(out_avals[j])]


def _matches(donated, in_avals, out_avals):
    """Pairs of a donated argument and a result with as many elements, of equal shape and dtype where there is one."""
    results, pairs = dict(enumerate(out_avals)), []
    for i, (flag, aval) in enumerate(zip(donated, in_avals)):
        fits = [j for j, out in results.items() if flag and out.size == aval.size]
        if fits:
            best = max(fits, key=lambda j: (_itemsize(results[j]) == _itemsize(aval), results[j].shape == aval.shape))
            pairs.append((i, best))
            del results[best]
    return pairs


def _itemsize(aval):
    return aval.dtype.itemsize


def warn_of_unused(donated, in_avals, out_avals):
    """Warns of the donated arguments that have the number of elements of no result."""
    used = {i for i, _ in _matches(donated, in_avals, out_avals)}
    unused = [
        f"{'~' * aval.weak_type}{aval.str_short()}"
        for i, (flag, aval) in enumerate(zip(donated, in_avals))
        if flag and i not in used
    ]
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
