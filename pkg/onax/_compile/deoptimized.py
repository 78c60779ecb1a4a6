"""jax_debug_nans and jax_debug_infs for jitted functions: a bad result makes the function run without jit."""

import sys

from onax._core.result_checks import VANISHED, first_special, floating_point_error
from onax._core.trace import as_array
from onax._native.tree import tree_flatten, tree_leaves, tree_unflatten
from onax._transforms.flatten import fun_name

_NOTICE = "Invalid {} value encountered in the output of a onax.jit function. Calling the de-optimized version."


def check_special(jitted, args, kwargs, result):
    """Raises FloatingPointError if a result of the call holds what the options forbid.

    The function then runs once more as if it were not jitted (functions that it calls still are, and are opened in
    their turn), so that the error is that of the first operation that gives such a value.
    """
    found = first_special(tree_leaves(result))
    if found is None:
        return
    print(_NOTICE.format(found[0]), file=sys.stderr)
    args, kwargs = _as_arrays(jitted, args, kwargs)
    jitted.fun(*args, **kwargs)
    raise floating_point_error(f"jit({fun_name(jitted.fun)})", found, tree_leaves((args, kwargs)), VANISHED)


def _as_arrays(jitted, args, kwargs):
    """The arguments as the function sees them under jit: arrays, except for the static ones."""
    positions, names = jitted.static_arguments
    static = {n % len(args) for n in positions if -len(args) <= n < len(args)}
    converted = tuple(x if i in static else _tree_of_arrays(x) for i, x in enumerate(args))
    return converted, {name: x if name in names else _tree_of_arrays(x) for name, x in kwargs.items()}


def _tree_of_arrays(x):
    leaves, tree = tree_flatten(x)
    return tree_unflatten(tree, [as_array(leaf) for leaf in leaves])
