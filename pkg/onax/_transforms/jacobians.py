"""Jacobians and Hessians: derivatives along all tangents or cotangents of a basis, batched."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from onax._core.trace import typeof
from onax._ground import dims, dtypes, source
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.convert import convert_element_type, convert_element_type_p
from onax._prims.creation import broadcasted_iota, zeros_like_aval
from onax._prims.elementwise import add, eq, real
from onax._prims.shaping import reshape
from onax._prims.slicing import split
from onax._prims.varying import vary_as
from onax._transforms.autodiff import (
    Argnums,
    Arguments,
    argnums_partial,
    check_argnums,
    check_argument,
    check_grad_input,
    check_grad_output,
    check_holomorphic_output,
    describe_derivative,
    index_or_tuple,
    jvp,
    vjp,
)
from onax._transforms.flatten import check_callable
from onax._transforms.vmap import vmap


def _jacobian_function(fun, argnums, check_input, compute):
    """A function of the arguments of `fun` that calls `compute(partial, dynamic, arguments)`.

    `partial` is `fun` as a function of the tuple `dynamic`, its arguments at `argnums`; `arguments` is that tuple, or
    its one element if `argnums` is an integer.  `check_input` raises for leaves that cannot be differentiated.
    """
    check_callable(fun)
    argnums = index_or_tuple(argnums)

    @functools.wraps(fun, updated=())
    @source.api_boundary
    def jacobian(*args, **kwargs):
        check_argnums(argnums, len(args))
        partial, dynamic = argnums_partial(fun, args, kwargs, argnums)
        for x in tree_flatten(dynamic)[0]:
            check_input(x)
        return compute(partial, dynamic, dynamic[0] if isinstance(argnums, int) else dynamic)

    jacobian.__doc__ = describe_derivative("Jacobian", fun, argnums)
    return jacobian


def jacfwd(
    fun: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[Arguments, Any]:
    """Returns a function that computes a Jacobian by forward mode, all columns batched.

    It suits functions with more results than arguments.

    Args:
      fun: a function of trees of arrays.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      holomorphic: True: `fun` is holomorphic, and arguments and results are complex; default False.

    Returns:
      A function of the arguments of `fun` that returns a tree like the results, each leaf a tree like the argument with
      arrays of shape (*result, *argument); with `has_aux` (Jacobian, aux).

    Raises:
      TypeError: at a call, arguments that are not real, unless holomorphic.

    Examples:
      >>> onax.jacfwd(lambda x: x**2)(jnp.arange(3.0))
      Array([[0., 0., 0.],
             [0., 2., 0.],
             [0., 0., 4.]], dtype=float32)
    """

    def compute(partial, dynamic, arguments):
        if has_aux:
            push = lambda tangents: jvp(partial, dynamic, tangents, has_aux=True)
            value, columns, aux = vmap(push, out_axes=(None, -1, None))(_standard_basis(dynamic))
        else:
            push = lambda tangents: jvp(partial, dynamic, tangents)
            value, columns = vmap(push, out_axes=(None, -1))(_standard_basis(dynamic))
        for out in tree_flatten(value)[0] if holomorphic else ():
            check_holomorphic_output("jacfwd", typeof(out).dtype)
        columns = tree_map(_float0_to_integer_zeros, columns, value)
        jac = tree_map(lambda column, out: _unravel(arguments, column, -1, out), columns, value)
        return (jac, aux) if has_aux else jac

    return _jacobian_function(fun, argnums, lambda x: _check_jacfwd_input(x, holomorphic), compute)


def _float0_to_integer_zeros(x, like):
    """Replaces float0 derivatives of integers by integer zeros."""
    if typeof(x).dtype != dtypes.float0:
        return x
    return zeros_like_aval(ShapedArray(typeof(x).shape, typeof(like).dtype, typeof(like).weak_type))


def _check_jacfwd_input(x, holomorphic):
    check_argument(x)
    dtype = typeof(x).dtype
    if dtypes.is_extended(dtype):
        raise TypeError(f"jacfwd with input element type {dtype}")
    if holomorphic:
        if not dtypes.issubdtype(dtype, np.complexfloating):
            raise TypeError(f"jacfwd with holomorphic=True requires inputs with complex dtype, but got {dtype}.")
    elif not dtypes.issubdtype(dtype, np.floating):
        raise TypeError(
            "jacfwd requires real-valued inputs (input dtype that is a sub-dtype of np.floating), but got "
            f"{dtype}. For holomorphic differentiation, pass holomorphic=True. For differentiation of non-holomorphic "
            "functions involving complex inputs or integer inputs, use jax.jvp directly."
        )


def jacrev(
    fun: Callable[Arguments, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[Arguments, Any]:
    """Returns a function that computes a Jacobian by reverse mode, all rows batched.

    It suits functions with more arguments than results.

    Args:
      fun: a function of trees of arrays.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      holomorphic: True: `fun` is holomorphic, and arguments and results are complex; default False.
      allow_int: True: arguments may be integers; their derivatives have dtype float0.  Default False.

    Returns:
      A function of the arguments of `fun` that returns a tree like the results, each leaf a tree like the argument with
      arrays of shape (*result, *argument); with `has_aux` (Jacobian, aux).

    Raises:
      TypeError: at a call, results that are not real, unless holomorphic.

    Examples:
      >>> onax.jacrev(lambda x: x**2)(jnp.arange(3.0))
      Array([[0., 0., 0.],
             [0., 2., 0.],
             [0., 0., 4.]], dtype=float32)
    """

    def compute(partial, dynamic, arguments):
        if has_aux:
            value, pull, aux = vjp(partial, *dynamic, has_aux=True)
        else:
            value, pull = vjp(partial, *dynamic)
        for out in tree_flatten(value)[0]:
            check_grad_output("jacrev", typeof(out), holomorphic)
        rows = tree_map(_float0_to_integer_zeros, vmap(pull)(_standard_basis(value)), dynamic)
        # rows: for each argument a leading axis over all elements of the outputs
        leaves, in_tree = tree_flatten(arguments)
        by_leaf = [tree_flatten(_unravel(value, r, 0, x))[0] for r, x in zip(tree_flatten(rows)[0], leaves)]
        out_tree = tree_structure(value)
        by_out = [tree_unflatten(in_tree, [parts[i] for parts in by_leaf]) for i in range(out_tree.num_leaves)]
        jac = tree_unflatten(out_tree, by_out)
        return (jac, aux) if has_aux else jac

    check_input = lambda x: check_grad_input("jacrev", x, holomorphic, allow_int)
    return _jacobian_function(fun, argnums, check_input, compute)


jacobian = jacrev


def hessian(
    fun: Callable[Arguments, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[Arguments, Any]:
    """Returns a function that computes second derivatives, forward over reverse mode.

    Args:
      fun: a function of trees of arrays.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      holomorphic: True: `fun` is holomorphic, and arguments and results are complex; default False.

    Returns:
      A function of the arguments of `fun` that returns a tree like the results of trees like the argument, twice, with
      arrays of shape (*result, *argument, *argument).

    Raises:
      TypeError: `fun` is not callable, or the arguments are not real numbers.

    Examples:
      >>> onax.hessian(lambda x: x[0] ** 2 * x[1])(jnp.array([1.0, 2.0]))
      Array([[4., 2.],
             [2., 0.]], dtype=float32)
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


def _standard_basis(tree):
    """A tree like the given one whose leaves' leading axis runs over the standard basis of all leaves together."""
    leaves, treedef = tree_flatten(tree)
    avals = [typeof(x) for x in leaves]
    size = sum(dims.prod(a.shape) for a in avals)
    dtype = functools.reduce(dtypes.promote_types, [a.dtype for a in avals])
    flat = _identity_matrix(size, dtype)
    basis = _split_unravel(avals, flat, 1)
    basis = [vary_as(_bind_convert(b, a.dtype, a.weak_type), a) for b, a in zip(basis, avals)]
    return tree_unflatten(treedef, basis)


def _bind_convert(x, dtype, weak_type):
    """Binds a conversion even if it changes nothing, as JAX's programs do."""
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type, sharding=None)


def _identity_matrix(n, dtype):
    rows, columns = (broadcasted_iota(np.int32, (n, n), axis) for axis in (0, 1))
    return convert_element_type(eq(add(rows, np.int32(0)), columns), dtype)


def _unravel(tree, array, axis, like):
    """Splits one axis over the leaves of a tree and reshapes it to their shapes; parts have the type of `like`."""
    leaves, treedef = tree_flatten(tree)
    aval = typeof(like)
    parts = _split_unravel([typeof(x) for x in leaves], array, axis)
    return tree_unflatten(treedef, [_convert_to(p, aval.dtype, aval.weak_type) for p in parts])


def _convert_to(x, dtype, weak_type):
    """Converts to a dtype and weak type; drops the imaginary part for a real dtype, as JAX does."""
    aval = typeof(x)
    if dtypes.is_complex(aval.dtype) and not dtypes.is_complex(dtype):
        x = real(x)
    return x if (aval.dtype, aval.weak_type) == (dtype, weak_type) else _bind_convert(x, dtype, weak_type)


def _split_unravel(avals, array, axis):
    """Yields the parts one by one: JAX's programs reshape and convert each before the next."""
    shape = typeof(array).shape
    axis %= len(shape)
    parts = split(array, tuple(dims.prod(a.shape) for a in avals), axis)
    for part, aval in zip(parts, avals):
        yield _reshape_axis(part, axis, aval.shape)


def _reshape_axis(x, axis, shape):
    old = typeof(x).shape
    new = (*old[:axis], *shape, *old[axis + 1 :])
    return x if new == old else reshape(x, new)
