"""The functions that installed commands run: the command line of exports, with what it uses of higher floors."""

from onax._compile.jit import jit
from onax._visualize import draw_model
from onax.export import cli


def export_main(argv=None):
    """`onax-export` and scripts/export.py: runs the command line and returns the exit code."""
    return cli.main(argv, cli.Upper(jit, draw_model))
