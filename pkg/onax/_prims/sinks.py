"""Values kept or brought into a program: `dce_sink`, which keeps the computation of a value, and `stage`.

`create_token` and `after_all` give tokens.  A token holds nothing: it is a pytree without leaves, so that functions of
every kind take and return it, and programs have no variable for it.
"""

from onax._core.effects import Effect
from onax._core.trace import as_array
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


def dce_sink(val, *, prevent_mlir_dce=False):
    """Nothing; a program that computes the arrays of the tree `val` keeps these computations though nobody reads them.

    prevent_mlir_dce: whether the compiled program computes them, too.  It does not here: values that no result depends
    on are computed in no compiled program.  True raises NotImplementedError.
    """
    if prevent_mlir_dce:
        raise NotImplementedError(
            "dce_sink(prevent_mlir_dce=True): ONNX Runtime removes nodes that no result depends on. Return the value "
            "from the compiled function to have it computed."
        )
    for x in tree_leaves(val):
        dce_sink_p.bind(as_array(x), prevent_mlir_dce=False)


def stage(x, /):
    """x, a number or an array, as an array of the same dtype and weak type; a tracer where a function is traced."""
    return as_array(x)


class Token:
    """What `create_token` and `after_all` return: a value without contents that orders operations."""

    __slots__ = ("__weakref__",)


register_pytree_node(Token, lambda token: ((), None), lambda _, __: Token())


def create_token(_=None):
    """A new token, on which nothing depends yet.  The argument is ignored."""
    return Token()


def after_all(*operands):
    """A token that comes after other tokens.  Raises TypeError for values that are not tokens."""
    if not all(isinstance(x, Token) for x in operands):
        raise TypeError("Arguments to after_all must be tokens")
    return Token()
