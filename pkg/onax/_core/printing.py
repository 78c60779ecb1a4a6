"""The text of a jaxpr, in JAX's format.

Two layers: a small document language (text, breaks, groups) laid out after Wadler, "A prettier printer" (2003) and
Lindig, "Strictly pretty" (2000); and the documents of jaxprs and equations.

A primitive's `pretty` field selects the parameters that are printed: `pretty(eqn, names) -> dict` returns them in
order; `names.share(pairs)` lets variables of an inner program take the outer names.  A list is the document of the
whole equation, in which `typed_results(eqn, names)` stands for its results.
"""

import collections
from dataclasses import dataclass

import numpy as np

from onax._ground import source
from onax._native.array import Array

WIDTH = 80


class Printable:
    """Base class of jaxprs, which this module recognizes by it without importing their module."""

    __slots__ = ()


# ---- documents: a str is text; the rest are the three classes below; a list is concatenation ----


@dataclass(slots=True, eq=False, repr=False)
class Break:
    """A newline, or the given text when its group fits on the line."""

    flat: str = " "


@dataclass(slots=True, eq=False, repr=False)
class Nest:
    """Lines inside are indented further."""

    indent: int
    doc: object


@dataclass(slots=True, eq=False, repr=False)
class Group:
    """Laid out on one line if that fits, else all its own breaks become newlines."""

    doc: object


@dataclass(slots=True, eq=False, repr=False)
class Note:
    """A remark about a line: it takes no space in the line and is printed in a separate column on the right."""

    text: str


BREAK = Break()


def join(separator, docs):
    """The documents with a separator between them."""
    joined = []
    for i, doc in enumerate(docs):
        if i:
            joined.append(separator)
        joined.append(doc)
    return joined


def _fits(room, pending):
    """Whether the pending documents, up to the first newline, fit in `room` columns of the line."""
    stack = list(pending)
    while room >= 0 and stack:
        flat, doc = stack.pop()
        if type(doc) is str:
            room -= len(doc)
        elif type(doc) is list:
            stack.extend((flat, d) for d in reversed(doc))
        elif type(doc) is Note:
            continue
        elif type(doc) is Break:
            if not flat:
                return True
            room -= len(doc.flat)
        else:
            stack.append((True if type(doc) is Group else flat, doc.doc))
    return room >= 0


def layout(doc, width=WIDTH):
    """The text of a document."""
    out, column, line, notes = [], 0, 0, {}
    stack = [(0, False, doc)]
    while stack:
        indent, flat, doc = stack.pop()
        if type(doc) is str:
            out.append(doc)
            column += len(doc)
        elif type(doc) is list:
            stack.extend((indent, flat, d) for d in reversed(doc))
        elif type(doc) is Note:
            notes.setdefault(line, []).append(doc.text)
        elif type(doc) is Nest:
            stack.append((indent + doc.indent, flat, doc.doc))
        elif type(doc) is Group:
            flat = flat or _fits(width - column, [(True, doc.doc)])
            stack.append((indent, flat, doc.doc))
        elif flat:
            out.append(doc.flat)
            column += len(doc.flat)
        else:
            out.append("\n" + " " * indent)
            column = indent
            line += 1
    text = "".join(out)
    return _align_notes(text.split("\n"), notes) if notes else text


def _align_notes(lines, notes):
    """Appends the notes to their lines, aligned in one column."""
    width = max(map(len, lines))
    out = []
    for i, line in enumerate(lines):
        for k, note in enumerate(notes.get(i, ())):
            out.append(f"{line if k == 0 else '':<{width}} # {note}")
        if i not in notes:
            out.append(line)
    return "\n".join(out)


# ---- names ----


class Names:
    """Assigns letters to variables in order of first appearance: a ... z, ba, bb, ..."""

    __slots__ = ("_by_var", "_count", "blanks", "options", "reserved", "shared")

    def __init__(self, options):
        self._by_var = {}
        self._count = 0
        self.options = options
        self.shared = {}
        self.reserved = frozenset()  # names of shared programs
        self.blanks = frozenset()  # unused results that print as _; as in JAX only those of the outermost program

    def of(self, var):
        """The name of a variable."""
        name = self._by_var.get(var)
        while name is None:
            name = _letters(self._count)
            self._count += 1
            if name in self.reserved:
                name = None
        self._by_var[var] = name
        return name

    def share(self, pairs):
        """Gives the inner variable of each pair (inner, outer), if it has no name yet, the name of the outer one.

        Two inner variables never get the same name; a result that is never read outside is `_` inside, too.
        """
        taken = set()
        for a, b in pairs:
            if a not in self._by_var:
                name = self._by_var.get(b) or b.text(self)
                if name == "_" or name not in taken:
                    self._by_var[a] = name
            taken.add(self._by_var.get(a))


def _letters(number):
    digits = ""
    while True:
        number, rest = divmod(number, 26)
        digits = chr(ord("a") + rest) + digits
        if not number:
            return digits


# ---- documents of programs ----


def literal_text(val, aval):
    """A literal: its value and short type."""
    value = val.item() if isinstance(val, (np.ndarray, np.generic, Array)) else val
    return f"{value}:{aval.str_short(short_dtypes=True)}"


def _typed_name(var, names):
    name = var.text(names)
    if not names.options["print_shapes"]:
        return name
    return f"{name}:{var.aval.str_short(short_dtypes=True)}"


def _vars(variables, names, typed=True):
    texts = [_typed_name(v, names) if typed else v.text(names) for v in variables]
    return Nest(2, Group(join(Group(BREAK), texts)))


def typed_results(eqn, names):
    """The results of an equation with their types."""
    return _vars(eqn.outvars, names)


def _param_value(value, names):
    if isinstance(value, Printable):
        return _program(value, names)
    if isinstance(value, (tuple, list)) and any(isinstance(v, Printable) for v in value):
        if hasattr(value, "_fields"):
            return str(value)  # with names of its own for each program, as in JAX
        inner = [_program(v, names) if isinstance(v, Printable) else _value_text(v) for v in value]
        return Group([Nest(2, ["(", Break(""), join(BREAK, inner)]), Break(""), ")"])
    return _value_text(value)


def _value_text(value):
    """The text of a parameter: the names of types and functions, str of other values."""
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return value.__name__
    return str(value)


def _params(params, names):
    if not params:
        return ""
    pairs = [[f"{key}=", _param_value(value, names)] for key, value in params.items()]
    return Group([Nest(2, ["[", Break(""), join(BREAK, pairs)]), Break(""), "]"])


def _shown_params(eqn, names):
    if eqn.primitive.pretty is not None and names.options["custom_pp_eqn_rules"]:
        return eqn.primitive.pretty(eqn, names)
    return {key: eqn.params[key] for key in sorted(eqn.params)}


def _equation(eqn, names):
    shown = _shown_params(eqn, names)  # called first, because it may share names
    notes = []
    if names.options["source_info"] and eqn.source_info:
        notes.append(Note(source.summarize(eqn.source_info)))
    if names.options["name_stack"]:
        notes.append(Note(f"[{eqn.source_info.name_stack}]"))
    if type(shown) is list:
        return [*notes, *shown]
    results, params = typed_results(eqn, names), _params(shown, names)
    line = [*notes, eqn.primitive.name, params, " ", _vars(eqn.invars, names, typed=False)]
    return [results, " = ", *line] if eqn.outvars else line


def _program(jaxpr, names, own=False):
    shared_name = names.shared.get(id(jaxpr))
    if shared_name is not None and not own:
        return shared_name
    head = Nest(2, ["{ ", "lambda ", _vars(jaxpr.constvars, names), "; ", _vars(jaxpr.invars, names), ". "])
    eqns = join(Break("; "), [_equation(e, names) for e in jaxpr.eqns])
    results = ", ".join(v.text(names) for v in jaxpr.outvars)
    if len(jaxpr.outvars) == 1:
        results += ","
    effects = ""
    if names.options["print_effects"]:
        effects = f" : {{ {', '.join(sorted(map(str, jaxpr.effects)))} }}"
    body = Nest(2, ["let", Nest(2, [BREAK, eqns]), BREAK, f"in ({results}){effects}"])
    return Group([head, body, " }"])


_LONG = 10  # equations: a longer inner program is printed on its own


def _shared_programs(jaxpr):
    """Inner programs that are used more than once or are long, outermost first, under distinct names."""
    counts, named = {}, []
    queue = collections.deque([jaxpr])
    while queue:
        for eqn in queue.popleft().eqns:
            name = eqn.params["name"] if eqn.primitive.name == "jit" else "jaxpr"
            for value in eqn.params.values():
                for inner in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(inner, Printable):
                        if id(inner) not in counts:
                            named.append((name.strip("<>"), inner))
                        counts[id(inner)] = counts.get(id(inner), 0) + 1
                        queue.append(inner)
    taken, result = {}, []
    for name, program in named:
        if counts[id(program)] > 1 or len(program.eqns) > _LONG:
            taken[name] = taken.get(name, -1) + 1
            result.append((name if not taken[name] else f"{name}{taken[name]}", program))
    return result


def print_jaxpr(
    jaxpr,
    *,
    source_info=False,
    print_shapes=True,
    custom_pp_eqn_rules=True,
    name_stack=False,
    print_effects=False,
    width=WIDTH,
    **_,
):
    """The text of a jaxpr, in JAX's format.

    `source_info` adds each equation's source location, `name_stack` its stack of names, `print_effects` the
    program's effects; without `print_shapes` variables have no types, without `custom_pp_eqn_rules` every parameter of
    every equation is shown.  JAX's options about colour have no effect.
    """
    options = {
        "source_info": source_info,
        "print_shapes": print_shapes,
        "custom_pp_eqn_rules": custom_pp_eqn_rules,
        "name_stack": name_stack,
        "print_effects": print_effects,
    }
    return layout(_document(jaxpr, Names(options)), width)


def _document(jaxpr, names):
    names.blanks = frozenset(v for eqn in jaxpr.eqns for v in eqn.outvars)
    docs = []
    shared = _shared_programs(jaxpr)
    names.shared = {id(program): name for name, program in shared}
    names.reserved = frozenset(name for name, _ in shared)
    for name, program in shared:
        docs.append([f"let {name} = ", _program(program, names, own=True), " in", Break("")])
    return [*docs, _program(jaxpr, names)]


def printed_name(var, jaxpr):
    """The name that a variable has where the program is printed, and the next free one if it does not occur there."""
    names = Names({"source_info": False, "print_shapes": False, "custom_pp_eqn_rules": True})
    names.options |= {"name_stack": False, "print_effects": False}
    _document(jaxpr, names)
    return var.text(names)


def print_eqn(eqn):
    """The text of one equation, with names of its own."""
    options = dict.fromkeys(("source_info", "name_stack", "print_effects"), False)
    options |= {"print_shapes": True, "custom_pp_eqn_rules": True}
    return layout(_equation(eqn, Names(options)))
