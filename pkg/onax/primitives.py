"""The rules of primitives, for reading: `python -m onax.primitives sinh`.

    python -m onax.primitives          all primitives, by family
    python -m onax.primitives sinh     each rule of a primitive with file and line, and what each missing one means

A primitive's rules are its fields (`jvp`, `batch`, ...) and what consumers attached to it in slots (`_core/slots.py`).
"""

import argparse
import ast
import difflib
import functools
import importlib.util
import inspect
import os
import pkgutil
import sys
import textwrap
import types
from dataclasses import dataclass, field, fields, is_dataclass

import numpy as np

import onax
from onax import export
from onax._core.derived import DerivedPrimitive
from onax._core.slots import declared_slots
from onax._native.dispatch import Primitive

# field -> (how the rule is called, what happens for a primitive without it)
FIELDS = {
    "kernel": (
        "kernel(*ndarrays, **params) -> ndarray",
        "`impl` evaluates the primitive; evaluation raises if both are missing.",
    ),
    "impl": (
        "impl(*arrays, **params) -> array",
        "`kernel` evaluates the primitive; evaluation raises if both are missing.",
    ),
    "abstract_eval": ("abstract_eval(*avals, **params) -> aval", "Staging raises NotImplementedError."),
    "jvp": ("jvp(primals, tangents, **params) -> out, tangent", "Differentiation raises NotImplementedError."),
    "transpose": (
        "transpose(cotangent, *operands, **params) -> cotangents",
        "Reverse mode transposes the operations of the jvp rule instead; the primitive itself is not linear.",
    ),
    "batch": ("batch(axis_data, operands, dims, **params) -> out, dims", "vmap raises NotImplementedError."),
    "linearize": (
        "linearize(nonzeros, *primals, **params) -> out, _, residuals, linear",
        "The jvp rule runs, and operations on tangents are recorded.",
    ),
    "partial_eval": (
        "partial_eval(unknown, *args, **params) -> results",
        "All results are unknown if any operand is unknown.",
    ),
    "dce": (
        "dce(used, eqn) -> used operands, eqn",
        "Dead code elimination keeps the equation as long as one of its results is read.",
    ),
    "pretty": ("pretty(eqn, names) -> params to print", "All parameters are printed."),
}


@dataclass(slots=True)
class Definition:
    """Where a primitive is defined: the module, the name that it has there, and the statement."""

    module: str
    variable: str
    line: int
    aliases: set = field(default_factory=set)

    @property
    def family(self):
        """The module that the family is named after: `linalg_spectral` belongs to `linalg`."""
        package, _, stem = self.module.rpartition(".")
        first = stem.partition("_")[0]
        home = f"{package}.{first}"
        return first if first and first != stem and importlib.util.find_spec(home) is not None else stem


def import_everything():
    """Imports all modules of onax, so that every primitive is made and every slot filled."""
    for package in (onax, export):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


# ---- where things are written


@functools.cache
def _statements(path):
    """Top-level statements of a source file; none for a compiled module."""
    if path is None or not path.endswith(".py"):
        return []
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read()).body


def _targets(statement):
    """Names that a statement binds by an expression that is not itself a name."""
    if isinstance(statement, ast.Assign) and not isinstance(statement.value, (ast.Name, ast.Attribute)):
        for target in statement.targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@functools.cache
def _calls(path):
    """(name of the function, names that its arguments mention, line) of each call in a source file's statements."""
    return [
        (
            _last_name(call.func),
            {n.id for arg in call.args for n in ast.walk(arg) if isinstance(n, ast.Name)},
            call.lineno,
        )
        for statement in _statements(path)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call)
    ]


def _has_rules(value):
    return isinstance(value, Primitive) and not isinstance(value, DerivedPrimitive)


def definitions():
    """Primitive -> its Definition, in the order of modules and lines; without primitives derived from others."""
    definition_of: dict = {}
    modules = [m for name, m in sorted(sys.modules.items()) if name.startswith("onax.") and m is not None]
    for module in modules:
        attributes = {name: p for name, p in vars(module).items() if _has_rules(p)}
        if not attributes:
            continue
        for statement in _statements(vars(module).get("__file__")):
            for name in _targets(statement):
                if name in attributes and attributes[name] not in definition_of:
                    definition_of[attributes[name]] = Definition(module.__name__, name, statement.lineno)
        for name, p in attributes.items():
            if p in definition_of:
                definition_of[p].aliases.add(name)
    return definition_of


def families(definition_of=None):
    """Family -> its primitives, both in alphabetical order of families and order of definition."""
    grouped: dict = {}
    definition_of = definitions() if definition_of is None else definition_of
    for p, definition in sorted(definition_of.items(), key=lambda item: (item[1].module, item[1].line)):
        grouped.setdefault(definition.family, []).append(p)
    return dict(sorted(grouped.items()))


def _relative(path):
    """A file's path from the folder of the package; that of `onax.export` may lie beside it."""
    for package in (export, onax):
        root = os.path.dirname(package.__path__[0]) if package is onax else package.__path__[0]
        prefix = "" if package is onax else os.path.join("onax", "export")
        if path.startswith(root + os.sep):
            return os.path.join(prefix, os.path.relpath(path, root))
    return path


def _location(path, line):
    return f"{_relative(path)}:{line}"


def _maker_call(p, definition, maker):
    """Location of the call that hands a primitive to a maker of rules; else of its definition."""
    for module in [m for name, m in sys.modules.items() if name.startswith("onax.") and m is not None]:
        names = {n for n in definition.aliases if vars(module).get(n) is p}
        if not names:
            continue
        for function, arguments, line in _calls(vars(module).get("__file__")):
            if function == maker and arguments & names:
                return module.__file__, line
    return sys.modules[definition.module].__file__, definition.line


def _last_name(node):
    return getattr(node, "id", getattr(node, "attr", ""))


# ---- rules as text


def _functions_in(rule):
    """(text before it, function) for each function that a rule consists of."""
    if isinstance(rule, dict):
        by_function: dict = {}
        for dtype, function in rule.items():
            by_function.setdefault(function, []).append(str(dtype))
        return [(f"{_shorten(dtypes)}: ", function) for function, dtypes in by_function.items()]
    if callable(rule) or not is_dataclass(rule):
        return [("", rule)]
    return [(f"{name} ", getattr(rule, name)) for name in [f.name for f in fields(rule)]]


def _shorten(dtypes):
    return ", ".join(dtypes) if len(dtypes) < 4 else f"{dtypes[0]} and {len(dtypes) - 1} others"


def _name_of(value):
    """A function by its name, with its location if that is not where the rule is attached; any other value as text."""
    if isinstance(value, np.ufunc):
        return f"numpy.{value.__name__}"
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    if code is None:
        return str(getattr(value, "__qualname__", value))
    maker, _, inner = value.__qualname__.partition(".<locals>.")
    name = f"made by {maker}" if inner else value.__name__
    return f"{name} ({_location(code.co_filename, code.co_firstlineno)})"


def _rule_text(rule):
    parts = [f"{before}{_name_of(function)}" for before, function in _functions_in(rule)]
    return "; ".join(parts)


def _maker_of(rule):
    """The function that made a rule of nested functions, or None."""
    functions = [f for _, f in _functions_in(rule) if isinstance(f, types.FunctionType)]
    made = [f.__qualname__.partition(".<locals>.")[0] for f in functions if ".<locals>." in f.__qualname__]
    return made[0] if made else None


def _field_location(p, definition, rule):
    code = getattr(rule, "__code__", None)
    maker = _maker_of(rule)
    if code is not None and maker is None:
        return _location(code.co_filename, code.co_firstlineno)
    return _location(*_maker_call(p, definition, maker))


def rules_of(p, definition):
    """(name, location or None, text) for each field and slot: what the rule is, or what happens without one."""
    for name, (signature, missing) in FIELDS.items():
        rule = getattr(p, name)
        if rule is None:
            yield name, None, missing
        else:
            yield name, _field_location(p, definition, rule), f"{_rule_text(rule)}\n{signature}"
    for slot in declared_slots():
        if p in slot:
            yield slot.name, _location(*slot.location(p)), f"{_rule_text(slot[p])}\n{slot.signature}"
        else:
            yield slot.name, None, slot.missing


def describe(p, definition):
    """All rules of a primitive as text."""
    location = _location(sys.modules[definition.module].__file__, definition.line)
    weak = p.weak if isinstance(p.weak, str) else _name_of(p.weak)
    rules = list(rules_of(p, definition))
    width = max(len(name) for name, _, _ in rules)
    lines = [
        f"{p.name}: {definition.variable}, defined at {location}",
        f"  {'facts':<{width}}  {', '.join(sorted(p.facts)) or 'none'}",
        f"  {'weak':<{width}}  {weak}",
    ]
    for name, location, text in rules:
        head, indent = f"  {name:<{width}}  ", " " * (width + 6)
        if location is None:
            lines.append(textwrap.fill(f"none: {text}", 118, initial_indent=head, subsequent_indent=indent))
            continue
        lines.append(head + location)
        for part in text.replace(f" ({location})", "").split("\n"):
            lines.append(textwrap.fill(part, 118, initial_indent=indent, subsequent_indent=indent + "  "))
    return "\n".join(lines)


def list_families(definition_of):
    """The names of all primitives, a paragraph for each family."""
    parts = []
    for family, primitives in families(definition_of).items():
        names = textwrap.fill(" ".join(p.name for p in primitives), 110, initial_indent="  ", subsequent_indent="  ")
        parts.append(f"{family} ({definition_of[primitives[0]].module})\n{names}")
    return "\n".join(parts)


def main(arguments=None):
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m onax.primitives", description="Shows the rules of primitives.")
    parser.add_argument("name", nargs="?", help="a primitive; without it, all primitives are listed by family")
    name = parser.parse_args(arguments).name
    import_everything()
    definition_of = definitions()
    if name is None:
        print(list_families(definition_of))
        return 0
    matches = [p for p, d in definition_of.items() if name in (p.name, *d.aliases)]
    if not matches:
        close = difflib.get_close_matches(name, {p.name for p in definition_of}, 5, 0.5)
        parser.error(f"there is no primitive {name!r}" + (f"; close: {', '.join(close)}" if close else ""))
    print("\n\n".join(describe(p, definition_of[p]) for p in matches))
    return 0


if __name__ == "__main__":
    sys.exit(main())
