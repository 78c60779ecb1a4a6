"""Rules of `sparsify`, what operations of dense arrays do with sparse ones, and how programs run with them."""

import functools

from onax import lax
from onax import numpy as jnp
from onax._core.jaxpr import Literal
from onax._core.paths import equality_errors_pytreedef, keystr
from onax._core.programs import program_of_call
from onax._core.rules import add_any_p
from onax._core.slots import Slot
from onax._native.tree import tree_leaves, tree_structure
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax.experimental.sparse import bcoo
from onax.experimental.sparse._base import JAXSparse
from onax.experimental.sparse._layout import broadcast_batch, unique_elements
from onax.experimental.sparse.api import todense_p
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR

sparse = Slot(
    "sparse",
    "rule(primitive, *operands, **params) -> result; operands are dense arrays and BCOO",
    "sparsify refuses sparse operands",
    "onax.experimental.sparse",
)


def is_sparse(x):
    """Whether a value is a sparse array."""
    return isinstance(x, JAXSparse)


def types_of(leaves):
    """The values, and types in the place of sparse arrays."""
    return [ShapeDtypeStruct(x.shape, x.dtype) if is_sparse(x) else x for x in leaves]


def apart(leaves):
    """The values; sparse arrays among them share no indices, so far as rules can tell."""
    return [x._with(x.data, keeps_indices=False) if isinstance(x, BCOO) else x for x in leaves]


def evaluate(jaxpr, consts, args):
    """The results of a program, equation by equation, by rules where an operand is sparse."""
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

    def read(atom):
        return atom.array if type(atom) is Literal else env[atom]

    for eqn in jaxpr.eqns:
        out = apply(eqn.primitive, [read(a) for a in eqn.invars], eqn.params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(a) for a in jaxpr.outvars]


def apply(primitive, operands, params):
    """The results of an operation, by its rule where an operand is sparse; of a call, those of its program."""
    if not any(map(is_sparse, operands)):
        return primitive.bind(*operands, **params)
    body = program_of_call(primitive, params)
    if body is not None:
        return evaluate(body, body.consts, operands)
    rule = sparse.get(primitive)
    if rule is None:
        raise NotImplementedError(f"sparse rule for {primitive.name} is not implemented.")
    coordinates = [x.to_bcoo() if is_sparse(x) and not isinstance(x, BCOO) else x for x in operands]
    result = rule(primitive, *coordinates, **params)
    if not all(isinstance(x, BCSR) for x in operands if is_sparse(x)):
        return result
    return [*map(_rows_of, result)] if primitive.multiple_results else _rows_of(result)


def _rows_of(x):
    """A BCOO with two sparse axes as a BCSR; anything else unchanged."""
    return BCSR.from_bcoo(x) if isinstance(x, BCOO) and x.n_sparse == 2 else x


@sparse.rule(
    lax.acos_p, lax.acosh_p, lax.bessel_i0e_p, lax.cos_p, lax.cosh_p, lax.eq_p, lax.exp_p, lax.ge_p, lax.gt_p,
    lax.le_p, lax.lt_p, lax.log_p, lax.ne_p, lax.xor_p,
)  # fmt: skip
def _would_be_dense(primitive, *operands, **params):
    raise NotImplementedError(
        f"sparse rule for {primitive.name} is not implemented because it would result in dense output. If this is your "
        "intent, use sparse.todense() to convert your arguments to dense matrices."
    )


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
    return _zero_preserving(primitive, x, y=y)


@sparse.rule(todense_p)
def _todense(primitive, x, *, tree):
    return x.todense()


# ---- operations of two operands


@sparse.rule(lax.add_p, add_any_p)
def _add(primitive, x, y):
    if not (isinstance(x, BCOO) and isinstance(y, BCOO)):
        return _add_dense(x, y) if isinstance(x, BCOO) else _add_dense(y, x)
    if x.shape != y.shape:
        raise NotImplementedError("Addition between sparse matrices of different shapes.")
    if x.has_indices_of(y):
        return x._with(primitive.bind(x.data, y.data))
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        raise NotImplementedError("Addition between sparse matrices with different batch/dense dimensions.")
    n = x.n_batch
    shared = all(a.shape[:n] == b.shape[:n] for a, b in zip(x._bufs, y._bufs))
    pairs = zip(x._bufs, y._bufs) if shared else zip(broadcast_batch(x), broadcast_batch(y))
    return BCOO([lax.concatenate(pair, n) for pair in pairs], shape=x.shape)


def _add_dense(x, y):
    if lax.broadcast_shapes(x.shape, y.shape) != y.shape:
        raise NotImplementedError(
            "Addition between a sparse array X and a dense array Y is not implemented when the output shape is larger "
            "than Y.shape. This is to prevent silent densification of a large sparse array. If this is your intent, "
            "you can explicitly cast the sparse array to a dense matrix."
        )
    return x.todense() + y


@sparse.rule(lax.sub_p)
def _sub(primitive, x, y):
    if not (isinstance(x, BCOO) and isinstance(y, BCOO)):
        raise NotImplementedError("Subtraction between sparse and dense array.")
    return _add(lax.add_p, x, y._with(-y.data))


@sparse.rule(lax.mul_p)
def _mul(primitive, x, y, **_):
    if isinstance(x, BCOO) and isinstance(y, BCOO):
        if x.unique_indices and x.has_indices_of(y):
            return x._with(x.data * y.data)
        return bcoo.bcoo_multiply_sparse(x, y)
    mat, other = (x, y) if isinstance(x, BCOO) else (y, x)
    return mat._with(bcoo.bcoo_multiply_dense(mat, other))


@sparse.rule(lax.div_p)
def _div(primitive, x, y):
    if isinstance(y, BCOO):
        raise NotImplementedError(
            "Division by a sparse array is not implemented because it would result in dense output. If this is your "
            "intent, use sparse.todense() to convert your arguments to a dense array."
        )
    return x._with(bcoo.combine(x, y, jnp.true_divide if jnp.issubdtype(x.dtype, jnp.inexact) else lax.div))


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


@sparse.rule(lax.gather_p)
def _gather(primitive, x, start_indices, *, dimension_numbers, slice_sizes, **params):
    if isinstance(start_indices, BCOO):
        raise NotImplementedError("sparse rule for gather with sparse indices; use sparse.todense()")
    return bcoo.bcoo_gather(x, start_indices, dimension_numbers, slice_sizes, **params)


@sparse.rule(lax.conv_general_dilated_p)
def _convolve(primitive, lhs, rhs, **params):
    return bcoo.bcoo_conv_general_dilated(lhs, rhs, **params)


@sparse.rule(lax.concatenate_p)
def _concatenate(primitive, *operands, dimension):
    return bcoo.bcoo_concatenate(operands, dimension=dimension)


@sparse.rule(lax.stack_p)
def _stack(primitive, *operands, axis):
    if not all(isinstance(x, BCOO) for x in operands):
        raise NotImplementedError("stacking sparse and dense arrays; use sparse.todense() or BCOO.fromdense()")
    kept = [i if i < axis else i + 1 for i in range(operands[0].ndim)]
    wider = []
    for x in operands:
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        wider.append(bcoo.bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=kept))
    return bcoo.bcoo_concatenate(wider, dimension=axis)


# ---- control flow: the operation itself, on trees of the buffers


@sparse.rule(lax.cond_p)
def _cond(primitive, index, *operands, branches, **_):
    if is_sparse(index):
        raise NotImplementedError("sparse rule for cond with a sparse predicate; use sparse.todense()")
    functions = [functools.partial(_results, branch) for branch in branches]
    _check_branches(functions, operands)
    return lax.switch(index, functions, *operands)


def _results(program, *operands):
    return tuple(evaluate(program, program.consts, operands))


def _check_branches(functions, operands):
    """TypeError unless all branches give sparse arrays of one layout in the same places."""
    names = ["true_fun", "false_fun"] if len(functions) == 2 else [f"branch {i}" for i in range(len(functions))]
    order = (1, 0) if len(functions) == 2 else range(len(functions))  # index 0 is the false branch
    types = [eval_shape(functions[i], *operands) for i in order]
    for name, other in zip(names[1:], types[1:]):
        one, two = f"sparsified {names[0]} output", f"sparsified {name} output"
        structures = [tree_structure(t) for t in (types[0], other)]
        if structures[0] != structures[1]:
            lines = [f"{one} must have same type structure as {two}, but there are differences: "]
            for path, first, second, reason in equality_errors_pytreedef(*structures):
                lines.append(f"    * at output{keystr(path)}, {one} has {first} and {two} has {second}, {reason}")
            raise TypeError("\n".join(lines))
        leaves = [[(x.shape, x.dtype) for x in tree_leaves(t)] for t in (types[0], other)]
        if leaves[0] != leaves[1]:
            raise TypeError(f"{one} and {two} must have identical types, got\n{types[0]} and {other}.")


def _without_claims(x):
    """The value; of a sparse one nothing is known about its indices, as a loop may bring others."""
    return type(x)(x._bufs, shape=x.shape) if isinstance(x, BCOO) else x


def _carry_of(carry, step):
    """The carry of a loop, without what is known about indices where `step(*carry)` does not keep it."""
    new = eval_shape(step, *carry)[: len(carry)]
    return tuple(x if tree_structure(x) == tree_structure(y) else _without_claims(x) for x, y in zip(carry, new))


def _like(carry, results):
    """The results of a step, as little known about their indices as about the carry's."""
    return tuple(
        _without_claims(y) if isinstance(x, BCOO) and isinstance(y, BCOO) and not x.unique_indices else y
        for x, y in zip(carry, results)
    )


@sparse.rule(lax.while_p)
def _while(primitive, *operands, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    n = cond_nconsts + body_nconsts
    cond_consts, body_consts, carry = operands[:cond_nconsts], operands[cond_nconsts:n], operands[n:]
    body = functools.partial(_results, body_jaxpr, *body_consts)
    carry = _carry_of(carry, body)
    condition = lambda state: _results(cond_jaxpr, *cond_consts, *state)[0]
    return lax.while_loop(condition, lambda state: _like(state, body(*state)), carry)


@sparse.rule(lax.scan_p)
def _scan(primitive, *operands, jaxpr, num_consts, num_carry, length, reverse, unroll, **_):
    consts, carry, xs = operands[:num_consts], operands[num_consts:][:num_carry], operands[num_consts + num_carry :]
    if any(map(is_sparse, xs)):
        raise NotImplementedError("sparse rule for scan with x values.")
    step = functools.partial(_results, jaxpr, *consts)
    carry = _carry_of(carry, lambda *carry: step(*carry, *(x[0] for x in xs)))

    def body(state, row):
        results = step(*state, *row)
        return _like(state, results[:num_carry]), results[num_carry:]

    state, stacked = lax.scan(body, carry, xs, length=length, reverse=reverse, unroll=unroll)
    return (*state, *(_stacked(x, length) if is_sparse(x) else x for x in stacked))


def _stacked(x, length):
    """The sparse array of the values of all steps, whose buffers have got a leading axis: it is a batch axis."""
    return type(x)(x._bufs, **x._info._asdict() | {"shape": (length, *x.shape)})
