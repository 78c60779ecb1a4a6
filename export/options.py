"""The options of the command line, and messages for those that it does not know.

parse   the name of the command and its options; UsageError says which near name was meant
"""

import os
import sys

from onax._ground import lazy, onnx_runtime
from onax.export import opsets
from onax.version import __version__

COMMANDS = ("export", "check", "inspect", "run", "diff")
DTYPES = ("float16", "bfloat16", "int8")


class UsageError(Exception):
    """The command line cannot be understood; `usage` is the text to print before the message."""

    def __init__(self, message, usage=""):
        super().__init__(message)
        self.usage = usage


def suggestion(name, known):
    """`; did you mean NAME?` if one of the known names is near, else nothing."""
    close = lazy.difflib.get_close_matches(name, list(known))
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _parser_class():
    class Parser(lazy.argparse.ArgumentParser):
        """A parser whose errors are exceptions."""

        def error(self, message):
            raise UsageError(message, self.format_usage())

    return Parser


def _parser(program):
    parser = _parser_class()(
        prog=program,
        description="Export a Python function written with onax to an ONNX file; check, inspect and run such files.",
        epilog="Exit codes: 0 done; 1 a comparison found a difference; 2 the command fails. "
        "Without the name of a command, `export` is meant.",
    )
    parser.add_argument("--version", action="version", version=_versions())
    commands = parser.add_subparsers(dest="command", required=True, metavar=f"{{{','.join(COMMANDS)}}}")
    _export_options(commands.add_parser("export", help="export a function to an ONNX file"))
    _check_options(commands.add_parser("check", help="compare the ways of running a function or a file"))
    _inspect_options(commands.add_parser("inspect", help="print what a file contains"))
    _run_options(commands.add_parser("run", help="run a file"))
    _diff_options(commands.add_parser("diff", help="compare the graphs and the results of two files"))
    return parser, commands.choices


def _versions():
    """The versions of onax and of what writes and runs its files."""
    onnx, runtime = lazy.metadata.version("onnx"), onnx_runtime.find_runtime().version
    return f"onax {__version__}  (onnx {onnx}, ONNX Runtime {runtime})"


def parse(argv, program=None):
    """(the name of the command, its options as a dictionary) of the arguments of a command line.

    `program` is the name in the usage, by default that of the running program.
    Raises UsageError for commands, options and values that there are not.
    """
    argv, program = list(argv), program or os.path.basename(sys.argv[0])
    first = argv[0] if argv else ""
    if first and not first.startswith("-") and first not in COMMANDS and first.isidentifier():
        usage = _parser(program)[0].format_usage()
        raise UsageError(f"there is no command {first!r}{suggestion(first, COMMANDS)}", usage)
    if argv and first not in COMMANDS and first not in ("-h", "--help", "--version"):
        argv.insert(0, "export")
    parser, commands = _parser(program)
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        command = commands[options.command]
        name = next((text for text in unknown if text.startswith("-")), unknown[0])
        option = name.partition("=")[0]
        known = [text for action in command._actions for text in action.option_strings]
        what = f"there is no option {option}{suggestion(option, known)}" if name[0] == "-" else f"what is {name!r}?"
        raise UsageError(f"{options.command}: {what}", command.format_usage())
    options = vars(options)
    return options.pop("command"), options


def _function_options(parser, target):
    option, several = parser.add_argument, {"action": "append", "default": []}
    spec = "the type of the next argument, such as f32[batch,8,8] or {w: f32[64,32], b: f32[32]}"
    weights = "take the first argument from an .npz or .safetensors file; dotted names make trees"
    dynamic = "make a dimension symbolic: NAME for all leading ones, PATH:AXIS=NAME for one"
    first, default, last = opsets.OPSETS[0], opsets.DEFAULT_OPSET, opsets.OPSETS[-1]
    opset = f"the ONNX opset, {first} to {last} (default: the lowest from {default} on that the function needs)"
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
    _function_options(parser, "path/to/file.py:function or package.module:function")
    option("-o", "--output", metavar="FILE", help="the file to write (default: FUNCTION.onnx)")
    option("--check", action="store_true", help="compare the model with the function on random arguments")
    option("--weights", choices=("embedded", "inputs"), default="embedded", help="where the arrays of --params go")
    option("--external-data", action="store_true", help="write large constants to a second file, FILE.data")
    option("--optimize", action="store_true", help="fold constants and fuse nodes ahead of time")
    option("--dtype", choices=DTYPES, help="compute in float16, store weights in bfloat16, multiply matrices in int8")


def _check_options(parser):
    _function_options(parser, "a function, as for export, or an .onnx file")


def _inspect_options(parser):
    parser.add_argument("target", metavar="FILE", help="an .onnx file")
    parser.add_argument("--draw", metavar="FILE", help="write a picture of the graph: .svg, .html or .dot")
    _print_options(parser)


def _diff_options(parser):
    parser.add_argument("first", metavar="FILE", help="an .onnx file")
    parser.add_argument("second", metavar="FILE", help="another one")
    parser.add_argument("--seed", type=int, default=0, help="the seed of random inputs (default 0)")
    _print_options(parser)


def _run_options(parser):
    option = parser.add_argument
    option("target", metavar="FILE", help="an .onnx file written by onax")
    option("--example", metavar="FILE", help="take arguments from an .npz file, as for export (default: random ones)")
    option("-o", "--output", metavar="FILE", help="write the results to an .npz file")
    _run_and_print_options(parser)
