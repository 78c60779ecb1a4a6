"""jax_check_tracer_leaks: checks that no tracer of a transformation is alive when the transformation ends.

A tracer keeps its trace alive, so a trace that is alive after its function returned has a leaked tracer.  The garbage
collector finds what refers to it; since that takes milliseconds, it is called only for traces that are still alive.
"""

import gc
import sys
import weakref
from types import CellType, FrameType, FunctionType

from onax._core.trace import Tracer
from onax._ground import source
from onax._ground.config import CHECK_TRACER_LEAKS
from onax._native.context import option_word

_SHOWN = 5  # the largest number of tracers, and of references from a tracer to the global or function that holds it


def checking():
    """Whether the option is on in this thread."""
    return bool(option_word() & CHECK_TRACER_LEAKS)


def watch(*traces):
    """Returns weak references for `check`, so that the caller can drop its own references to the traces."""
    return [weakref.ref(trace) for trace in traces]


def check(watched):
    """Raises an Exception if watched traces are still alive, as JAX does; the message shows what holds their tracers.

    The caller must have dropped its own references to them.
    """
    traces = [trace for trace in (reference() for reference in watched) if trace is not None]
    if not traces:
        return
    leaked = _tracers_of(traces)
    if leaked:
        del leaked
        gc.collect()  # cycles, such as an error and its traceback, are not leaks
        leaked = _tracers_of(traces)
    if not leaked:
        return
    count = len(leaked)
    del leaked[_SHOWN:]
    texts = [f"{x!r}\n{_creation_line(x)}{_reference_chain(x, leaked)}" for x in leaked]
    if count > _SHOWN:
        texts.append(f"and {count - _SHOWN} more")
    name = type(traces[0]).__name__
    raise Exception(f"Leaked trace {name}. Leaked tracer(s):\n\n" + "\n\n".join(texts))


def _tracers_of(traces):
    result = []
    for trace in traces:
        result += [x for x in gc.get_referrers(trace) if isinstance(x, Tracer) and x._trace is trace]
    return result


def _creation_line(tracer):
    text, created = tracer._origin_msg().strip(), tracer._creation_msg()
    if created not in text:
        text = f"{text}\n{created}"
    return text.lstrip("\n") + "\n" if text else ""


def _reference_chain(tracer, ignored):
    """The chain of references that leads to a tracer, one line for each."""
    lines, seen, x = [], {id(ignored)}, tracer
    for _ in range(_SHOWN):
        seen.add(id(x))
        step = _find_holder(x, seen)
        if step is None:
            break
        text, x = step
        del step  # otherwise this variable would count as a holder of x
        begin = "  which is" if lines else f"<{type(tracer).__name__} {id(tracer)}> is referred to by"
        lines.append(f"{begin} {text}")
        if x is None:
            break
    return "\n".join(lines)


def _find_holder(x, seen):
    """The most informative reference to an object, (text, referring object or None at the end of a chain); or None."""
    holders = []
    for frame in _user_frames():
        names = () if frame.f_locals is frame.f_globals else tuple(frame.f_locals)
        for name in names:
            if frame.f_locals.get(name) is x:
                location = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                holders.append((0, f"the variable {name} of {frame.f_code.co_qualname} at {location}", None))
    for holder in gc.get_referrers(x):
        if id(holder) not in seen and not isinstance(holder, (FrameType, type(sys))):
            described = _describe_reference(holder, x)
            if described is not None:
                holders.append(described)
    return min(holders, key=lambda one: one[0])[1:] if holders else None


def _user_frames():
    frame = sys._getframe(1)
    while frame is not None:
        if not source.is_internal(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _describe_reference(holder, x):
    """(rank, text, next object or None) of one reference; None for a reference that tells the user nothing."""
    if type(holder) is dict:
        return _in_dict(holder, x)
    if isinstance(holder, (list, tuple)):
        index = next((i for i, item in enumerate(holder) if item is x), None)
        return None if index is None else (3, f"entry [{index}] of a {type(holder).__name__}", holder)
    if isinstance(holder, CellType):
        return _in_closure(holder)
    if isinstance(holder, Tracer):
        return 4, f"kept by the tracer {holder!r}", holder
    if isinstance(holder, FunctionType):
        return 2, f"a default or attribute of the function {source.function_location(holder)}", None
    for name in (*getattr(type(holder), "__slots__", ()), *getattr(holder, "__dict__", ())):
        if getattr(holder, name, None) is x:  # Python 3.13 keeps attributes without a dict that would refer to them
            return 1, f"the attribute {name} of a {type(holder).__qualname__}", holder
    return 5, f"held by a {type(holder).__qualname__}", holder


def _in_dict(holder, x):
    key = next((k for k, value in holder.items() if value is x), None)
    if key is None:
        return None
    module = sys.modules.get(holder.get("__name__"))
    if module is not None and vars(module) is holder:
        return 0, f"the global {key} of {module.__name__}", None
    for owner in gc.get_referrers(holder):
        if getattr(owner, "__dict__", None) is holder:
            return 1, f"the attribute {key} of a {type(owner).__qualname__}", owner
    return 3, f"entry [{key!r}] of a dict", holder


def _in_closure(cell):
    for closure in gc.get_referrers(cell):
        for function in gc.get_referrers(closure) if type(closure) is tuple else ():
            if isinstance(function, FunctionType) and function.__closure__ is closure:
                name = function.__code__.co_freevars[[c is cell for c in closure].index(True)]
                return 1, f"the variable {name} that {source.function_location(function)} closes over", None
    return 4, "a variable of a function that others close over", cell
