"""Reductions over axes, and the positions of extremes.

The other direction: `export/lower/reductions.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import nn
from onax.onnx.operators import operator


def _log_sum(x, axis, keepdims):
    return jnp.log(jnp.sum(x, axis, keepdims=keepdims))


def _product(x, axis, keepdims):
    return jnp.prod(x, axis, keepdims=keepdims)


REDUCTIONS = {
    "ReduceSum": lambda x, axis, keepdims: jnp.sum(x, axis, x.dtype, keepdims=keepdims),
    "ReduceMean": lambda x, axis, keepdims: jnp.mean(x, axis, x.dtype, keepdims=keepdims),
    "ReduceMax": lambda x, axis, keepdims: jnp.max(x, axis, keepdims=keepdims, initial=_least(x)),
    "ReduceMin": lambda x, axis, keepdims: jnp.min(x, axis, keepdims=keepdims, initial=_greatest(x)),
    "ReduceProd": lambda x, axis, keepdims: jnp.prod(x, axis, x.dtype, keepdims=keepdims),
    "ReduceL1": lambda x, axis, keepdims: jnp.sum(jnp.abs(x), axis, x.dtype, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis, keepdims=keepdims)).astype(x.dtype),
    "ReduceSumSquare": lambda x, axis, keepdims: jnp.sum(x * x, axis, x.dtype, keepdims=keepdims),
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": lambda x, axis, keepdims: nn.logsumexp(x, axis, keepdims=keepdims),
}


def _least(x):
    """What a maximum over no elements is."""
    if x.dtype == bool:
        return False
    return -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min


def _greatest(x):
    """What a minimum over no elements is."""
    if x.dtype == bool:
        return True
    return jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).max


@operator(*REDUCTIONS, static=(1,))
def _reduce(call, x, axes=None):
    x = jnp.asarray(x)
    axes = call.get("axes") if axes is None else axes
    axes = () if axes is None else tuple(int(axis) for axis in np.reshape(axes, -1))
    if not axes and call.get("noop_with_empty_axes", 0):
        if call.node.op_type in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
            return REDUCTIONS[call.node.op_type](x, (), True)
        return x
    return REDUCTIONS[call.node.op_type](x, axes or None, bool(call.get("keepdims", 1)))


@operator("ArgMax", "ArgMin")
def _arg_extreme(call, x):
    axis, keepdims = call.get("axis", 0), bool(call.get("keepdims", 1))
    find = jnp.argmax if call.node.op_type == "ArgMax" else jnp.argmin
    if not call.get("select_last_index", 0):
        return find(x, axis, keepdims=keepdims).astype(jnp.int64)
    return (x.shape[axis] - 1 - find(jnp.flip(x, axis), axis, keepdims=keepdims)).astype(jnp.int64)
