"""The command `python -m onax`, which runs a program as `python` does, with onax in the place of JAX."""

import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader

from onax.interop.install import FOLDER, install_as_jax

USAGE = """\
usage: python -m onax script.py [arguments]
       python -m onax -m module [arguments]
       python -m onax -c code [arguments]

Runs a program as `python` does; `import jax` gives onax, in the processes that the program starts too.
ONAX_INTEROP_LOG=FILE notes there which private names of JAX the program reads.
"""


def main(argv=None):
    """Runs the program that the arguments name; returns the exit code when there is none to run."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    if not argv or (argv[0].startswith("-") and (argv[0] not in _MODES or len(argv) < 2)):
        print(USAGE, end="", file=sys.stderr)
        return 2
    _share_with_children()
    install_as_jax()
    if argv[0] in _MODES:
        _MODES[argv[0]](argv[1], argv[2:])
    else:
        _run_script(argv[0], argv[1:])
    return 0


def _share_with_children():
    """Puts the folder on the path of Python processes that this one starts, and on this one's after its first entry."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != FOLDER]
    os.environ["PYTHONPATH"] = os.pathsep.join([FOLDER, *paths])
    if FOLDER not in sys.path:
        sys.path.insert(0 if sys.flags.safe_path else 1, FOLDER)


def _start_directory(path):
    """Sets the first entry of the path, which is the working directory under `python -m`."""
    if not sys.flags.safe_path:
        sys.path[0] = path


def _execute(code, argv, **attributes):
    """Runs code as the module `__main__`, which stays until the process ends, as it does under `python`."""
    sys.argv[:] = argv
    module = types.ModuleType("__main__")
    vars(module).update(attributes, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    exec(code, vars(module))


def _run_script(path, arguments):
    if os.path.isdir(path):
        sys.argv[:] = [path, *arguments]
        _start_directory(os.path.abspath(path))
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"python -m onax: can't open file {path!r}: {error.strerror}")
    _start_directory(os.path.dirname(os.path.abspath(path)))
    name = os.path.join(os.getcwd(), path)  # as under `python`: valid after the program has changed the folder
    loader = SourceFileLoader("__main__", name)
    _execute(compile(source, name, "exec"), [path, *arguments], __file__=name, __cached__=None, __loader__=loader)


def _run_module(name, arguments):
    sys.argv[:] = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run_code(text, arguments):
    _start_directory("")
    _execute(compile(text, "<string>", "exec"), ["-c", *arguments])


_MODES = {"-m": _run_module, "-c": _run_code}
