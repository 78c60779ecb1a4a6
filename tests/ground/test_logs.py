"""Loggers: their names, and those that write everything."""

import io
import logging
import os
import subprocess
import sys

import pytest

import onax
from onax._ground import logs


def _messages(name):
    """What compiling a new function gives to the handlers of a logger."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    logging.getLogger(name).addHandler(handler)
    try:
        onax.jit(lambda x: x + 1)(1)
    finally:
        logging.getLogger(name).removeHandler(handler)
    return text.getvalue()


@pytest.mark.parametrize(
    ("modules", "traced", "compiled"),
    [("onax", True, True), ("onax.dispatch", True, False), ("onax.compile", False, True), ("other,onax", True, True)],
)
def test_modules_that_log_in_full(modules, traced, compiled, capsys):
    assert _messages("onax") == ""
    onax.config.update("jax_debug_log_modules", modules)
    try:
        text = _messages("onax")
    finally:
        onax.config.update("jax_debug_log_modules", "")
    assert ("Finished tracing" in text, "Compiling jit(<lambda>)" in text) == (traced, compiled)
    assert _messages("onax") == "" and not logging.getLogger("onax").handlers


def test_names_in_programs_for_jax():
    program = (
        "import logging, jax\n"
        "jax.config.update('jax_debug_log_modules', 'jax._src.dispatch')\n"
        "jax.jit(lambda x: x + 1)(1)\n"
    )
    run = subprocess.run([sys.executable, "-m", "onax", "-c", program], capture_output=True, text=True, check=True)
    assert ":jax._src.dispatch:" in run.stderr and "Finished tracing <lambda> for jit in" in run.stderr
    assert "Compiling" not in run.stderr


@pytest.mark.parametrize(
    ("level", "modules", "lines"),
    [
        (None, "", 0),
        ("NOTSET", "", 0),
        ("INFO", "", 0),
        ("DEBUG", "", 1),
        ("WARNING", "jax._src.dispatch", 1),
        ("DEBUG", "jax._src.dispatch", 1),
        ("DEBUG", "jax", 1),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_levels_in_programs_for_jax(level, modules, lines, order):
    updates = [f"jax.config.update('jax_logging_level', {level!r})"]
    updates.append(f"jax.config.update('jax_debug_log_modules', {modules!r})")
    program = "\n".join(["import jax", *updates[::order], "jax.jit(lambda x: x)(1)"])
    program += "\njax.config.update('jax_logging_level', None)\njax.config.update('jax_debug_log_modules', None)"
    program += "\njax.jit(lambda x: x)(2.0)"
    run = subprocess.run([sys.executable, "-m", "onax", "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr.count("Finished tracing") == lines


def test_level_of_the_environment():
    program = "import jax; print(jax.config.jax_logging_level); jax.jit(lambda x: x)(1)"
    run = subprocess.run(
        [sys.executable, "-m", "onax", "-c", program],
        env={**os.environ, "JAX_LOGGING_LEVEL": "DEBUG"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout == "DEBUG\n" and "DEBUG:" in run.stderr and "Finished tracing <lambda> for jit in" in run.stderr


def test_a_level_that_is_refused():
    with pytest.raises(ValueError, match=r"new enum value must be None or in \['NOTSET', 'DEBUG', 'INFO', .*got info"):
        onax.config.update("jax_logging_level", "info")


def test_names():
    assert logs.logger("onax.dispatch").name == "onax.dispatch"
