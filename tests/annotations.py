"""Which public functions have parameters or a result without a type; `pending_annotations.json` lists what remains.

Run as a program, this file removes from the list the functions that are complete, and adds none:

    .venv/bin/python tests/annotations.py
"""

import inspect
import json
from pathlib import Path

from public_members import is_function, members

PENDING = Path(__file__).resolve().parent / "pending_annotations.json"


def missing(value):
    """Names of the parameters without an annotation, and "return"; empty if Python knows no signature."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    named = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name[0] != "_"]
    return named + ["return"] * (signature.return_annotation is signature.empty)


def incomplete(module):
    """Names of the functions of a public module that lack annotations."""
    return [name for name, value in members(module).items() if is_function(value) and missing(value)]


def pending():
    """module -> names of the functions that lack annotations still."""
    return json.loads(PENDING.read_text())


def main():
    """Removes the complete functions from the list."""
    listed = {module: sorted({*names} & {*incomplete(module)}) for module, names in pending().items()}
    remaining = {module: names for module, names in listed.items() if names}
    PENDING.write_text(json.dumps(remaining, indent=1, sort_keys=True) + "\n")
    print(f"{sum(map(len, remaining.values()))} functions of {len(remaining)} modules remain")


if __name__ == "__main__":
    main()
