"""Functions with layers of transformations around them.

    fun = wrap_init(f, debug_info=...)       a WrappedFun
    fun = transform(fun, *static)            one more layer: `transform` is decorated with transformation2
    fun.call_wrapped(*args, **kwargs)        runs all layers

onax itself has no such layers; libraries that call `interpreters.partial_eval` or `api_util.flatten_fun` do.
"""

import functools
import weakref
from dataclasses import dataclass

from onax._core.jaxpr import DebugInfo

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
    """A function `f` inside layers (`transforms`, outermost first); equal if functions and layers are equal."""

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


def wrap_init(f, params=None, *, debug_info=None):
    """A WrappedFun without layers; `params` are keyword arguments for f that count when functions are compared."""
    params = {} if params is None else dict(params)
    return WrappedFun(
        f, functools.partial(f, **params), (), (), tuple(sorted(params.items())), None, debug_info or _MISSING
    )


def transformation2(gen, fun=None, *gen_static_args):
    """A layer: `gen(function, *static, *args)` calls `function` and returns a result.

    Called with the layer alone, as a decorator: a function of the WrappedFun and static arguments.
    """
    if fun is None:
        return functools.partial(transformation2, gen)
    return fun.wrap(gen, gen_static_args, None)


def transformation_with_aux2(gen, fun=None, *gen_static_args, use_eq_store=False):
    """Like `transformation2`, for `gen(function, store, *static, *args)`, which stores an auxiliary value in `store`.

    Returns (WrappedFun, function that gives the value once the first has run).
    """
    if fun is None:
        return functools.partial(transformation_with_aux2, gen, use_eq_store=use_eq_store)
    store = Store(use_eq_store)
    return fun.wrap(gen, gen_static_args, store), lambda: store.val


def transformation(gen, fun=None, *gen_static_args):
    """A layer written as a generator: it yields (args, kwargs) for the function, is sent the result, yields its own."""
    if fun is None:
        return functools.partial(transformation, gen)
    return fun.wrap(_through(gen), gen_static_args, None)


def transformation_with_aux(gen, fun=None, *gen_static_args, use_eq_store=False):
    """Like `transformation`, for a generator that finally yields (result, auxiliary value).

    Returns what `transformation_with_aux2` returns.
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


def merge_linear_aux(aux1, aux2):
    """(True, value of the first) or (False, of the second): of two functions, exactly one of which has run.

    Raises StoreException if both or neither has.
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


def cache(call):
    """`call(fun, *args)`, remembered for equal functions and arguments as long as the innermost function lives.

    The auxiliary values of the first call are stored again.
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
