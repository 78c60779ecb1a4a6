"""jax_explain_cache_misses: explains why a call had to trace its function."""

import weakref

from onax._core.paths import equality_errors_pytreedef, keystr
from onax._ground import source
from onax._ground.config import differing_options

_explained = {}  # (name, where defined) -> reference to the last function that was explained as never seen, its id


def explain(fun, key, seen, arg_names, static_name):
    """The explanation for a call of `fun` whose key is not among those seen.

    Keys are (tree of the dynamic arguments, avals, statics, option word, named axes), as `call.py` makes them.
    `arg_names()` gives the names of the leaves; `static_name(argument)` the name of a static argument, from its name or
    position.
    """
    where, defined = source.summarize(source.user_location()), _definition(fun)
    head = f"TRACING CACHE MISS at {where}:"
    if not seen:
        text = f"{head}\n  never seen function:\n    {defined[0]} id={id(fun)}{defined[1]}"
        return text + _same_line(defined, fun)
    closest = min(list(seen), key=lambda other: _distance(key, other))
    lines = [head, f"  for {defined[0]}{defined[1]}"]
    lines.append("  all previously seen cache keys differ. For the closest previous key:")
    lines += _trees(key[0], closest[0])
    lines += _statics(key[2], closest[2], static_name)
    if key[0] == closest[0]:
        lines += _types(key[1], closest[1], arg_names())
    lines += _context(key, closest)
    return "\n".join(lines)


def _definition(fun):
    name, _, line = source.function_location(fun).partition(" at ")
    return name, f" defined at {line}" if line else ""


def _same_line(defined, fun):
    """What to say if another function of the same definition, which may have the memory of the first, was explained."""
    before, number = _explained.get(defined, (None, None))
    if before is None or before() is not fun:
        _explained[defined] = (weakref.ref(fun) if type(fun).__weakrefoffset__ else lambda: fun, id(fun))
    if before is None or before() is fun or not defined[1]:
        return ""
    return (
        f"\n  but seen another function defined on the same line (id={number}).  If it is defined in a loop or at each "
        "call, define it once outside, so that its programs are found again."
    )


def _distance(key, other):
    """A distance between keys: structure weighs more than statics and options, and these more than single types."""
    types = sum(a != b for a, b in zip(key[1], other[1])) if len(key[1]) == len(other[1]) else len(key[1])
    return (key[0] != other[0], (key[2] != other[2]) + (key[3] != other[3]) + (key[4] != other[4]), types)


def _trees(now, before):
    if now == before:
        return []
    lines = ["  different input pytree:"]
    for path, thing_before, thing_now, explanation in equality_errors_pytreedef(before, now):
        lines.append(
            f"  * at input path {keystr(tuple(path))}, now {thing_now} and before {thing_before}, {explanation}"
        )
    return lines


def _statics(now, before, static_name):
    if now == before:
        return []
    given = {} if now is None else dict(zip(now[1], now[2]))
    was = {} if before is None else dict(zip(before[1], before[2]))
    lines = ["  different static arguments:"]
    for argument in dict.fromkeys([*given, *was]):
        name = static_name(argument)
        if argument not in was:
            lines.append(f"  * {name}, now {given[argument]!r} and before not given")
        elif argument not in given:
            lines.append(f"  * {name}, now not given and before {was[argument]!r}")
        elif type(given[argument]) is not type(was[argument]) or given[argument] != was[argument]:
            lines.append(f"  * {name}, now {given[argument]!r} and before {was[argument]!r}")
    return lines


def _types(now, before, names):
    changed = [
        f"  * at {names[i] if i < len(names) else f'argument {i}'}, now {_shown(a, b)} and before {_shown(b, a)}"
        + (_PAGE_ON_WEAK_TYPES if a.weak_type != b.weak_type else "")
        for i, (a, b) in enumerate(zip(now, before))
        if a != b
    ]
    return ["  different input types:", *changed] if changed else []


_PAGE_ON_WEAK_TYPES = " https://docs.jax.dev/en/latest/type_promotion.html#weak-types"


def _shown(aval, other):
    """The type as text, with its weak type if the types differ in that."""
    text = aval.str_short(short_dtypes=True)
    return text if aval.weak_type == other.weak_type else f"{text}{{weak_type={aval.weak_type}}}"


def _context(key, other):
    lines = [
        f"  * {name} differs: now {now} and before {before}"
        for name, now, before in differing_options(key[3], other[3])
    ]
    if key[4] != other[4]:
        lines.append(f"  * named axes differ: now {key[4]} and before {other[4]}")
    head = "  Tracing context doesn't match, e.g. due to config or context manager."
    return [head, *lines] if lines else []
