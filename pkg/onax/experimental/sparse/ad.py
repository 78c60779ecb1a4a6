"""Derivatives with respect to sparse arrays: those of their stored elements, as arrays at the same indices."""

from collections.abc import Callable, Sequence
from typing import Any

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import Arguments, Result
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.tree import tree_flatten, tree_map
from onax._transforms import autodiff, jacobians
from onax.experimental.sparse._base import JAXSparse


def is_sparse(x: Any) -> bool:
    """Returns whether a value is a sparse array.

    Args:
      x: anything.

    Returns:
      bool.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.ad.is_sparse(sparse.eye(2))
      True
    """
    return isinstance(x, JAXSparse)


def _elements(tree):
    """The tree with the data of sparse arrays in their place."""
    return tree_map(lambda x: x.data if is_sparse(x) else x, tree, is_leaf=is_sparse)


def _restore(tree, elements):
    """The tree with other data; indices and shapes get the leading axes that the data has more of."""

    def restore(x, data):
        if not is_sparse(x):
            return data
        (old, *others), structure = tree_flatten(x)
        more = data.shape[: data.ndim - old.ndim]
        out = structure.unflatten([data, *(jnp.broadcast_to(b, (*more, *b.shape)) for b in others)])
        out.shape = (*more, *x.shape)
        return out

    return tree_map(restore, tree, elements, is_leaf=is_sparse)


def _differentiate(transform, restore_result):
    """`transform` for functions that take sparse arrays; `restore_result(result, restore)` makes its result sparse."""

    def sparse_transform(fun, argnums=0, has_aux=False, **kwargs):
        several = not isinstance(argnums, int)
        numbers = tuple(argnums) if several else (argnums,)

        def wrapped(*args, **kwds):
            if any(not -len(args) <= n < len(args) for n in numbers):
                raise TypeError(
                    f"differentiating with respect to {argnums=} requires at least "
                    f"{max(max(numbers) + 1, -min(numbers))} positional arguments to be passed by the caller, but got "
                    f"only {len(args)} positional arguments."
                )
            positions = [n % len(args) for n in numbers]

            def of_elements(*given):
                full = list(args)
                for n, x in zip(positions, given):
                    full[n] = _restore(args[n], x)
                return fun(*full, **kwds)

            derive = transform(of_elements, argnums=tuple(range(len(positions))), has_aux=has_aux, **kwargs)
            result = derive(*(_elements(args[n]) for n in positions))

            def restore(derivatives):
                restored = tuple(_restore(args[n], d) for n, d in zip(positions, derivatives))
                return restored if several else restored[0]

            return restore_result(result, restore, has_aux)

        return wrapped

    return sparse_transform


def _restore_derivative(result, restore, has_aux):
    return (restore(result[0]), result[1]) if has_aux else restore(result)


def _restore_with_value(result, restore, has_aux):
    return result[0], restore(result[1])


def grad(
    fun: Callable[Arguments, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[Arguments, Any]:
    """Returns a function that computes the gradient of a function of sparse arrays.

    The gradient has the indices of the argument.

    Args:
      fun: a function of sparse and dense arrays whose result is a real number.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data); default False.
      kwargs: further options of the dense transformation.

    Returns:
      A function of the arguments of `fun`.

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO.fromdense(jnp.arange(3.0))
      >>> sparse.grad(lambda m, v: m @ v)(mat, jnp.ones(3)).todense()
      Array([0., 1., 1.], dtype=float32)
    """
    return _differentiate(autodiff.grad, _restore_derivative)(fun, argnums, has_aux, **kwargs)


def value_and_grad(
    fun: Callable[Arguments, Result], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[Arguments, tuple[Result, Any]]:
    """Returns a function that computes a function of sparse arrays and its gradient.

    Args:
      fun: a function of sparse and dense arrays whose result is a real number.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data); default False.
      kwargs: further options of the dense transformation.

    Returns:
      A function of the arguments of `fun` that returns (value, gradient).

    Examples:
      >>> from onax.experimental import sparse
      >>> mat = sparse.BCOO.fromdense(jnp.arange(3.0))
      >>> sparse.value_and_grad(lambda m, v: m @ v)(mat, jnp.ones(3))[0]
      Array(3., dtype=float32)
    """
    return _differentiate(autodiff.value_and_grad, _restore_with_value)(fun, argnums, has_aux, **kwargs)


def jacfwd(
    fun: Callable[Arguments, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[Arguments, Any]:
    """Returns a function that computes the Jacobian of a function of sparse arrays, by forward mode.

    Args:
      fun: a function of sparse and dense arrays whose result is one dense array.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data); default False.
      kwargs: further options of the dense transformation.

    Returns:
      A function of the arguments of `fun`.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.jacfwd(lambda m: m.todense())(sparse.BCOO.fromdense(jnp.arange(3.0))).shape
      (3, 3)
    """
    return _differentiate(jacobians.jacfwd, _restore_derivative)(fun, argnums, has_aux, **kwargs)


def jacrev(
    fun: Callable[Arguments, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[Arguments, Any]:
    """Returns a function that computes the Jacobian of a function of sparse arrays, by reverse mode.

    Args:
      fun: a function of sparse and dense arrays whose result is one dense array.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data); default False.
      kwargs: further options of the dense transformation.

    Returns:
      A function of the arguments of `fun`.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.jacrev(lambda m: m.todense())(sparse.BCOO.fromdense(jnp.arange(3.0))).shape
      (3, 3)
    """
    return _differentiate(jacobians.jacrev, _restore_derivative)(fun, argnums, has_aux, **kwargs)


jacobian = jacrev

__getattr__ = _unavailable(
    __name__,
    {
        "flatten_fun_for_sparse_ad": "it takes JAX's WrappedFun records; use onax.experimental.sparse.grad",
    },
)

__all__ = ["grad", "is_sparse", "jacfwd", "jacobian", "jacrev", "value_and_grad"]

_wrap_api_functions(globals(), __name__)
