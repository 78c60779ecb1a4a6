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
from dataclasses import asdict, dataclass

import numpy as np

from onax._ground import lazy, source
from onax._ground.dims import SymbolicScope
from onax._ground.errors import ArtifactError, BackendError, ExportError, LoweringError
from onax._native.tree import tree_leaves
from onax.export import api, checks, conversions, difference, external, inspection, opsets, options, report, targets
from onax.export.artifact import parse, read_file, write_atomically
from onax.export.targets import find_function

EXIT_DIFFERENT = 1
EXIT_FAILED = 2
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
        raise _FunctionError("".join(lazy.traceback.format_exception(kind, error, shown)).rstrip(), error) from None


class _FunctionError(Exception):
    """The exported function raised: the text of its traceback, and what it raised."""


_OWN_ERRORS = (ExportError, ArtifactError, LoweringError, BackendError)
_user_code = _UserCode()


def _print_error(error, as_json):
    """Prints why a command ends: on stderr in words, or on stdout as JSON."""
    traceback, shown = None, error
    if isinstance(error, _FunctionError):
        traceback, shown = error.args
    message = getattr(shown, "message", None) or str(shown)  # without the pointer to the document of errors
    if as_json:
        data = {"kind": type(shown).__name__, "message": message}
        print(json.dumps({"error": data | ({"traceback": traceback} if traceback else {})}))
        return
    if isinstance(error, options.UsageError):
        print(error.usage.rstrip(), file=sys.stderr)
    if traceback is not None:
        print(traceback, file=sys.stderr)
        message = "the function to export raised this"
    print(f"error: {message}", file=sys.stderr)


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

    def written(self, total):
        """A function to call with the number of written bytes of `total`, or None for short writes and no terminal."""
        if self.quiet or total < _LONG_WRITE or not sys.stderr.isatty():
            return None

        def step(done):
            end = "\n" if done >= total else ""
            bar = "#" * (20 * done // total)
            print(f"\r[{bar:20}] {done >> 20:,} of {total >> 20:,} MB", end=end, file=sys.stderr, flush=True)

        return step


_LONG_WRITE = 1 << 28  # bytes: a quarter of a second on a quick disk


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
    targets.check_constraints(constraint, (specs, named), scope)
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
    upper, target, output, check, weights, external_data, opset, exact, optimize, dtype, quiet, as_json, **chosen
):
    """Export a function to an ONNX file."""
    say = _Printer(quiet or as_json)
    output = output or f"{target.rpartition(':')[2].rpartition('.')[2] or 'function'}.onnx"
    _check_writable(output)
    comparison = {name: chosen.pop(name) for name in ("rtol", "atol", "provider", "seed")}
    job = _read_job(target, embed_params=weights == "embedded", **chosen)
    exported = _export_job(job, opset, exact, dtype, optimize)
    if not exported.out_avals:
        say(f"warning: {exported.fun_name} returns no arrays, so the model has no outputs; is a return missing?", True)
    if check and not _matches_function(exported, job, dtype, say, **comparison):
        say("the file was not written", always=True)
        return EXIT_DIFFERENT
    size = sum(array.nbytes for array in exported._arrays.values()) or len(exported.onnx_model_serialized)
    exported.save(output, external_data=True if external_data else None, progress=say.written(size))
    saved = exported.opset_savings() if opset is None else []
    for line in report.summary(exported):
        say(line)
    for saving in saved:
        say(f"{saving} (--opset {saving.opset})")
    if opset is None and exported.opset > opsets.DEFAULT_OPSET:
        say(f"opset {exported.opset} is the lowest that has all operations of the function")
    say(f"wrote {' and '.join(f'{name}  ({size:,} bytes)' for name, size in _files(output).items())}")
    if as_json:
        told = {"files": _files(output), "opset_savings": [asdict(saving) for saving in saved]}
        print(json.dumps({"file": output, **inspection.to_data(exported, output), **told}))
    return 0


def _files(path):
    """{name: bytes} of a model's file, and of the second file with its constants if it was written with it."""
    return {path: os.path.getsize(path), **external.second_files(parse(read_file(path)), path)}


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
    _warn_of_nan(comparisons, say)
    for c in wrong:
        say(f"check failed: {c.name} differs by {c.absolute:.3g} (relative {c.relative:.3g})", always=True)
    return not wrong


def _warn_of_nan(rows, say):
    """Says if nothing but NaN was compared."""
    if rows and all(row.all_nan for row in rows):
        say("warning: every element of every output is NaN, so the comparison says nothing: try --example", always=True)


def _sizes_text(sizes):
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _check(upper, target, rtol, atol, provider, seed, opset, exact, quiet, as_json, **chosen):
    """Compare the ways of running a function or a file."""
    say = _Printer(quiet or as_json)
    rng = np.random.default_rng(seed)
    how = {"rtol": rtol, "atol": atol, "provider": _provider_name(provider)}
    function = None
    if target.endswith(".onnx"):
        exported = api.load(target)
        example = targets.read_example(chosen["example"]) if chosen["example"] else None
        (args, kwargs), sizes = _arguments(exported, example, rng)
        rows = checks.compare_ways(exported, args, kwargs, **how, progress=say.progress(len(checks.LEVELS)))
    else:
        job = _read_job(target, **chosen)
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
    drawn = None if chosen["example"] else {"seed": seed, "sizes": sizes}
    _print_rows(rows, drawn, departure, "ort-0" if function is None else "eager", as_json, say)
    return EXIT_DIFFERENT if wrong else 0


def _print_rows(rows, drawn, departure, base, as_json, say):
    """`drawn`: the seed and the sizes of random inputs; None for inputs from a file."""
    if as_json:
        data = [r.__dict__ if not r.skipped else {"way": r.way, "skipped": r.skipped} for r in rows]
        told = {"base": base, "random_inputs": drawn is not None, **(drawn or {}), "rows": data}
        print(json.dumps({**told, "first_departure": departure and str(departure)}))
        return
    if drawn is not None:
        say(_random_text(**drawn))
    failed = any(not r.is_close for r in rows)
    for line in checks.table(rows, base):
        say(line, always=failed and say.quiet)
    _warn_of_nan([r for r in rows if not r.skipped], say)
    if departure is not None:
        say(f"first departure: {departure}", always=True)


def _random_text(seed, sizes):
    with_sizes = f", with {_sizes_text(sizes)}" if sizes else ""
    return f"random inputs (seed {seed}){with_sizes}: --example gives others"


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
        data = inspection.model_to_data(model, len(raw), target)
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
    (args, kwargs), sizes = _arguments(exported, arguments, np.random.default_rng(seed))
    try:
        exported._dim_solver.solve([np.shape(x) for x in tree_leaves((args, kwargs))])
        results = checks.run_way("ort-basic", exported, args, kwargs, provider=_provider_name(provider))
    except ValueError as error:  # shapes or dtypes that the file was not exported for
        raise ExportError(f"{example or target}: {' '.join(str(error).split())}") from None
    named = dict(zip(exported.out_names, results))
    if output:
        buffer = lazy.io.BytesIO()
        np.savez(buffer, **named)
        write_atomically(output, buffer.getvalue())
    drawn = None if example else {"seed": seed, "sizes": sizes}
    if as_json:
        told = {"random_inputs": drawn is not None, **(drawn or {})}
        print(json.dumps({**told, "results": {n: report.statistics(x) for n, x in named.items()}}))
    elif not quiet:
        if drawn is not None:
            print(_random_text(**drawn))
        for name, x in named.items():
            print(f"{name}  {x.dtype.name}{list(x.shape)}\n{x}")
        if not named:
            print("the model has no outputs")
    return 0


def _diff(upper, first, second, seed, quiet, as_json):
    """Compare two files; the exit code is 1 if their results differ."""
    models = [parse(read_file(path)) for path in (first, second)]
    for model, path in zip(models, (first, second)):
        external.embed(model, path)
    data = difference.compare_models(*models, seed)
    if as_json:
        print(json.dumps(data))
    elif not quiet:
        print("\n".join(difference.to_text(data)))
    if data["not_run"] is not None and not as_json:
        _print_error(BackendError(f"the results were not compared: {data['not_run']}"), False)
    if data["same"] is None:
        return EXIT_FAILED
    return 0 if data["same"] else EXIT_DIFFERENT


@dataclass(slots=True)
class Upper:
    """What the commands use of the floors above this one: `jit`, and `draw(model, title)`, which returns a Drawing."""

    jit: object
    draw: object


_RUN = {"export": _export, "check": _check, "inspect": _inspect, "run": _run, "diff": _diff}


def main(argv, upper):
    """Runs the command line; returns the exit code."""
    program = os.path.basename(sys.argv[0]) if argv is None else "onax-export"
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        command, chosen = options.parse(argv, program)
        return _RUN[command](upper, **chosen)
    except (*_OWN_ERRORS, options.UsageError, _FunctionError) as error:
        _print_error(error, "--json" in argv)
        return EXIT_FAILED
