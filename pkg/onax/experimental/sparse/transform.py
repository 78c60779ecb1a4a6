"""`sparsify`: functions of dense arrays on sparse ones.

The function is staged for dense arguments of the same shapes, and its equations are evaluated one after the other, by
the rules of the slot `sparse` where an operand is sparse.
"""

import functools
from collections.abc import Callable
from typing import Any

from onax import lax
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.jaxpr import Literal
from onax._core.programs import called_program
from onax._core.rules import add_any_p
from onax._core.slots import Slot
from onax._ground.typing import AnyFunction
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax.experimental.sparse import bcoo
from onax.experimental.sparse._base import JAXSparse
from onax.experimental.sparse._layout import unique_elements
from onax.experimental.sparse.api import todense_p
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR

sparse = Slot(
    "sparse",
    "rule(primitive, *operands, **params) -> result; operands are dense arrays and BCOO",
    "sparsify refuses sparse operands",
    "onax.experimental.sparse",
)


def _is_sparse(x):
    return isinstance(x, JAXSparse)


def sparsify(f: AnyFunction, use_tracer: bool = False) -> Callable[..., Any]:
    """The function for sparse arguments: operations on them give sparse results where these have zeros too.

    Args:
      f: a function of trees of arrays; `sparse.todense` within it makes an operand dense.
      use_tracer: accepted for compatibility with JAX.

    Returns:
      A function whose arguments may contain BCOO and BCSR.  Results of operations are BCOO, except that elementwise
      ones keep BCSR.  It raises NotImplementedError for operations without a rule.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax.experimental import sparse
      >>> m = sparse.BCOO.fromdense(jnp.arange(12).reshape(3, 4))
      >>> sparse.sparsify(lambda m, v: 2 * m.T @ v)(m, jnp.array([3, 4, 2])).tolist()
      [64, 82, 100, 118]
    """

    @functools.wraps(f)
    def wrapped(*args, **params):
        leaves, tree = tree_flatten(args, is_leaf=_is_sparse)
        types = [ShapeDtypeStruct(x.shape, x.dtype) if _is_sparse(x) else x for x in leaves]
        jaxpr, out_tree, _ = stage(lambda *flat: f(*tree_unflatten(tree, flat), **params), types, {})
        return tree_unflatten(out_tree, _evaluate(jaxpr, jaxpr.consts, leaves))

    return wrapped


def _evaluate(jaxpr, consts, args):
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

    def read(atom):
        return atom.array if type(atom) is Literal else env[atom]

    for eqn in jaxpr.eqns:
        operands = [read(a) for a in eqn.invars]
        if not any(map(_is_sparse, operands)):
            out = eqn.primitive.bind(*operands, **eqn.params)
        elif (body := called_program(eqn)) is not None:
            out = _evaluate(body, body.consts, operands)
        else:
            out = _apply(eqn.primitive, operands, eqn.params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(a) for a in jaxpr.outvars]


def _apply(primitive, operands, params):
    rule = sparse.get(primitive)
    if rule is None:
        reason = "would result in dense output" if primitive.kernel is not None else "holds a program"
        raise NotImplementedError(
            f"sparse rule for {primitive.name} is not implemented because it {reason}. If this is your intent, use "
            "sparse.todense() to convert your arguments to dense matrices."
        )
    coordinates = [x.to_bcoo() if _is_sparse(x) and not isinstance(x, BCOO) else x for x in operands]
    result = rule(primitive, *coordinates, **params)
    rows = [x for x in operands if isinstance(x, BCSR)]
    if rows and isinstance(result, BCOO) and result.shape == rows[0].shape and result.nse == rows[0].nse:
        return BCSR.from_bcoo(result)
    return result


# ---- elementwise operations that keep zeros


@sparse.rule(lax.conj_p, lax.copy_p, lax.imag_p, lax.neg_p, lax.real_p, lax.reduce_precision_p)
def _linear(primitive, x, **params):
    return x._with(primitive.bind(x.data, **params))


@sparse.rule(
    lax.abs_p, lax.asin_p, lax.asinh_p, lax.atan_p, lax.atanh_p, lax.bessel_i1e_p, lax.cbrt_p, lax.ceil_p, lax.erf_p,
    lax.expm1_p, lax.floor_p, lax.log1p_p, lax.round_p, lax.sign_p, lax.sin_p, lax.sinh_p, lax.sqrt_p, lax.square_p,
    lax.tan_p, lax.tanh_p, lax.convert_element_type_p,
)  # fmt: skip
def _zero_preserving(primitive, x, **params):
    x = unique_elements(x)
    return x._with(primitive.bind(x.data, **params))


@sparse.rule(lax.integer_pow_p)
def _integer_pow(primitive, x, *, y):
    if y <= 0:
        raise NotImplementedError(
            f"sparse rule for integer_pow with non-positive exponent {y} is not implemented because it would result in "
            "dense output. If this is your intent, use sparse.todense() to convert your argument to a dense array."
        )
    return x**y


@sparse.rule(todense_p)
def _todense(primitive, x):
    return x.todense()


# ---- operations of two operands


@sparse.rule(lax.add_p, add_any_p)
def _add(primitive, x, y):
    if isinstance(x, BCOO) and isinstance(y, BCOO) and x.indices is y.indices:
        return x._with(x.data + y.data)
    return x + y if isinstance(x, BCOO) else y + x


@sparse.rule(lax.sub_p)
def _sub(primitive, x, y):
    if not (isinstance(x, BCOO) and isinstance(y, BCOO)):
        raise NotImplementedError("Subtraction between sparse and dense array.")
    return x - y


@sparse.rule(lax.mul_p)
def _mul(primitive, x, y, **_):
    return x * y if isinstance(x, BCOO) else y * x


@sparse.rule(lax.div_p)
def _div(primitive, x, y):
    if isinstance(y, BCOO):
        raise NotImplementedError(
            "Division by a sparse array is not implemented because it would result in dense output. If this is your "
            "intent, use sparse.todense() to convert your argument to a dense array."
        )
    return x / y


@sparse.rule(lax.dot_general_p)
def _dot_general(primitive, x, y, *, dimension_numbers, preferred_element_type=None, **_):
    return bcoo.bcoo_dot_general(
        x, y, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type
    )


# ---- shapes


@sparse.rule(lax.reduce_sum_p)
def _reduce_sum(primitive, x, *, axes, **_):
    total = bcoo.bcoo_reduce_sum(x, axes=axes)
    return total if total.ndim else total.todense()


@sparse.rule(lax.transpose_p)
def _transpose(primitive, x, *, permutation):
    return bcoo.bcoo_transpose(x, permutation=permutation)


@sparse.rule(lax.reshape_p)
def _reshape(primitive, x, *, new_sizes, dimensions=None, **_):
    return bcoo.bcoo_reshape(x, new_sizes=new_sizes, dimensions=dimensions)


@sparse.rule(lax.broadcast_in_dim_p)
def _broadcast_in_dim(primitive, x, *, shape=None, broadcast_dimensions, **_):
    return bcoo.bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=broadcast_dimensions)


@sparse.rule(lax.squeeze_p)
def _squeeze(primitive, x, *, dimensions):
    return bcoo.bcoo_squeeze(x, dimensions=dimensions)


@sparse.rule(lax.rev_p)
def _rev(primitive, x, *, dimensions):
    return bcoo.bcoo_rev(x, dimensions)


@sparse.rule(lax.slice_p)
def _slice(primitive, x, *, start_indices, limit_indices, strides=None):
    return bcoo.bcoo_slice(x, start_indices=start_indices, limit_indices=limit_indices, strides=strides)


@sparse.rule(lax.dynamic_slice_p)
def _dynamic_slice(primitive, x, *starts, slice_sizes):
    return bcoo.bcoo_dynamic_slice(x, starts, slice_sizes)


def _sparse_operands(operands):
    if not all(isinstance(x, BCOO) for x in operands):
        raise NotImplementedError("joining sparse with dense arrays; use sparse.todense() or BCOO.fromdense()")
    return operands


@sparse.rule(lax.concatenate_p)
def _concatenate(primitive, *operands, dimension):
    return bcoo.bcoo_concatenate(_sparse_operands(operands), dimension=dimension)


@sparse.rule(lax.stack_p)
def _stack(primitive, *operands, axis):
    kept = [i if i < axis else i + 1 for i in range(operands[0].ndim)]
    wider = []
    for x in _sparse_operands(operands):
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        wider.append(bcoo.bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept))
    return bcoo.bcoo_concatenate(wider, dimension=axis)


__getattr__ = _unavailable(
    __name__,
    {
        "SparseTrace SparseTracer SparsifyEnv SparsifyValue arrays_to_spvalues bcsr_impl eval_sparse impl "
        "method sparse_rules_bcoo sparse_rules_bcsr sparsify_fun sparsify_raw spvalues_to_arrays "
        "spvalues_to_avals": (
            "sparsify evaluates the function's program with sparse operands; it has no trace and no records of its own"
        ),
    },
)

__all__ = ["sparsify"]

_wrap_api_functions(globals(), __name__)
