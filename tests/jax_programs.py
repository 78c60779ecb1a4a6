"""Runs programs written for JAX in processes of their own, with onax in the place of JAX."""

import os
import subprocess
import sys

from onax.interop.install import FOLDER

INSTALL = "from onax.interop import install_as_jax; install_as_jax()\n"


def environment(**variables):
    """The environment of this process without what an outer `python -m onax` put there."""
    return {**{k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "ONAX_INTEROP_LOG")}, **variables}


def python(*arguments, cwd=None, executable=sys.executable, **variables):
    """The finished process `python arguments...`, with its output as text."""
    command = [executable, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment(**variables), capture_output=True, text=True, timeout=300)


def run(*arguments, **options):
    """What `python -m onax arguments...` prints; it must succeed."""
    done = python("-m", "onax", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_installed(program, **options):
    """What a program prints that calls `install_as_jax` first; it must succeed."""
    done = python("-c", INSTALL + program, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_on_path(program, **options):
    """What a program prints in a process that has the folder of distributions on its path; it must succeed."""
    done = python("-c", program, **{"PYTHONPATH": FOLDER, **options})
    assert done.returncode == 0, done.stderr
    return done.stdout
