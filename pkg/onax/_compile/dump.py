"""Programs in files: after each pass (ONAX_DUMP_PASSES), and as they were staged (`jax_dump_ir_to`)."""

import itertools
import os
import re
from collections import Counter
from dataclasses import dataclass, field

from onax._core.jaxpr import jaxprs_in_params
from onax._ground import pprof, source
from onax._ground.config import config

_numbers = itertools.count(1)
_staged = itertools.count()


@dataclass(slots=True, eq=False)
class Dump:
    """The files of one program: `<process>-<program>-<function>-<pass>-<name of the pass>.txt`."""

    prefix: str
    passes: itertools.count = field(default_factory=itertools.count)

    def write(self, name, program):
        """Writes a program to a file; the file appears when it is complete."""
        path = f"{self.prefix}-{next(self.passes)}-{name}.txt"
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.write(f"{program}\n")
        os.replace(f"{path}.part", path)


def open_dump(name):
    """The Dump of a function that is being compiled, or None if ONAX_DUMP_PASSES names no folder."""
    folder = os.environ.get("ONAX_DUMP_PASSES")
    if not folder:
        return None
    os.makedirs(folder, exist_ok=True)
    file = f"{os.getpid()}-{next(_numbers):04d}-{re.sub(r'[^A-Za-z0-9_]+', '_', name)}"
    return Dump(os.path.join(folder, file))


def write_staged(jaxpr, name):
    """Writes a staged program into the folder that the option `jax_dump_ir_to` names.

    The option `jax_dump_ir_modes` lists forms: `jaxpr`, its text, and `eqn_count_pprof`, a profile for pprof that
    counts the equations of each place in the source.
    """
    folder, modes = config.jax_dump_ir_to, config.jax_dump_ir_modes.split(",")
    if not folder or not {"jaxpr", "eqn_count_pprof"}.intersection(modes):
        return
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"jax_{next(_staged):06d}_{re.sub(r'[^A-Za-z0-9_<>]+', '_', name)}")
    if "jaxpr" in modes:
        with open(f"{path}.jaxpr.txt", "w", encoding="utf-8") as file:
            file.write(f"{jaxpr}\n")
    if "eqn_count_pprof" in modes:
        with open(f"{path}.eqn_count_pprof", "wb") as file:
            file.write(_count_equations(jaxpr))


def _count_equations(jaxpr):
    counts = Counter((eqn.primitive.name, _frames(eqn)) for eqn in _equations(jaxpr))
    samples = [pprof.Sample((n,), frames, {"primitive": name}) for (name, frames), n in counts.items()]
    return pprof.encode([("eqn_count", "count")], samples)


def _equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in jaxprs_in_params(eqn.params):
            yield from _equations(inner)


def _frames(eqn):
    """(function, file, line) of the user's frames around an equation, innermost first."""
    record = eqn.source_info
    found = [source.resolve(r) for r in (record, *(getattr(record, "callers", None) or ()))]
    return tuple((function or "<unknown>", file, line) for file, line, _, function in found)
