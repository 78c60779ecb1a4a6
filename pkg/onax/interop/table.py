"""The table of private names of JAX that libraries read: `private_names.txt`, and what this process read of it."""

import functools
import importlib
import os
import sys
from dataclasses import dataclass

_FILE = os.path.join(os.path.dirname(__file__), "private_names.txt")
LOG_VARIABLE = "ONAX_INTEROP_LOG"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    name     a name of jax or jaxlib; one that ends in `.*` stands for the names of a module that have no row
    ours     `module` or `module:attribute` of onax or another package; several modules, for a name that ends in `.*`
    readers  the libraries that read it
    reason   what they do with it
    """

    name: str
    ours: tuple[str, ...]
    readers: str
    reason: str


def parse(text):
    """The rows of a table as text: four columns between bars; lines that begin with # are comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != 4 or not all(columns):
            raise ValueError(f"line {number} of the table of private names needs four columns: {line!r}")
        name, ours, readers, reason = columns
        yield Row(name, tuple(ours.split()), readers, reason)


@functools.cache
def rows():
    """Name -> row."""
    with open(_FILE, encoding="utf-8") as file:
        return {row.name: row for row in parse(file.read())}


@functools.cache
def modules():
    """The names of all modules in which a row stands, with those around them."""
    found = set()
    for name in rows():
        parts = name.split(".")
        found |= {".".join(parts[:i]) for i in range(1, len(parts))}
    return frozenset(found)


def resolve(ours):
    """The object that a row names: an attribute, at any depth, of a module, or a module."""
    module, _, attribute = ours.partition(":")
    return functools.reduce(getattr, attribute.split(".") if attribute else (), importlib.import_module(module))


def is_private(name):
    """Whether a name is not part of JAX's public interface: in a module with an underscore, or of jaxlib."""
    root, *parts = name.split(".")
    return root == "jaxlib" or any(part.startswith("_") and not part.startswith("__") for part in parts)


@functools.cache
def log(name):
    """Notes that this process read a private name, once, in the file that the environment variable names."""
    path = os.environ.get(LOG_VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name}\t{reader()}\n")


def reader():
    """File and line of the innermost frame outside this package and the import system."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(("<frozen importlib", os.path.dirname(__file__))) and "importlib" not in file:
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"
