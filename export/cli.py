"""The command line: `python scripts/export.py TARGET --arg SPEC ... [-o FILE] [--opset N] [--check]`.

    TARGET   path/to/file.py:function  or  package.module:function  (dots reach into classes and objects)
    SPEC     f32[batch,8,8]   {w: f32[64,32], b: f32[32]}   [f32[3], (i32[], None)]     one for each parameter;
             NAME=SPEC for a keyword argument

Exit codes: 0 done; 1 `--check` found a difference; 2 the command or the function cannot be carried out.
"""

import ast
import importlib
import os
import sys
import warnings

import numpy as np

from onax._ground import lazy, source
from onax._ground.dims import SymbolicScope
from onax._ground.errors import BackendError, ExportError, LoweringError
from onax.export import api, report
from onax.export.specs import parse_spec

EXIT_DIFFERENT = 1
EXIT_FAILED = 2


def _parser():
    parser = lazy.argparse.ArgumentParser(
        prog="export.py", description="Export a Python function written with onax to an ONNX file."
    )
    option = parser.add_argument
    opsets = f"ONNX opset, {api.OPSETS[0]} to {api.OPSETS[-1]} (default {api.DEFAULT_OPSET})"
    several = {"action": "append", "default": []}
    spec = "type of the next argument, such as f32[batch,8,8] or {w: f32[64,32], b: f32[32]}"
    option("target", help="path/to/file.py:function or package.module:function")
    option("--arg", metavar="SPEC", dest="specs", help=spec, **several)
    option("--static", metavar="NAME=VALUE", help="a keyword argument fixed to a Python literal", **several)
    option("--constraint", metavar="TEXT", help='on symbolic dimensions, such as "batch >= 2"', **several)
    option("-o", "--output", metavar="FILE", help="the file to write (default: FUNCTION.onnx)")
    option("--opset", type=int, default=api.DEFAULT_OPSET, metavar="N", help=opsets)
    option("--check", action="store_true", help="compare the model in ONNX Runtime with the function on random input")
    option("--rtol", type=float, help="largest difference that --check accepts, relative to the largest value")
    option("--seed", type=int, default=0, help="seed of the random input (default 0)")
    option("--quiet", action="store_true", help="print errors only")
    return parser


# --- finding the function -----------------------------------------------------------------------------------------


def find_function(target):
    """The function that a target names; ExportError if there is none."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise ExportError(f"{target!r} does not name a function: write path/to/file.py:function or module:function")
    found = module = _load_file(place) if place.endswith(".py") else _load_module(place)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ExportError(f"{place} has no function {name!r}{_alike(module, name)}") from None
    if not callable(found):
        raise ExportError(f"{name} in {place} is no function but of type {type(found).__name__}")
    return found


def _alike(module, name):
    """A hint: functions of the module with a like name, else all its own."""
    own = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_") and not isinstance(v, type)]
    own = [n for n in own if getattr(vars(module)[n], "__module__", module.__name__) == module.__name__]
    close = lazy.difflib.get_close_matches(name, own) or sorted(own)[:8]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _load_file(path):
    """The module in a file; its folder comes first on the path, as when the file is run."""
    if not os.path.isfile(path):
        raise ExportError(f"there is no file {path}")
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:
        name = f"exported_{name}"  # a file called random.py must not become the module `random`
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = lazy.importlib_util.spec_from_file_location(name, path)
    module = lazy.importlib_util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _load_module(name):
    """An importable module; the working directory counts."""
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise ExportError(f"there is no module {name}") from None
        raise


def _fits(function, specs, static):
    """ExportError unless the function takes that many arguments."""
    try:
        signature = lazy.inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*specs, **static)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        also = f" and {', '.join(static)}" if static else ""
        raise ExportError(f"{name}{signature} does not take {len(specs)} --arg{also}: {error}") from None


def _read_specs(texts, scope):
    """Types of the positional arguments, and of those written NAME=SPEC by name."""
    positional, named = [], {}
    for text in texts:
        name, sign, spec = text.partition("=")
        if sign and name.strip().isidentifier():
            named[name.strip()] = parse_spec(spec.strip(), scope)
        else:
            positional.append(parse_spec(text, scope))
    return positional, named


def _static_values(texts):
    """Keyword arguments from NAME=VALUE texts."""
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ExportError(f"--static {text!r} is not of the form NAME=VALUE")
        try:
            found[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            raise ExportError(f"--static {text!r}: {value.strip()!r} is no Python literal") from None
    return found


# --- the command --------------------------------------------------------------------------------------------------


def _check_writable(path):
    """ExportError before any work if the file could not be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ExportError(f"cannot write {path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise ExportError(f"cannot write {path}: it is a folder")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"cannot write {path}: the folder {folder} is read-only")


class _UsersCode:
    """Around code of the user's: what it raises is shown without frames of onax, and ends the command."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, Exception) or isinstance(error, _OWN_ERRORS):
            return
        shown, _ = source.filter_traceback(trace)
        lines = lazy.traceback.format_exception(kind, error, shown)
        print("".join(lines).rstrip(), file=sys.stderr)
        print("error: the function to export raised this", file=sys.stderr)
        raise SystemExit(EXIT_FAILED) from None


_OWN_ERRORS = (ExportError, LoweringError, BackendError)
_users_code = _UsersCode()


def _export(options, say):
    try:
        scope = SymbolicScope(options.constraint)
    except ValueError as error:
        raise ExportError(f"--constraint: {error}") from None
    specs, named = _read_specs(options.specs, scope)
    static = _static_values(options.static)
    output = options.output or f"{options.target.rpartition(':')[2].rpartition('.')[2] or 'function'}.onnx"
    _check_writable(output)
    with _users_code:
        function = find_function(options.target)
    _fits(function, specs, {**named, **static})
    if static:
        function = _with_static(function, static)
    with _users_code, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exported = api.export(function, opset=options.opset)(*specs, **named)
    for warning in caught:
        print(f"warning: {warning.message}", file=sys.stderr)
    code = 0
    if options.check:
        code = _check(exported, function, options, say)
        if code:
            say("the file was not written", always=True)
            return code
    exported.save(output)
    for line in report.summary(exported):
        say(line)
    say(f"wrote {output}  ({os.path.getsize(output):,} bytes)")
    return code


def _with_static(function, static):
    """The function with some keyword arguments fixed, under its own name and signature of the rest."""

    def fixed(*args, **kwargs):
        return function(*args, **kwargs, **static)

    fixed.__name__ = getattr(function, "__name__", "function")
    fixed.__wrapped__ = function
    return fixed


def _check(exported, function, options, say):
    with _users_code:
        comparisons, sizes = report.check(exported, function, np.random.default_rng(options.seed), options.rtol)
    with_sizes = f" with {', '.join(f'{k} = {v}' for k, v in sizes.items())}" if sizes else ""
    wrong = [c for c in comparisons if not c.is_close]
    worst = max(comparisons, key=lambda c: c.relative, default=None)
    if worst is not None:
        say(
            f"check{with_sizes}: largest difference {worst.absolute:.3g} (relative {worst.relative:.3g}) "
            f"in {worst.name}, of {len(comparisons)} outputs"
        )
    for c in wrong:
        say(f"check failed: {c.name} differs by {c.absolute:.3g} (relative {c.relative:.3g})", always=True)
    return EXIT_DIFFERENT if wrong else 0


def main(argv=None):
    """Runs the command line; returns the exit code."""
    options = _parser().parse_args(argv)

    def say(line, always=False):
        if always or not options.quiet:
            print(line, file=sys.stderr if always else sys.stdout)

    try:
        return _export(options, say)
    except _OWN_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
