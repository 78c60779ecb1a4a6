"""The debugger at its prompt: values of the run, commands, breakpoints in loops."""

import io

import numpy as np
import pytest

import onax
from onax import debug


def at_the_prompt(commands, transform=onax.jit, **options):
    """(result, what the debugger wrote) of a function with a breakpoint; None if it ended Python."""
    out = io.StringIO()

    def stopping(x, y):
        total = x + y
        name = {"label": "hi", "both": [x, y]}  # noqa: F841  read at the prompt
        debug.breakpoint(stdin=io.StringIO(commands), stdout=out, **options)
        return total * 2

    result = transform(stopping)(1.0, 2.0)
    return float(result), out.getvalue()


@pytest.mark.parametrize("transform", [lambda f: f, onax.jit, onax.grad], ids=["eager", "jit", "grad"])
def test_values_at_the_prompt(transform):
    result, text = at_the_prompt("p total\np total + x\npp name\np nope\nu\nd\nc\n", transform)
    assert result == (2 if transform is onax.grad else 6)
    assert text.startswith("Entering jdb:\n(jdb) ") and text.endswith("(jdb) ")
    if transform is onax.jit:
        assert "Array(3., dtype=float32" in text and "Array(4., dtype=float32" in text
    assert "'label': 'hi'" in text and "NameError: name 'nope' is not defined" in text
    assert "->          debug.breakpoint(stdin" in text
    assert f"> {__file__}(" in text


def test_commands():
    _, text = at_the_prompt("bt\nd\n\nhelp p\nx\n", num_frames=1)
    assert text.count('  File "') == 1 and "At bottommost frame." in text and "p expression" in text
    assert "Array(1., dtype=float32" in text  # at the end of its input the debugger goes on
    with pytest.raises(SystemExit):
        at_the_prompt("q\n")
    with pytest.raises(ValueError, match="backend"):
        debug.breakpoint(backend="web")
    with pytest.raises(NotImplementedError, match="ordered=True"):
        debug.breakpoint(token=1)


def test_a_breakpoint_in_a_loop():
    out, commands = io.StringIO(), io.StringIO("p c + x\nc\n" * 3)

    @onax.jit
    def summed(xs):
        def step(c, x):
            debug.breakpoint(stdin=commands, stdout=out, num_frames=1, ordered=True)
            return c + x, c

        return onax.lax.scan(step, 0.0, xs)[0]

    assert float(summed(np.arange(3, dtype=np.float32))) == 3
    assert [line for line in out.getvalue().split("(jdb) ") if line.startswith("Array")] == [
        f"Array({n}., dtype=float32)\n" for n in (0, 1, 3)
    ]
