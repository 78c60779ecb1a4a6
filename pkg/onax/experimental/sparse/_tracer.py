"""`sparsify` by a trace: the function runs on tracers of sparse arrays, and no program is made."""

from typing import Any

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import Trace, Tracer, find_cur_trace, typeof
from onax._native.avals import ShapedArray
from onax._native.context import set_current_trace
from onax._native.tree import tree_flatten, tree_unflatten
from onax.experimental.sparse import _rules


class SparseTracer(Tracer):
    """What a function of `sparsify(..., use_tracer=True)` gets for its arguments, dense ones included.

    Args:
      trace: the trace that interprets operations on it.
      val: an array, a BCOO or a BCSR.

    Examples:
      >>> from onax.experimental import sparse
      >>> is_tracer = lambda x: isinstance(x, sparse.SparseTracer)
      >>> sparse.sparsify(is_tracer, use_tracer=True)(sparse.eye(2))
      Array(True, dtype=bool)
    """

    __slots__ = ("val",)

    def __init__(self, trace: "SparseTrace", val: Any):
        data = typeof(val.data if _rules.is_sparse(val) else val)
        super().__init__(trace, ShapedArray(val.shape, data.dtype, data.weak_type))
        self.val = val

    def __repr__(self):
        return f"{type(self).__name__}<{self.aval.str_short()}>"


class SparseTrace(Trace):
    """Applies each operation on tracers of sparse arrays by its rule, under the parent.

    Args:
      parent_trace: the trace under which the rules run.

    Examples:
      >>> from onax.experimental import sparse
      >>> kind = lambda x: jnp.array(isinstance(x._trace, sparse.transform.SparseTrace))
      >>> sparse.sparsify(kind, use_tracer=True)(sparse.eye(2))
      Array(True, dtype=bool)
    """

    __slots__ = ()
    transformation = "sparsify"

    def unpack(self, x):
        """The value of a tracer of this trace; anything else unchanged."""
        return x.val if isinstance(x, SparseTracer) and x._trace is self else x

    def pack(self, x):
        """A tracer of a value."""
        return SparseTracer(self, x if _rules.is_sparse(x) else jnp.asarray(x))

    def process_primitive(self, primitive, args, params):
        values = [self.unpack(x) for x in args]
        with set_current_trace(self.parent_trace):
            out = _rules.apply(primitive, values, params)
            return [self.pack(x) for x in out] if primitive.multiple_results else self.pack(out)

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        return fun(*args)

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        return fun(*args)


def sparsify_by_tracing(f, args):
    """The result of a function on a tree of arrays and sparse arrays."""
    leaves, tree = tree_flatten(args, is_leaf=_rules.is_sparse)
    trace = SparseTrace(find_cur_trace())
    trace.function = f
    tracers = [trace.pack(x) for x in _rules.apart([x if _rules.is_sparse(x) else jnp.asarray(x) for x in leaves])]
    try:
        with set_current_trace(trace):
            out, out_tree = tree_flatten(f(*tree_unflatten(tree, tracers)))
            values = [trace.unpack(x) for x in out]
    finally:
        trace.invalidate()
    return tree_unflatten(out_tree, [x if _rules.is_sparse(x) else jnp.asarray(x) for x in values])


__all__ = ["SparseTrace", "SparseTracer"]

_wrap_api_functions(globals(), "onax.experimental.sparse.transform")
