"""Derivatives with respect to sparse arrays: those of their stored elements, as arrays at the same indices."""

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._native.tree import tree_flatten, tree_map
from onax._transforms import autodiff, jacobians
from onax.experimental.sparse._base import JAXSparse


def _is_sparse(x):
    return isinstance(x, JAXSparse)


def _elements(tree):
    """The tree with the data of sparse arrays in their place."""
    return tree_map(lambda x: x.data if _is_sparse(x) else x, tree, is_leaf=_is_sparse)


def _restore(tree, elements):
    """The tree with other data; indices get the leading axes that the data has more of."""

    def restore(x, data):
        if not _is_sparse(x):
            return data
        (old, *others), structure = tree_flatten(x)
        more = data.shape[: data.ndim - old.ndim]
        return structure.unflatten([data, *(jnp.broadcast_to(b, (*more, *b.shape)) for b in others)])

    return tree_map(restore, tree, elements, is_leaf=_is_sparse)


def _differentiate(transform, restore_result):
    """`transform` for functions that take sparse arrays; `restore_result(result, restore)` makes its result sparse."""

    def sparse_transform(fun, argnums=0, has_aux=False, **kwargs):
        several = not isinstance(argnums, int)
        numbers = tuple(argnums) if several else (argnums,)

        def wrapped(*args, **kwds):
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


def grad(fun, argnums=0, has_aux=False, **kwargs):
    """`onax.grad` of a function that takes sparse arrays: the gradient has the indices of the argument.

    The arguments are those of `onax.grad`.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax.experimental import sparse
      >>> sparse.grad(lambda m, v: m @ v)(sparse.BCOO.fromdense(jnp.arange(6.0)), jnp.ones(6))
      BCOO(float32[6], nse=5)
    """
    return _differentiate(autodiff.grad, _restore_derivative)(fun, argnums, has_aux, **kwargs)


def value_and_grad(fun, argnums=0, has_aux=False, **kwargs):
    """`onax.value_and_grad` of a function that takes sparse arrays; see `grad`."""
    return _differentiate(autodiff.value_and_grad, _restore_with_value)(fun, argnums, has_aux, **kwargs)


def jacfwd(fun, argnums=0, has_aux=False, **kwargs):
    """`onax.jacfwd` of a function from sparse arrays to one dense array; see `grad`."""
    return _differentiate(jacobians.jacfwd, _restore_derivative)(fun, argnums, has_aux, **kwargs)


def jacrev(fun, argnums=0, has_aux=False, **kwargs):
    """`onax.jacrev` of a function from sparse arrays to one dense array; see `grad`."""
    return _differentiate(jacobians.jacrev, _restore_derivative)(fun, argnums, has_aux, **kwargs)


jacobian = jacrev

__all__ = ["grad", "jacfwd", "jacobian", "jacrev", "value_and_grad"]

_wrap_api_functions(globals(), __name__)
