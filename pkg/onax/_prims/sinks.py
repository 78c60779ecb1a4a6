"""Values kept or brought into a program: `dce_sink`, which keeps the computation of a value, and `stage`.

`create_token` and `after_all` give tokens.  A token holds nothing: it is a pytree without leaves, so that functions of
every kind take and return it, and programs have no variable for it.
"""

from typing import Any

from onax._core.effects import Effect
from onax._core.trace import as_array
from onax._ground.typing import PyTree
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import register_pytree_node, tree_leaves


class NoDCEEffect(Effect):
    """The effect of `dce_sink`: the equation is not removed though nobody reads its results, of which it has none."""

    __slots__ = ()

    def __str__(self):
        return "NoDCE"


_sink_effects = frozenset((NoDCEEffect(),))


def _sink_jvp(primals, tangents, **params):
    return dce_sink_p.bind(*primals, **params), []


def _sink_batch(axis_data, operands, dims, **params):
    return dce_sink_p.bind(*operands, **params), []


dce_sink_p = Primitive(
    "dce_sink", multiple_results=True, kernel=lambda x, **_: [], jvp=_sink_jvp, batch=_sink_batch, weak=NEVER
)
dce_sink_p.def_effectful_abstract_eval(lambda *_, **__: ([], _sink_effects))


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> Any:
    """Returns nothing; a program computes the arrays though nobody reads them.

    Args:
      val: tree of arrays.
      prevent_mlir_dce: must be False: compiled programs never compute values on which no result depends.

    Raises:
      NotImplementedError: prevent_mlir_dce is True.

    Examples:
      >>> lax.dce_sink(jnp.ones(2))
    """
    if prevent_mlir_dce:
        raise NotImplementedError(
            "dce_sink(prevent_mlir_dce=True): ONNX Runtime removes nodes that no result depends on. Return the value "
            "from the compiled function to have it computed."
        )
    for x in tree_leaves(val):
        dce_sink_p.bind(as_array(x), prevent_mlir_dce=False)


def stage(x: PyTree, /) -> Any:
    """Returns a number or array as an array of the same dtype and weak type.

    Args:
      x: number or array.

    Returns:
      Array; a tracer where a function is traced.

    Examples:
      >>> lax.stage(2.0)
      Array(2., dtype=float32, weak_type=True)
    """
    return as_array(x)


class Token:
    """What `create_token` and `after_all` return: a value without contents that orders operations."""

    __slots__ = ("__weakref__",)


register_pytree_node(Token, lambda token: ((), None), lambda _, __: Token())


def create_token(_: Any = None) -> Any:
    """Returns a new token, on which nothing depends yet.

    Returns:
      Token.

    Examples:
      >>> type(lax.create_token()).__name__
      'Token'
    """
    return Token()


def after_all(*operands: Any) -> Any:
    """Returns a token that comes after other tokens.

    Args:
      *operands: tokens.

    Returns:
      Token.

    Raises:
      TypeError: a value is no token.

    Examples:
      >>> type(lax.after_all(lax.create_token())).__name__
      'Token'
    """
    if not all(isinstance(x, Token) for x in operands):
        raise TypeError("Arguments to after_all must be tokens")
    return Token()
