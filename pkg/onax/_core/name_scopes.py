"""named_scope and named_call: names that users give to parts of their programs.

Equations know the scopes around them (`SourceInfo.scopes`); nodes of exported graphs are named by them."""

import contextlib
import functools

from onax._ground import source
from onax._ground.typing import Function


@source.api_class
class named_scope(contextlib.ContextDecorator):
    """Context manager and decorator: operations inside belong to a part of the program with a name.

    Nodes of exported graphs begin with it, `layer/Add`, as with names of functions; compiled programs are the same.

    Args:
      name: a str.

    Returns:
      A context manager.

    Raises:
      TypeError: the name is not a str.

    Examples:
      >>> @onax.jit
      ... def f(x):
      ...     with onax.named_scope("layer"):
      ...         return x + 1
      >>> f(1)
      Array(2, dtype=int32, weak_type=True)
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError("named_scope name argument must be a string.")
        self.name = name
        self._outer = []

    def __enter__(self):
        self._outer.append(source.here.scopes)
        source.here.scopes = (*self._outer[-1], source.Scope(self.name, source.calling_code()))
        return self

    def __exit__(self, *_):
        source.here.scopes = self._outer.pop()


def named_call(fun: Function, *, name: str | None = None) -> Function:
    """Returns the function as a part of the program with a name.

    Args:
      fun: a function.
      name: a str; default the function's own name.

    Returns:
      A function with the signature of `fun`.

    Raises:
      TypeError: `fun` is not callable.

    Examples:
      >>> onax.named_call(lambda x: x + 1, name="layer")(1)
      2
    """
    if not callable(fun):
        raise TypeError(f"named_call: Expected a callable value, got {fun!r}")
    scope = named_scope(getattr(fun, "__name__", type(fun).__name__) if name is None else name)

    @functools.wraps(fun)
    def call(*args, **kwargs):
        with scope:
            return fun(*args, **kwargs)

    return call
