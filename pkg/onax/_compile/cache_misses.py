"""jax_explain_cache_misses: explains why a call had to trace its function."""

import weakref

from onax._core.mesh_context import mesh_context
from onax._core.meshes import AxisType
from onax._core.paths import equality_errors_pytreedef, keystr
from onax._ground import source
from onax._ground.config import UserContext, differing_options

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
    """The type as text, with its weak type and the axes of its mesh if the types differ in that."""
    text = aval.str_short(short_dtypes=True)
    if _stated_mesh(aval) != _stated_mesh(other):
        mesh = _stated_mesh(aval)
        kinds = () if mesh is None else ((AxisType.Auto, mesh.auto_axes), (AxisType.Explicit, mesh.explicit_axes))
        text += f"({dict(pair for pair in kinds if pair[1])})"
    return text if aval.weak_type == other.weak_type else f"{text}{{weak_type={aval.weak_type}}}"


def _stated_mesh(aval):
    """The mesh over whose explicit axes a type says that its value is split; None if it says nothing."""
    sharding = getattr(aval, "stated_sharding", None)
    return None if sharding is None else sharding.mesh


def _context(key, other):
    differences = []
    for name, now, before in differing_options(key[3], other[3]):
        by_context = [_values_by_context(value) for value in (now, before)]
        differences += [(name, now, before)] if None in by_context else _user_contexts(*by_context)
    lines = [f"  * {name} differs: now {now} and before {before}" for name, now, before in differences]
    if key[4][:2] != other[4][:2]:
        lines.append(f"  * named axes differ: now {key[4][:2]} and before {other[4][:2]}")
    if key[4][2] != other[4][2]:
        lines.append(f"  * mesh of the arguments differs: now {key[4][2]} and before {other[4][2]}")
    head = "  Tracing context doesn't match, e.g. due to config or context manager."
    return [head, *lines] if lines else []


def _values_by_context(value):
    """{UserContext: its value}, if the value of an option is that of such contexts; else None."""
    of_contexts = type(value) is tuple and all(
        type(pair) is tuple and isinstance(pair[0], UserContext) for pair in value
    )
    return dict(value) if of_contexts else None


def _user_contexts(now, before):
    """(name, value now, value before) of what differs among the values of contexts; that of meshes has parts."""
    for user_context in dict.fromkeys([*now, *before]):
        new, old = (values.get(user_context, user_context.default) for values in (now, before))
        if user_context is mesh_context:
            yield from new.differences(old)
        elif new != old:
            yield "a context of make_user_context", new, old
