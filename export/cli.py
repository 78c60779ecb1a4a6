"""The command line of `scripts/export.py`, installed as `onax-export`.

    export TARGET --arg SPEC ... [-o FILE]     exports a function (the word `export` may be left out)
    check  TARGET|FILE ...                     compares eager, jit, each level of ONNX Runtime, onnx's own evaluator
    inspect FILE                               prints what an artefact contains
    run    FILE --example INPUTS [-o RESULTS]  runs an artefact

Exit codes: 0 done; 1 a comparison found a difference; 2 the command or the function cannot be carried out.
"""

import json
import os
import sys
import warnings
from dataclasses import dataclass

import numpy as np

from onax._ground import lazy, source
from onax._ground.dims import SymbolicScope
from onax._ground.errors import ArtifactError, BackendError, ExportError, LoweringError
from onax._native.tree import tree_leaves
from onax.export import api, checks, conversions, difference, inspection, opsets, report, targets
from onax.export.artifact import parse, read_file, write_atomically
from onax.export.targets import find_function

EXIT_DIFFERENT = 1
EXIT_FAILED = 2
COMMANDS = ("export", "check", "inspect", "run", "diff")
DTYPES = ("float16", "bfloat16", "int8")

# --- the parser ---------------------------------------------------------------------------------------------------


def _parser():
    parser = lazy.argparse.ArgumentParser(
        prog="export.py",
        description="Export a Python function written with onax to an ONNX file; check, inspect and run such files.",
        epilog="Exit codes: 0 done; 1 a comparison found a difference; 2 the command fails. "
        "Without the name of a command, `export` is meant.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar=f"{{{','.join(COMMANDS)}}}")
    _export_options(commands.add_parser("export", help="export a function to an ONNX file"))
    _check_options(commands.add_parser("check", help="compare the ways of running a function or a file"))
    _inspect_options(commands.add_parser("inspect", help="print what a file contains"))
    _run_options(commands.add_parser("run", help="run a file"))
    _diff_options(commands.add_parser("diff", help="compare the graphs and the results of two files"))
    return parser


def _function_options(parser, target):
    option, several = parser.add_argument, {"action": "append", "default": []}
    spec = "the type of the next argument, such as f32[batch,8,8] or {w: f32[64,32], b: f32[32]}"
    weights = "take the first argument from an .npz or .safetensors file; dotted names make trees"
    dynamic = "make a dimension symbolic: NAME for all leading ones, PATH:AXIS=NAME for one"
    opset = f"the ONNX opset, {opsets.OPSETS[0]} to {opsets.OPSETS[-1]} (default: the lowest from {opsets.DEFAULT_OPSET} on that the function needs)"
    option("target", help=target)
    option("--arg", metavar="SPEC", dest="specs", help=spec, **several)
    option("--example", metavar="FILE", help="take arguments from an .npz file (arr_0, arr_1, ... or by name)")
    option("--params", metavar="FILE", help=weights)
    option("--dynamic", metavar="DIM", help=dynamic, **several)
    option("--static", metavar="NAME=VALUE", help="fix a keyword argument to a Python literal", **several)
    option("--constraint", metavar="TEXT", help='constrain symbolic dimensions, such as "batch >= 2"', **several)
    option("--opset", type=int, metavar="N", help=opset)
    option(
        "--exact", action="store_true", help="keep formulas such as softmax's instead of the operators that mean them"
    )
    option("--rtol", type=float, help="the largest accepted difference, relative to the largest value")
    option("--atol", type=float, help="the largest absolute difference that is accepted whatever --rtol says")
    _run_and_print_options(parser)


def _run_and_print_options(parser):
    parser.add_argument("--provider", choices=("cpu", "cuda"), default="cpu", help="where ONNX Runtime runs the model")
    parser.add_argument("--seed", type=int, default=0, help="the seed of random arguments (default 0)")
    _print_options(parser)


def _print_options(parser):
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")


def _export_options(parser):
    option = parser.add_argument
    parser.set_defaults(run=_export)
    _function_options(parser, "path/to/file.py:function or package.module:function")
    option("-o", "--output", metavar="FILE", help="the file to write (default: FUNCTION.onnx)")
    option("--check", action="store_true", help="compare the model with the function on random arguments")
    option("--weights", choices=("embedded", "inputs"), default="embedded", help="where the arrays of --params go")
    option("--external-data", action="store_true", help="write large constants to a second file, FILE.data")
    option("--optimize", action="store_true", help="fold constants and fuse nodes ahead of time")
    option("--dtype", choices=DTYPES, help="compute in float16, store weights in bfloat16, multiply matrices in int8")


def _check_options(parser):
    parser.set_defaults(run=_check)
    _function_options(parser, "a function, as for export, or an .onnx file")


def _inspect_options(parser):
    parser.set_defaults(run=_inspect)
    parser.add_argument("target", metavar="FILE", help="an .onnx file")
    parser.add_argument("--draw", metavar="FILE", help="write a picture of the graph: .svg, .html or .dot")
    _print_options(parser)


def _diff_options(parser):
    parser.set_defaults(run=_diff)
    parser.add_argument("first", metavar="FILE", help="an .onnx file")
    parser.add_argument("second", metavar="FILE", help="another one")
    parser.add_argument("--seed", type=int, default=0, help="the seed of random inputs (default 0)")
    _print_options(parser)


def _run_options(parser):
    option = parser.add_argument
    parser.set_defaults(run=_run)
    option("target", metavar="FILE", help="an .onnx file written by onax")
    option("--example", metavar="FILE", help="take arguments from an .npz file, as for export (default: random ones)")
    option("-o", "--output", metavar="FILE", help="write the results to an .npz file")
    _run_and_print_options(parser)


# --- around the user's code ---------------------------------------------------------------------------------------


class _UserCode:
    """A context for the user's code: what it raises is printed without the frames of onax, and ends the command."""

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
_user_code = _UserCode()


@dataclass(slots=True)
class _Printer:
    """Prints lines unless the command is to be quiet, and a progress bar on a terminal."""

    quiet: bool

    def __call__(self, line, always=False):
        if always or not self.quiet:
            print(line, file=sys.stderr if always else sys.stdout)

    def progress(self, total):
        """A function to call with the name of each of `total` steps, or None where no bar is shown."""
        if self.quiet or not sys.stderr.isatty():
            return None
        done = [0]

        def step(name):
            filled = 20 * done[0] // total
            print(f"\r[{'#' * filled:20}] {name:12}", end="", file=sys.stderr, flush=True)
            done[0] += 1

        return step


def _check_writable(path):
    """Raises ExportError before any work is done if the file cannot be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise ExportError(f"cannot write {path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise ExportError(f"cannot write {path}: it is a folder")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"cannot write {path}: the folder {folder} is read-only")


# --- a function and the types it is exported for ------------------------------------------------------------------


@dataclass(slots=True)
class _Job:
    """A function to export, the types of its arguments, and example arguments if a file gave them."""

    function: object
    specs: tuple
    named: dict
    example: tuple | None


def _read_job(target, *, specs, example, params, dynamic, static, constraint, embed_params=True):
    """The _Job that the options of a command describe."""
    try:
        scope = SymbolicScope(constraint)
    except ValueError as error:
        raise ExportError(f"--constraint: {error}") from None
    specs, named = targets.read_specs(specs, scope)
    static = targets.static_values(static)
    arguments = targets.read_example(example) if example else None
    if arguments:
        specs = [*specs, *map(targets.types_of, arguments[0])]
        named = {**named, **targets.types_of(arguments[1])}
    with _user_code:
        function = find_function(target)
    weights = targets.read_weights(params) if params else None
    if weights is not None and embed_params:
        function = targets.bind_first_argument(function, weights)
    elif weights is not None:
        specs = [targets.types_of(weights), *specs]
    specs, named = targets.make_dynamic((tuple(specs), named), dynamic, scope)
    targets.check_fits(function, specs, {**named, **static})
    function = targets.bind_static_arguments(function, static) if static else function
    return _Job(function, tuple(specs), named, arguments)


def _export_job(job, opset, exact, dtype=None, optimize=False):
    """The Exported of a job; each warning is printed in one line."""
    function, specs, named = job.function, job.specs, job.named
    with _user_code, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if dtype == "bfloat16":
            function, specs, named = conversions.store_as_bfloat16(function, specs, named)
        exported = api.export(function, opset=opset, exact=exact)(*specs, **named)
    for warning in caught:
        print(f"warning: {warning.message}", file=sys.stderr)
    if dtype == "float16":
        exported = conversions.to_float16(exported)
    if dtype == "int8":
        exported = conversions.to_int8(exported)
    return conversions.optimize(exported) if optimize else exported


# --- the commands -------------------------------------------------------------------------------------------------


def _export(
    upper, target, output, check, weights, external_data, opset, exact, optimize, dtype, quiet, as_json, **options
):
    """Export a function to an ONNX file."""
    say = _Printer(quiet or as_json)
    output = output or f"{target.rpartition(':')[2].rpartition('.')[2] or 'function'}.onnx"
    _check_writable(output)
    comparison = {name: options.pop(name) for name in ("rtol", "atol", "provider", "seed")}
    job = _read_job(target, embed_params=weights == "embedded", **options)
    exported = _export_job(job, opset, exact, dtype, optimize)
    if check and not _matches_function(exported, job, dtype, say, **comparison):
        say("the file was not written", always=True)
        return EXIT_DIFFERENT
    exported.save(output, external_data=True if external_data else None)
    for line in report.summary(exported):
        say(line)
    say(f"wrote {output}  ({os.path.getsize(output):,} bytes)")
    if as_json:
        print(json.dumps({"file": output, **inspection.to_data(exported, output)}))
    return 0


def _matches_function(exported, job, dtype, say, *, rtol, atol, provider, seed):
    """Whether the model gives what the function gives on random arguments; prints the largest difference."""
    rtol = rtol if rtol is not None else conversions.TOLERANCES.get(dtype)
    function = conversions.widen_bfloat16(job.function, job.specs, job.named) if dtype == "bfloat16" else job.function
    with _user_code:
        comparisons, sizes = report.check(
            exported, function, np.random.default_rng(seed), rtol, _provider_name(provider)
        )
    with_sizes = f" with {_sizes_text(sizes)}" if sizes else ""
    wrong = [c for c in comparisons if not (c.is_close or (atol is not None and c.absolute <= atol))]
    worst = max(comparisons, key=lambda c: c.relative, default=None)
    if worst is not None:
        say(
            f"check{with_sizes}: largest difference {worst.absolute:.3g} (relative {worst.relative:.3g}) "
            f"in {worst.name}, of {len(comparisons)} outputs"
        )
    for c in wrong:
        say(f"check failed: {c.name} differs by {c.absolute:.3g} (relative {c.relative:.3g})", always=True)
    return not wrong


def _sizes_text(sizes):
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _check(upper, target, rtol, atol, provider, seed, opset, exact, quiet, as_json, **options):
    """Compare the ways of running a function or a file."""
    say = _Printer(quiet or as_json)
    rng = np.random.default_rng(seed)
    how = {"rtol": rtol, "atol": atol, "provider": _provider_name(provider)}
    function = None
    if target.endswith(".onnx"):
        exported = api.load(target)
        example = targets.read_example(options["example"]) if options["example"] else None
        (args, kwargs), sizes = _arguments(exported, example, rng)
        rows = checks.compare_ways(exported, args, kwargs, **how, progress=say.progress(len(checks.LEVELS)))
    else:
        job = _read_job(target, **options)
        exported, function = _export_job(job, opset, exact), job.function
        (args, kwargs), sizes = _arguments(exported, job.example, rng)
        progress = say.progress(len(checks.ways_of(True)))
        with _user_code:
            rows = checks.compare_ways(
                exported, args, kwargs, function, jitted=upper.jit(function), **how, progress=progress
            )
    wrong = [r for r in rows if not r.is_close]
    departure = None
    if wrong and function is not None:
        way = next((r.way for r in wrong if r.way != "jit" and not r.skipped), "ort-basic")
        departure = checks.first_difference(
            function, args, kwargs, way=way, opset=opset, rtol=rtol, provider=how["provider"]
        )
    _print_rows(rows, sizes, departure, "ort-0" if function is None else "eager", as_json, say)
    return EXIT_DIFFERENT if wrong else 0


def _print_rows(rows, sizes, departure, base, as_json, say):
    if as_json:
        data = [r.__dict__ if not r.skipped else {"way": r.way, "skipped": r.skipped} for r in rows]
        print(json.dumps({"base": base, "sizes": sizes, "rows": data, "first_departure": departure and str(departure)}))
        return
    if sizes:
        say(f"with {_sizes_text(sizes)}")
    failed = any(not r.is_close for r in rows)
    for line in checks.table(rows, base):
        say(line, always=failed and say.quiet)
    if departure is not None:
        say(f"first departure: {departure}", always=True)


def _provider_name(provider):
    return None if provider == "cpu" else provider


def _arguments(exported, example, rng):
    """((args, kwargs) as arrays, sizes of symbolic dimensions): the example's, or random ones."""
    if example is None:
        return report.random_arguments(exported, rng)
    leaves = tree_leaves((tuple(example[0]), dict(example[1])))
    if len(leaves) != len(exported.in_avals):
        raise ExportError(f"--example holds {len(leaves)} arrays; the function takes {len(exported.in_avals)}")
    return exported.in_tree.unflatten(leaves), {}


def _inspect(upper, target, draw, quiet, as_json):
    """Print what a file contains."""
    raw = read_file(target)
    model = parse(raw)
    if any(entry.key == "onax.format" for entry in model.metadata_props):
        data = inspection.to_data(api.load(target), target)
    else:
        data = inspection.model_to_data(model, len(raw))
    if draw:
        _check_writable(draw)
        kind = draw.rpartition(".")[2]
        if kind not in ("svg", "html", "dot"):
            raise ExportError(f"--draw: the name of the file must end with .svg, .html or .dot, got {draw!r}")
        try:
            picture = getattr(upper.draw(model, data["function"]), kind)
        except (ImportError, ValueError) as error:
            raise ExportError(f"--draw: {error}") from None
        write_atomically(draw, picture.encode())
    if as_json:
        print(json.dumps(data))
    elif not quiet:
        print("\n".join(inspection.to_text(data)))
    return 0


def _run(upper, target, example, output, seed, provider, quiet, as_json):
    """Run a file."""
    if output:
        _check_writable(output)
    exported = api.load(target)
    arguments = targets.read_example(example) if example else None
    (args, kwargs), _ = _arguments(exported, arguments, np.random.default_rng(seed))
    exported._dim_solver.solve([np.shape(x) for x in tree_leaves((args, kwargs))])
    results = checks.run_way("ort-basic", exported, args, kwargs, provider=_provider_name(provider))
    named = dict(zip(exported.out_names, results))
    if output:
        buffer = lazy.io.BytesIO()
        np.savez(buffer, **named)
        write_atomically(output, buffer.getvalue())
    if as_json:
        print(json.dumps({n: {"shape": list(x.shape), "dtype": x.dtype.name} for n, x in named.items()}))
    elif not quiet:
        for name, x in named.items():
            print(f"{name}  {x.dtype.name}{list(x.shape)}\n{x}")
    return 0


def _diff(upper, first, second, seed, quiet, as_json):
    """Compare two files; the exit code is 1 if their results differ."""
    data = difference.compare_models(*[parse(read_file(path)) for path in (first, second)], seed)
    if as_json:
        print(json.dumps(data))
    elif not quiet:
        print("\n".join(difference.to_text(data)))
    return 0 if data["same"] else 1


@dataclass(slots=True)
class Upper:
    """What the commands use of the floors above this one: `jit`, and `draw(model, title)`, which returns a Drawing."""

    jit: object
    draw: object


def main(argv, upper):
    """Runs the command line; returns the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv and argv[0] not in COMMANDS and argv[0] not in ("-h", "--help"):
        argv.insert(0, "export")
    options = vars(_parser().parse_args(argv))
    del options["command"]
    run = options.pop("run")
    try:
        return run(upper, **options)
    except _OWN_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
