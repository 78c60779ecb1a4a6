"""ONAX_DUMP_PASSES: the program after each pass, one file for each pass and program."""

import itertools
import os
import re
from dataclasses import dataclass, field

_numbers = itertools.count(1)


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
