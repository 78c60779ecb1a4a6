"""Taylor-mode differentiation: derivatives of a function along a curve, under the name of jax.experimental.jet.

The derivatives follow from the jvp rules of the primitives.  With c(t) the curve, T_k maps (c, c', ..., c^(k)) to the
first k derivatives of f(c(t)): T_0 is f, and the last result of T_k is the derivative of the last result of T_(k-1) in
the direction (c', ..., c^(k)).  So every operation with a jvp rule has all orders, at a cost that doubles with each.
"""

import math
from typing import Any

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import typeof
from onax._core.trees import register_pytree_node
from onax._ground.dtypes import float0, is_inexact
from onax._ground.typing import AnyFunction
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.tree import tree_map, tree_structure
from onax._prims.convert import convert
from onax._transforms.autodiff import jvp

_LEAF = tree_structure(0)


def jet(fun: AnyFunction, primals: Any, series: Any, factorial_scaled: bool = True, **_: Any) -> Any:
    """Derivatives of `fun` along a curve that is given by its derivatives.

    Args:
      fun: a function of arrays that returns a tree of arrays.
      primals: the curve's position at t = 0: a sequence with one array per argument.
      series: for each argument a sequence of arrays: the curve's derivatives of orders 1, 2, ...
      factorial_scaled: True for derivatives; False for coefficients of the Taylor polynomial, in `series` and in the
        result, which are derivatives over the factorial of their order.

    Returns:
      (fun(*primals), its derivatives): for each result a list of arrays, of orders 1, 2, ...

    Raises:
      ValueError: the series have different lengths, or an argument or a term is no array.

    Examples:
      >>> from onax.experimental.jet import jet
      >>> y, (dy, ddy) = jet(jnp.sin, (0.5,), ((1.0, 0.0),))
      >>> bool(dy == jnp.cos(0.5)), bool(ddy == -jnp.sin(0.5))
      (True, True)
    """
    lengths = {len(terms) for terms in series}
    if len(lengths) != 1:
        raise ValueError("jet terms have inconsistent lengths for different arguments")
    for i, (x, terms) in enumerate(zip(primals, series)):
        if tree_structure(x) != _LEAF:
            raise ValueError(f"primal value at position {i} is not an array")
        for j, term in enumerate(terms):
            if tree_structure(term) != _LEAF:
                raise ValueError(f"term {j} for argument {i} is not an array")
    (order,) = lengths
    scales = [1 if factorial_scaled else math.factorial(k) for k in range(order + 1)]
    curve = [_curve(x, terms, scales) for x, terms in zip(primals, series)]
    derivatives = _derivatives(fun, order)(*zip(*curve))
    derivatives = [derivatives[0], *(tree_map(_zeros_of_integers, d) for d in derivatives[1:])]
    scaled = [tree_map(lambda y, s=s: y if s == 1 else y / s, d) for d, s in zip(derivatives, scales)]
    return scaled[0], tree_map(lambda _, *terms: list(terms), *scaled)


def _curve(x, terms, scales):
    """The position and the derivatives, in the position's type; integers become floats."""
    x = jnp.asarray(x)
    x = x if is_inexact(x.dtype) else x * 1.0
    return [x, *(_convert(term, x) * scale for term, scale in zip(terms, scales[1:]))]


def _convert(term, x):
    return convert(jnp.broadcast_to(jnp.asarray(term), x.shape), x.dtype, typeof(x).weak_type)


def _zeros_of_integers(derivative):
    """The derivatives of integers and bools, which jvp gives as float0, as numbers."""
    if typeof(derivative).dtype != float0:
        return derivative
    return lax.full_like(0.0, 0.0, shape=derivative.shape)


def _derivatives(fun, order):
    """T_order: takes one tuple of arrays per order, and returns the list of results by order."""
    if order == 0:
        return lambda position: [fun(*position)]
    lower = _derivatives(fun, order - 1)

    def higher(*orders):
        values, rates = jvp(lower, orders[:-1], orders[1:])
        return [*values, rates[-1]]

    return higher


def fact(n: Any) -> Any:
    """Returns the factorial of a number, which divides the derivative of that order in a Taylor polynomial.

    Args:
      n: an int, or an array of numbers.

    Returns:
      A float scalar, or an array of floats.

    Examples:
      >>> from onax.experimental.jet import fact
      >>> round(float(fact(3)))
      6
    """
    return lax.exp(lax.lgamma(n + 1.0))


class ZeroTerm:
    """A derivative that is known to be zero, in JAX's rules; `jet` returns arrays.

    Examples:
      >>> from onax.experimental import jet
      >>> isinstance(jet.zero_term, jet.ZeroTerm)
      True
    """


class ZeroSeries:
    """The derivatives of what does not depend on the argument, in JAX's rules; `jet` returns lists of arrays.

    Examples:
      >>> from onax.experimental import jet
      >>> jet.jet(lambda x: 2.0, (1.0,), ((1.0,),))[1] is jet.zero_series
      False
    """


zero_term, zero_series = ZeroTerm(), ZeroSeries()
register_pytree_node(ZeroTerm, lambda _: ((), None), lambda *_: zero_term)
register_pytree_node(ZeroSeries, lambda _: ((), None), lambda *_: zero_series)

__getattr__ = _unavailable(
    __name__,
    {
        "JetTrace JetTracer call_param_updaters def_comp def_deriv deflinear defzero deriv_prop jet_rules linear_prop "
        "zero_prop": (
            "series are derivatives along a curve, by the rules of jvp, so that no primitive has a rule of jet"
        ),
    },
)

__all__ = ["ZeroSeries", "ZeroTerm", "fact", "jet", "zero_series", "zero_term"]

_wrap_api_functions(globals(), __name__)
