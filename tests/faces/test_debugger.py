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
    _, text = at_the_prompt("bt\nd\n\nhelp p\nx\nc\n", num_frames=1)
    assert text.count('  File "') == 1 and "At bottommost frame." in text and "p expression" in text
    assert "Array(1., dtype=float32" in text
    for commands in ("q\n", "exit\n", ""):
        with pytest.raises(SystemExit):
            at_the_prompt(commands)
    with pytest.raises(ValueError, match="backend"):
        debug.breakpoint(backend="web")
    with pytest.raises(NotImplementedError, match="ordered=True"):
        debug.breakpoint(token=1)


@onax.jit
@onax.named_call
def listed(commands, out):
    # one
    # two
    # three
    debug.breakpoint(stdin=commands, stdout=out, num_frames=1)
    # four
    # five
    # six


STOP = "    ->      debug.breakpoint(stdin=commands, stdout=out, num_frames=1)"
WHOLE = ["@onax.jit", "@onax.named_call", "def listed(commands, out):"]
WHOLE += ["one", "two", "three", "->", "four", "five", "six"]
LISTED = {"l": WHOLE, "u": ["one", "two", "three", "->", "four", "five"], "ll": WHOLE}


@pytest.mark.parametrize("command", LISTED)
def test_lines_about_the_current_one(command):
    out = io.StringIO()
    listed.__wrapped__.__wrapped__(io.StringIO(f"{command}\nc\n"), out)
    lines = out.getvalue().splitlines()
    shown = [
        line for line in lines[lines.index(next(x for x in lines if f"> {__file__}(" in x)) + 1 : -1] if line.strip()
    ]
    assert len(shown) == len(LISTED[command])
    assert all(wanted in line for wanted, line in zip(LISTED[command], shown))


def test_a_place_without_source():
    out = io.StringIO()
    code = compile("debug.breakpoint(stdin=commands, stdout=out, num_frames=1)", "<made up>", "exec")
    exec(code, {"debug": debug, "out": out, "commands": io.StringIO("l\nbt\nc\n")})
    assert "> <made up>(1)\n(jdb) Traceback:" in out.getvalue() and "<no source>" in out.getvalue()


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
