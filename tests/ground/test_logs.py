"""Loggers: their names, and those that write everything."""

import io
import logging
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


def test_names():
    assert logs.logger("onax.dispatch").name == "onax.dispatch"
