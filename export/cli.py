"""The command line of `scripts/export.py`, installed as `onax-export`.

    export TARGET --arg SPEC ... [-o FILE]     exports a function (the word `export` may be left out)
    check  TARGET|FILE ...                     compares eager, jit, each level of ONNX Runtime, onnx's own evaluator
    inspect FILE                               says what stands in an artefact
    run    FILE --example INPUTS [-o RESULTS]  runs an artefact

Exit codes: 0 done; 1 a comparison found a difference; 2 the command or the function cannot be carried out.
"""

import json
import os
import sys
import warnings
from typing import NamedTuple

import numpy as np

from onax._ground import lazy, source
from onax._ground.dims import SymbolicScope
from onax._ground.errors import ArtifactError, BackendError, ExportError, LoweringError
from onax._native.tree import tree_leaves
from onax.export import api, checks, conversions, inspection, report, targets
from onax.export.artifact import write_atomically
from onax.export.targets import find_function

EXIT_DIFFERENT = 1
EXIT_FAILED = 2
COMMANDS = ("export", "check", "inspect", "run")
DTYPES = ("float16", "bfloat16", "int8")

# --- the parser ---------------------------------------------------------------------------------------------------


def _parser():
    parser = lazy.argparse.ArgumentParser(
        prog="export.py",
        description="Export a Python function written with onax to an ONNX file; check, inspect and run such files.",
        epilog="Exit codes: 0 done; 1 a comparison found a difference; 2 the command cannot be carried out. "
        "Without the name of a command, `export` is meant.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="{export,check,inspect,run}")
    _export_options(commands.add_parser("export", help="export a function to an ONNX file"))
    _check_options(commands.add_parser("check", help="compare the ways of running a function or a file"))
    _inspect_options(commands.add_parser("inspect", help="say what stands in a file"))
    _run_options(commands.add_parser("run", help="run a file"))
    return parser


def _function_options(parser, target):
    option, several = parser.add_argument, {"action": "append", "default": []}
    opsets = f"ONNX opset, {api.OPSETS[0]} to {api.OPSETS[-1]} (default {api.DEFAULT_OPSET})"
    spec = "type of the next argument, such as f32[batch,8,8] or {w: f32[64,32], b: f32[32]}"
    weights = "its first argument, from an .npz or .safetensors file; dotted names make trees"
    dynamic = "a symbolic dimension: NAME for all leading ones, PATH:AXIS=NAME for one"
    option("target", help=target)
    option("--arg", metavar="SPEC", dest="specs", help=spec, **several)
    option("--example", metavar="FILE", help="arguments from an .npz file (arr_0, arr_1, ... or by name)")
    option("--params", metavar="FILE", help=weights)
    option("--dynamic", metavar="DIM", help=dynamic, **several)
    option("--static", metavar="NAME=VALUE", help="a keyword argument fixed to a Python literal", **several)
    option("--constraint", metavar="TEXT", help='on symbolic dimensions, such as "batch >= 2"', **several)
    option("--opset", type=int, default=api.DEFAULT_OPSET, metavar="N", help=opsets)
    option("--provider", choices=("cpu", "cuda"), default="cpu", help="what ONNX Runtime computes on when checking")
    option("--rtol", type=float, help="largest difference accepted, relative to the largest value")
    option("--atol", type=float, help="largest absolute difference accepted beside --rtol")
    option("--seed", type=int, default=0, help="seed of the random input (default 0)")
    _speech_options(parser)


def _speech_options(parser):
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _export_options(parser):
    option = parser.add_argument
    _function_options(parser, "path/to/file.py:function or package.module:function")
    option("-o", "--output", metavar="FILE", help="the file to write (default: FUNCTION.onnx)")
    option("--check", action="store_true", help="compare the model in ONNX Runtime with the function on random input")
    option("--weights", choices=("embedded", "inputs"), default="embedded", help="where --params goes")
    option("--external-data", action="store_true", help="large constants in a second file, FILE.data")
    option("--optimize", action="store_true", help="fold constants and fuse nodes ahead of time")
    option("--dtype", choices=DTYPES, help="compute in float16, store in bfloat16, multiply in int8")


def _check_options(parser):
    _function_options(parser, "a function as for export, or an .onnx file")


def _inspect_options(parser):
    parser.add_argument("target", metavar="FILE", help="an .onnx file written by onax")
    parser.add_argument("--draw", metavar="FILE", help="write a picture of the graph: .svg, .html or .dot")
    _speech_options(parser)


def _run_options(parser):
    option = parser.add_argument
    option("target", metavar="FILE", help="an .onnx file written by onax")
    option("--example", metavar="FILE", help="arguments from an .npz file (arr_0, ... or by name); else random ones")
    option("-o", "--output", metavar="FILE", help="write the results to an .npz file")
    option("--seed", type=int, default=0, help="seed of random input (default 0)")
    option("--provider", choices=("cpu", "cuda"), default="cpu", help="what ONNX Runtime computes on")
    _speech_options(parser)


# --- around the user's code ---------------------------------------------------------------------------------------


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


_OWN_ERRORS = (ExportError, ArtifactError, LoweringError, BackendError)
_users_code = _UsersCode()


class _Speaker:
    """Prints unless told to be quiet; a progress bar on a terminal for work of several steps."""

    def __init__(self, options):
        self.quiet = options.quiet or options.json

    def __call__(self, line, always=False):
        if always or not self.quiet:
            print(line, file=sys.stderr if always else sys.stdout)

    def steps(self, total):
        """A function to call with the name of each step."""
        if self.quiet or not sys.stderr.isatty():
            return None
        done = [0]

        def step(name):
            filled = 20 * done[0] // total
            print(f"\r[{'#' * filled:20}] {name:12}", end="", file=sys.stderr, flush=True)
            done[0] += 1

        return step


def _check_writable(path):
    """ExportError before any work if the file could not be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ExportError(f"cannot write {path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise ExportError(f"cannot write {path}: it is a folder")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"cannot write {path}: the folder {folder} is read-only")


# --- a function and the types it is exported for ------------------------------------------------------------------


class _Job:
    """What a command line says to export: the function, types of its arguments, and example values if given."""

    def __init__(self, options):
        try:
            scope = SymbolicScope(options.constraint)
        except ValueError as error:
            raise ExportError(f"--constraint: {error}") from None
        specs, named = targets.read_specs(options.specs, scope)
        static = targets.static_values(options.static)
        self.example = targets.read_example(options.example) if options.example else None
        if self.example:
            specs = [*specs, *map(targets.types_of, self.example[0])]
            named = {**named, **targets.types_of(self.example[1])}
        with _users_code:
            function = find_function(options.target)
        self.params = targets.read_weights(options.params) if options.params else None
        embedded = getattr(options, "weights", "embedded") == "embedded"
        if self.params is not None and not embedded:
            specs = [targets.types_of(self.params), *specs]
        if self.params is not None and embedded:
            function = targets.with_first(function, self.params)
        specs, named = targets.make_dynamic((tuple(specs), named), options.dynamic, scope)
        targets.check_fits(function, specs, {**named, **static})
        self.function = targets.with_static(function, static) if static else function
        self.specs, self.named = tuple(specs), named

    def export(self, options):
        """The Exported; warnings are printed in one line each."""
        function, specs, named = self.function, self.specs, self.named
        with _users_code, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if getattr(options, "dtype", None) == "bfloat16":
                function, specs, named = conversions.storing(function, specs, named)
            exported = api.export(function, opset=options.opset)(*specs, **named)
        for warning in caught:
            print(f"warning: {warning.message}", file=sys.stderr)
        if getattr(options, "dtype", None) == "float16":
            exported = conversions.to_float16(exported)
        if getattr(options, "dtype", None) == "int8":
            exported = conversions.to_int8(exported)
        return conversions.optimised(exported) if getattr(options, "optimize", False) else exported


# --- the commands -------------------------------------------------------------------------------------------------


def _export(options, say, upper):
    output = options.output or f"{options.target.rpartition(':')[2].rpartition('.')[2] or 'function'}.onnx"
    _check_writable(output)
    job = _Job(options)
    exported = job.export(options)
    code = _quick_check(exported, job, options, say) if options.check else 0
    if code:
        say("the file was not written", always=True)
        return code
    exported.save(output, external_data=True if options.external_data else None)
    for line in report.summary(exported):
        say(line)
    say(f"wrote {output}  ({os.path.getsize(output):,} bytes)")
    if options.json:
        print(json.dumps({"file": output, **inspection.to_data(exported, output)}))
    return 0


def _quick_check(exported, job, options, say):
    rtol = options.rtol if options.rtol is not None else conversions.TOLERANCES.get(options.dtype)
    function = job.function
    if options.dtype == "bfloat16":
        function = conversions.widening(function, job.specs, job.named)
    with _users_code:
        comparisons, sizes = report.check(exported, function, np.random.default_rng(options.seed), rtol)
    with_sizes = f" with {', '.join(f'{k} = {v}' for k, v in sizes.items())}" if sizes else ""
    wrong = [c for c in comparisons if not (c.is_close or (options.atol is not None and c.absolute <= options.atol))]
    worst = max(comparisons, key=lambda c: c.relative, default=None)
    if worst is not None:
        say(
            f"check{with_sizes}: largest difference {worst.absolute:.3g} (relative {worst.relative:.3g}) "
            f"in {worst.name}, of {len(comparisons)} outputs"
        )
    for c in wrong:
        say(f"check failed: {c.name} differs by {c.absolute:.3g} (relative {c.relative:.3g})", always=True)
    return EXIT_DIFFERENT if wrong else 0


def _check(options, say, upper):
    rng = np.random.default_rng(options.seed)
    provider = None if options.provider == "cpu" else options.provider
    how = {"rtol": options.rtol, "atol": options.atol, "provider": provider}
    function = None
    if options.target.endswith(".onnx"):
        exported = api.load(options.target)
        (args, kwargs), sizes = _values(
            exported, targets.read_example(options.example) if options.example else None, rng
        )
        rows = checks.compare_ways(exported, args, kwargs, **how, progress=say.steps(len(checks.LEVELS)))
    else:
        job = _Job(options)
        exported, function = job.export(options), job.function
        (args, kwargs), sizes = _values(exported, job.example, rng)
        jitted = upper.jit(function)
        ways = len(checks.ways_of(True))
        with _users_code:
            rows = checks.compare_ways(exported, args, kwargs, function, jitted=jitted, **how, progress=say.steps(ways))
    wrong = [r for r in rows if not r.is_close]
    departure = None
    if wrong and function is not None:
        way = next((r.way for r in wrong if r.way != "jit" and not r.skipped), "ort-basic")
        departure = checks.first_departure(
            function, args, kwargs, way=way, opset=options.opset, rtol=options.rtol, provider=provider
        )
    _say_rows(rows, sizes, departure, "ort-0" if function is None else "eager", options, say)
    return EXIT_DIFFERENT if wrong else 0


def _say_rows(rows, sizes, departure, base, options, say):
    if options.json:
        data = [r.__dict__ if not r.skipped else {"way": r.way, "skipped": r.skipped} for r in rows]
        print(json.dumps({"base": base, "sizes": sizes, "rows": data, "first_departure": departure and str(departure)}))
        return
    if sizes:
        say(f"with {', '.join(f'{k} = {v}' for k, v in sizes.items())}")
    failed = any(not r.is_close for r in rows)
    for line in checks.table(rows, base):
        say(line, always=failed and say.quiet)
    if departure is not None:
        say(f"first departure: {departure}", always=True)


def _values(exported, example, rng):
    """((args, kwargs) as arrays, sizes of symbolic dimensions): the example's, or random ones."""
    if example is None:
        return report.random_arguments(exported, rng)
    arguments = (tuple(example[0]), dict(example[1]))
    leaves = tree_leaves(arguments)
    if len(leaves) != len(exported.in_avals):
        raise ExportError(f"--example holds {len(leaves)} arrays; the function takes {len(exported.in_avals)}")
    return exported.in_tree.unflatten(leaves), {}


def _inspect(options, say, upper):
    exported = api.load(options.target)
    data = inspection.to_data(exported, options.target)
    if options.draw:
        _check_writable(options.draw)
        kind = options.draw.rpartition(".")[2]
        if kind not in ("svg", "html", "dot"):
            raise ExportError(f"--draw: the name of the file must end with .svg, .html or .dot, got {options.draw!r}")
        try:
            picture = getattr(upper.draw(exported.onnx_model, exported.fun_name), kind)
        except (ImportError, ValueError) as error:
            raise ExportError(f"--draw: {error}") from None
        write_atomically(options.draw, picture.encode())
    if options.json:
        print(json.dumps(data))
    for line in inspection.to_text(data):
        say(line)
    return 0


def _run(options, say, upper):
    if options.output:
        _check_writable(options.output)
    exported = api.load(options.target)
    example = targets.read_example(options.example) if options.example else None
    (args, kwargs), _ = _values(exported, example, np.random.default_rng(options.seed))
    way = "ort-basic"
    provider = None if options.provider == "cpu" else options.provider
    exported._plan.values([np.shape(x) for x in tree_leaves((args, kwargs))])
    results = checks.run_way(way, exported, args, kwargs, provider=provider)
    named = dict(zip(exported.out_names, results))
    if options.output:
        buffer = lazy.io.BytesIO()
        np.savez(buffer, **named)
        write_atomically(options.output, buffer.getvalue())
    if options.json:
        print(json.dumps({n: {"shape": list(x.shape), "dtype": x.dtype.name} for n, x in named.items()}))
    for name, x in named.items():
        say(f"{name}  {x.dtype.name}{list(x.shape)}\n{x}")
    return 0


_RUNNERS = {"export": _export, "check": _check, "inspect": _inspect, "run": _run}


class Upper(NamedTuple):
    """What the commands use of the floors above this one: `jit`, and `draw(model, title)` which gives a Drawing."""

    jit: object
    draw: object


def main(argv, upper):
    """Runs the command line; returns the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv and argv[0] not in COMMANDS and argv[0] not in ("-h", "--help"):
        argv.insert(0, "export")
    options = _parser().parse_args(argv)
    try:
        return _RUNNERS[options.command](options, _Speaker(options), upper)
    except _OWN_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
