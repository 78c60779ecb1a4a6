"""`sparsify`: functions of dense arrays on sparse ones.

The function is staged for dense arguments of the same shapes, and its equations are evaluated one after the other, by
the rules of the slot `sparse` where an operand is sparse.
"""

import functools
from collections.abc import Callable
from typing import Any

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import AnyFunction
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.abstract import stage as _stage
from onax.experimental.sparse import _rules
from onax.experimental.sparse._environment import (
    SparsifyEnv,
    SparsifyValue,
    arrays_to_spvalues,
    eval_sparse,
    sparse_rules_bcoo,
    sparsify_raw,
    spvalues_to_arrays,
    spvalues_to_avals,
)
from onax.experimental.sparse._tracer import SparseTrace, SparseTracer, sparsify_by_tracing


def sparsify(f: AnyFunction, use_tracer: bool = False) -> Callable[..., Any]:
    """The function for sparse arguments: operations on them give sparse results where these have zeros too.

    Args:
      f: a function of trees of arrays; `sparse.todense` within it makes an operand dense.
      use_tracer: True: the function runs on SparseTracers, and takes no keyword arguments; default False: its program
        is staged first.

    Returns:
      A function whose arguments may contain BCOO and BCSR.  Results of operations are BCOO, and BCSR with two sparse
      axes where all sparse operands are BCSR.  It raises NotImplementedError for operations without a rule.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax.experimental import sparse
      >>> m = sparse.BCOO.fromdense(jnp.arange(12).reshape(3, 4))
      >>> sparse.sparsify(lambda m, v: 2 * m.T @ v)(m, jnp.array([3, 4, 2])).tolist()
      [64, 82, 100, 118]
    """

    if use_tracer:
        return functools.wraps(f)(lambda *args: sparsify_by_tracing(f, args))

    @functools.wraps(f)
    def wrapped(*args, **params):
        leaves, tree = tree_flatten(args, is_leaf=_rules.is_sparse)
        leaves = [x if _rules.is_sparse(x) else jnp.asarray(x) for x in leaves]
        flat = lambda *flat: f(*tree_unflatten(tree, flat), **params)
        jaxpr, out_tree, _ = _stage(flat, _rules.types_of(leaves), {})
        return tree_unflatten(out_tree, _rules.evaluate(jaxpr, jaxpr.consts, _rules.apart(leaves)))

    return wrapped


__getattr__ = _unavailable(
    __name__,
    {
        "sparse_rules_bcsr": "rules get BCSR operands as BCOOs: add them to sparse_rules_bcoo",
        "bcsr_impl impl method sparsify_fun": "use sparsify or sparsify_raw",
    },
)

__all__ = [
    "SparseTrace",
    "SparseTracer",
    "SparsifyEnv",
    "SparsifyValue",
    "arrays_to_spvalues",
    "eval_sparse",
    "sparse_rules_bcoo",
    "sparsify",
    "sparsify_raw",
    "spvalues_to_arrays",
    "spvalues_to_avals",
]

_wrap_api_functions(globals(), __name__)
