"""The modules `jax`, `jaxlib` and those in them, which hand on the attributes of onax's modules and rows of the table.

The attributes are the same objects under both names.
"""

import functools
import importlib
import importlib.abc
import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec

from onax._ground.unavailable import UnavailableName
from onax.interop import table

ROOTS = ("jax", "jaxlib")
REPORT = (
    "Such names stand in onax/interop/private_names.txt. Please report this one as an issue of onax, with the library "
    'that needs it, or add it (CONTRIBUTING.md, "A private name of JAX").'
)


def get_attribute(module, name):
    """An attribute of a module of jax or jaxlib that was not read before: its `__getattr__`."""
    value = _find_attribute(module, name)
    if not is_dunder(name):
        setattr(module, name, value)
    return value


def list_attributes(module):
    """The names in a module of jax or jaxlib: its `__dir__`."""
    rows = {row.rpartition(".")[2] for row in table.rows() if row.rpartition(".")[0] == module.__name__}
    home = find_home(module.__name__)
    found = [name for name in dir(importlib.import_module(home)) if not is_dunder(name)] if home else []
    return sorted({*vars(module), *rows, *found} - {"*", "__getattr__"})


def _find_attribute(module, name):
    """The object behind a name, from the first of: the row for it, a module in this one, a module of onax."""
    full = f"{module.__name__}.{name}"
    rows = table.rows()
    if full in rows and full not in table.modules():
        table.log(full)
        return resolve_row(rows[full])
    if is_dunder(name):
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)
    if is_module(full):
        return importlib.import_module(full)
    others = rows.get(f"{module.__name__}.*")
    reason = None
    for home in filter(None, (find_home(module.__name__), *(others.ours if others else ()))):
        try:
            value = getattr(importlib.import_module(home), name)
        except UnavailableName as error:
            reason = error.reason
        except AttributeError:
            continue
        else:
            if table.is_private(full):
                table.log(full)
            return renamed(value)
    if others:  # a module without names of its own: why it is not there says more
        reason = _reason_of_module(module.__name__) or reason
    if reason is not None:
        raise UnavailableName(module.__name__, name, reason)
    plain = f"module {module.__name__!r} has no attribute {name!r}"
    raise AttributeError(describe_missing(full) if table.is_private(full) else plain, name=name, obj=module)


def _reason_of_module(name):
    """Why a public module of jax, or one around it, is not there; None if all are."""
    parent, _, last = name.rpartition(".")
    home = find_home(parent) if parent else None
    if home is not None:
        try:
            getattr(importlib.import_module(home), last)
        except UnavailableName as error:
            return error.reason
        except AttributeError:
            return None
    return _reason_of_module(parent) if parent else None


def is_dunder(name):
    """Whether a name is one that Python itself looks up."""
    return name.startswith("__")


def is_public(name):
    """Whether a name is for users of a module; names of the array API standard (`__array_api_version__`) are too."""
    return not name.startswith("_") or name.startswith("__array_")


def describe_missing(full):
    """The message for a private name that is not in the table."""
    return f"onax has nothing in the place of {full}, a private name of JAX that {table.reader()} reads. {REPORT}"


def resolve_row(row):
    """The object that a row stands for."""
    return renamed(table.resolve(row.ours[0]))


def renamed(value):
    """A public module of onax under its name in jax; anything else unchanged."""
    if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "onax":
        name = "jax" + value.__name__.removeprefix("onax")
        if is_module(name):
            return importlib.import_module(name)
    return value


def find_home(name):
    """The module of onax behind a public module of jax; None where there is none, and for private ones."""
    root, _, rest = name.partition(".")
    if root != "jax" or table.is_private(name):
        return None
    home = f"onax.{rest}" if rest else "onax"
    try:
        return home if home in sys.modules or importlib.util.find_spec(home) else None
    except ModuleNotFoundError:  # the module around it is none
        return None


def is_module(name):
    """Whether a name is that of a module: one with rows, a row that stands for a module, or a public one of onax."""
    if name in table.modules():
        return True
    row = table.rows().get(name)
    if row is not None:
        return ":" not in row.ours[0]
    return find_home(name) is not None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and makes the modules of jax and jaxlib; nothing else finds them while this stands in `sys.meta_path`."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in ROOTS:
            return None
        if is_module(fullname):
            return ModuleSpec(fullname, self, is_package=True)
        if table.is_private(fullname):
            raise ModuleNotFoundError(describe_missing(fullname))  # without `name`, `from ... import` passes it on
        return None

    def create_module(self, spec):
        return None  # a plain module, whose attributes Python reads quickly

    def exec_module(self, module):
        module.__getattr__ = functools.partial(get_attribute, module)
        module.__dir__ = functools.partial(list_attributes, module)
        row = table.rows().get(module.__name__)
        if row is not None and module.__name__ not in table.modules():
            table.log(module.__name__)
            sys.modules[module.__name__] = resolve_row(row)
            return
        home = find_home(module.__name__)
        if home is None:
            return
        origin = importlib.import_module(home)
        for name, value in vars(origin).items():
            if is_public(name) and not isinstance(value, types.ModuleType):
                if f"{module.__name__}.{name}" not in table.rows():
                    setattr(module, name, value)
        module.__doc__, module.__file__ = origin.__doc__, origin.__file__
        if "__all__" in vars(origin):
            module.__all__ = origin.__all__
