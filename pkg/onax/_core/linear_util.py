"""Functions with layers of transformations around them.

    fun = wrap_init(f, debug_info=...)       a WrappedFun
    fun = transform(fun, *static)            one more layer: `transform` is decorated with transformation2
    fun.call_wrapped(*args, **kwargs)        runs all layers

onax itself has no such layers; libraries that call `interpreters.partial_eval` or `api_util.flatten_fun` do.
"""

import functools
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onax._core.jaxpr import DebugInfo
from onax._ground.typing import AnyFunction, Function

_MISSING = DebugInfo("missing_debug_info", "<missing_debug_info>", None, None)


class StoreException(Exception):
    """An auxiliary value was read before the function ran, or stored twice."""


class Store:
    """Holds one auxiliary value, which is stored once; a `reusable` Store accepts equal values again."""

    __slots__ = ("_given", "_reusable", "_value")

    def __init__(self, reusable=False):
        self._reusable = reusable
        self.reset()

    def store(self, value):
        """Stores the value; StoreException if there is another one."""
        if self._given and not (self._reusable and self._value == value):
            raise StoreException("Store occupied")
        self._given, self._value = True, value

    def reset(self):
        """Forgets the value."""
        self._given, self._value = False, None

    @property
    def val(self):
        """The value; StoreException if none was stored."""
        if not self._given:
            raise StoreException("Store empty")
        return self._value

    def __bool__(self):
        return self._given


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class WrappedFun:
    """A function inside of layers; equal to another if functions and layers are equal.

    Args:
      f: the innermost function.
      f_transformed: the function with all layers.
      transforms: the layers, outermost first.
      stores: the stores of auxiliary values.
      params: keyword arguments of `f`.
      in_type: types of the arguments, or None.
      debug_info: a DebugInfo.

    Examples:
      >>> from onax.extend import linear_util
      >>> linear_util.wrap_init(lambda x: x + 1).call_wrapped(1)
      2
    """

    f: object
    f_transformed: object
    transforms: tuple
    stores: tuple
    params: tuple
    in_type: object
    debug_info: object

    @property
    def __name__(self):
        return getattr(self.f, "__name__", "<unnamed function>")

    def wrap(self, gen, gen_static_args, out_store):
        """Adds a layer: `gen(function, [store,] *static, *args)`."""
        leading = gen_static_args if out_store is None else (out_store, *gen_static_args)
        transformed = functools.partial(gen, self.f_transformed, *leading)
        layers = ((gen, gen_static_args), *self.transforms)
        return WrappedFun(
            self.f, transformed, layers, (out_store, *self.stores), self.params, self.in_type, self.debug_info
        )

    def call_wrapped(self, *args, **kwargs):
        """The result through all layers."""
        return self.f_transformed(*args, **kwargs)

    def _key(self):
        return self.f, self.transforms, self.params, self.in_type

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        return isinstance(other, WrappedFun) and self._key() == other._key()

    def __repr__(self):
        layers = "".join(f"{i}: {_name(gen)} {args}\n" for i, (gen, args) in enumerate(self.transforms))
        return f"Wrapped function:\n{layers}Core: {_name(self.f)}\n"


def _name(function):
    return getattr(function, "__name__", "<unnamed function>")


def wrap_init(
    f: AnyFunction, params: Mapping[str, Any] | None = None, *, debug_info: DebugInfo | None = None
) -> WrappedFun:
    """Returns a function as a WrappedFun without layers.

    Args:
      f: a function.
      params: keyword arguments for `f` that count when functions are compared; default None.
      debug_info: a DebugInfo; default None.

    Returns:
      A WrappedFun.

    Examples:
      >>> from onax.extend import linear_util
      >>> linear_util.wrap_init(lambda x: x + 1).call_wrapped(1)
      2
    """
    params = {} if params is None else dict(params)
    return WrappedFun(
        f, functools.partial(f, **params), (), (), tuple(sorted(params.items())), None, debug_info or _MISSING
    )


def transformation2(gen: AnyFunction, fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Returns a function inside of one more layer.

    Args:
      gen: the layer, a function (function, *static, *args) -> result.
      fun: a WrappedFun; default None: the result is a function (fun, *static) -> WrappedFun.
      gen_static_args: static arguments of the layer.

    Returns:
      A WrappedFun, or a function that makes one.

    Examples:
      >>> from onax.extend import linear_util
      >>> twice = linear_util.transformation2(lambda f, x: f(f(x)))
      >>> twice(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(1)
      3
    """
    if fun is None:
        return functools.partial(transformation2, gen)
    return fun.wrap(gen, gen_static_args, None)


def transformation_with_aux2(
    gen: AnyFunction, fun: WrappedFun | None = None, *gen_static_args: Any, use_eq_store: bool = False
) -> Any:
    """Returns a function inside of one more layer, which stores an auxiliary value.

    Args:
      gen: the layer, a function (function, store, *static, *args) -> result that calls ``store.store(value)``.
      fun: a WrappedFun; default None: the result is a function (fun, *static) -> WrappedFun.
      gen_static_args: static arguments of the layer.
      use_eq_store: True: a value may be stored again if it is equal; default False.

    Returns:
      (WrappedFun, function that gives the value once the first has run), or a function that makes them.

    Examples:
      >>> from onax.extend import linear_util
      >>> def layer(f, store, x):
      ...     store.store("seen")
      ...     return f(x)
      >>> f, value = linear_util.transformation_with_aux2(layer)(linear_util.wrap_init(lambda x: x + 1))
      >>> f.call_wrapped(1), value()
      (2, 'seen')
    """
    if fun is None:
        return functools.partial(transformation_with_aux2, gen, use_eq_store=use_eq_store)
    store = Store(use_eq_store)
    return fun.wrap(gen, gen_static_args, store), lambda: store.val


def transformation(gen: AnyFunction, fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Returns a function inside of one more layer, which is written as a generator.

    Args:
      gen: the layer: it yields (args, kwargs) for the function, is sent the result, and yields its own.
      fun: a WrappedFun; default None: the result is a function (fun, *static) -> WrappedFun.
      gen_static_args: static arguments of the layer.

    Returns:
      A WrappedFun, or a function that makes one.

    Examples:
      >>> from onax.extend import linear_util
      >>> def layer(x):
      ...     out = yield (x,), {}
      ...     yield 2 * out
      >>> linear_util.transformation(layer)(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(1)
      4
    """
    if fun is None:
        return functools.partial(transformation, gen)
    return fun.wrap(_through(gen), gen_static_args, None)


def transformation_with_aux(
    gen: AnyFunction, fun: WrappedFun | None = None, *gen_static_args: Any, use_eq_store: bool = False
) -> Any:
    """Returns a function inside of one more layer, a generator that finally yields (result, auxiliary value).

    Args:
      gen: the layer: it yields (args, kwargs) for the function, is sent the result, and yields its own and the value.
      fun: a WrappedFun; default None: the result is a function (fun, *static) -> WrappedFun.
      gen_static_args: static arguments of the layer.
      use_eq_store: True: a value may be stored again if it is equal; default False.

    Returns:
      (WrappedFun, function that gives the value once the first has run), or a function that makes them.

    Examples:
      >>> from onax.extend import linear_util
      >>> def layer(x):
      ...     out = yield (x,), {}
      ...     yield out, "seen"
      >>> f, value = linear_util.transformation_with_aux(layer)(linear_util.wrap_init(lambda x: x + 1))
      >>> f.call_wrapped(1), value()
      (2, 'seen')
    """
    if fun is None:
        return functools.partial(transformation_with_aux, gen, use_eq_store=use_eq_store)
    store = Store(use_eq_store)
    return fun.wrap(_through(gen, True), gen_static_args, store), lambda: store.val


@functools.lru_cache(maxsize=1024)
def _through(gen, has_aux=False):
    """Converts a generator to a layer; cached, so that layers can be compared."""

    def layer(function, *args, **kwargs):
        store, args = (args[0], args[1:]) if has_aux else (None, args)
        running = gen(*args, **kwargs)
        given, given_kwargs = next(running)
        result = running.send(function(*given, **given_kwargs))
        running.close()
        if has_aux:
            result, aux = result
            store.store(aux)
        return result

    layer.__name__ = _name(gen)
    return layer


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """Returns the auxiliary value of the one of two functions that has run.

    Args:
      aux1: a function that gives an auxiliary value.
      aux2: another.

    Returns:
      (True, value of the first), or (False, value of the second).

    Raises:
      StoreException: both or neither has run.

    Examples:
      >>> from onax.extend import linear_util
      >>> def layer(f, store, x):
      ...     store.store("seen")
      ...     return f(x)
      >>> make = linear_util.transformation_with_aux2(layer)
      >>> (f, one), (g, two) = (make(linear_util.wrap_init(abs)) for _ in range(2))
      >>> linear_util.merge_linear_aux(one, two) if f.call_wrapped(1) else None
      (True, 'seen')
    """
    try:
        first = aux1()
    except StoreException:
        try:
            return False, aux2()
        except StoreException:
            raise StoreException("neither store occupied") from None
    try:
        aux2()
    except StoreException:
        return True, first
    raise StoreException("both stores occupied")


def cache(call: Function) -> Function:
    """Returns a function of WrappedFuns that remembers its results.

    They live as long as the innermost function; auxiliary values of the first call are stored again.

    Args:
      call: a function (fun, *args) -> result.

    Returns:
      A function of the same arguments, equal ones of which give the same result.

    Examples:
      >>> from onax.extend import linear_util
      >>> run = linear_util.cache(lambda fun, x: fun.call_wrapped(x))
      >>> run(linear_util.wrap_init(abs), -1)
      1
    """
    by_function = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def remembered(fun, *args):
        known = by_function.setdefault(fun.f, {})
        key = (fun.transforms, fun.params, fun.in_type, args)
        if key in known:
            result, values = known[key]
            for store, (given, value) in zip(fun.stores, values):
                if given:
                    store.store(value)
            return result
        result = call(fun, *args)
        known[key] = result, [(bool(s), s.val if s else None) for s in fun.stores]
        return result

    remembered.cache_clear = by_function.clear
    return remembered
