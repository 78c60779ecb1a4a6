"""jax_debug_nans and jax_debug_infs for jitted functions, which run again without jit after an invalid result."""

from onax._core.result_checks import VANISHED, first_special_value, floating_point_error
from onax._core.trace import as_array
from onax._native.array import Array
from onax._native.tree import tree_leaves

_NOTICE = "Invalid {} value encountered in the output of a onax.jit function. Calling the de-optimized version."


def check_special(call, result):
    """Raises FloatingPointError if a result of a call has a value that the options forbid.

    The function then runs again without jit (jitted functions that it calls run their programs, and are checked in the
    same way), so that the error names the first operation that returns such a value.
    """
    special = first_special_value(tree_leaves(result))
    if special is None:
        return
    print(_NOTICE.format(special[0]))
    leaves = [as_array(leaf) for leaf in call.leaves]
    # A NaN that comes as a Python number or an array of NumPy's is the caller's: no operation is to blame for it.
    if first_special_value(x for x, leaf in zip(leaves, call.leaves) if not isinstance(leaf, Array)) is None:
        call.run_eagerly(leaves)
    raise floating_point_error(f"jit({call.name})", special, leaves, VANISHED)


def refuse_special(name, leaves, result):
    """Raises FloatingPointError if a result of a `Compiled` has a value that the options forbid."""
    special = first_special_value(tree_leaves(result))
    if special is not None:
        raise floating_point_error(f"jit({name})", special, [as_array(leaf) for leaf in leaves])
