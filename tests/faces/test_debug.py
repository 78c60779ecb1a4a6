"""onax.debug: the debugger at its prompt, messages of a logger, where arrays lie."""

import io
import logging

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import debug
from virtual_devices import eight_devices


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


@pytest.mark.parametrize("transform", [lambda f: f, onax.jit])
def test_log(caplog, transform):
    def told(x):
        debug.log("x={x} {}", 3, x=x)
        return x

    with caplog.at_level(logging.INFO, logger="onax.debug"):
        transform(told)(jnp.arange(2))
    (record,) = caplog.records
    assert record.getMessage() == "x=[0 1] 3" and record.filename == "test_debug.py" and record.funcName == "told"
    with caplog.at_level(logging.WARNING, logger="onax.debug"):
        transform(told)(jnp.arange(2))
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match="Unused positional arguments"):
        debug.log("nothing", 1)


TABLES = [  # as JAX draws them with the package rich, recorded by hand
    (
        (4, 4),
        ("x", "y"),
        """
┌──────────┬──────────┐
│  CPU 0   │  CPU 1   │
├──────────┼──────────┤
│  CPU 2   │  CPU 3   │
├──────────┼──────────┤
│  CPU 4   │  CPU 5   │
├──────────┼──────────┤
│  CPU 6   │  CPU 7   │
└──────────┴──────────┘
""",
    ),
    (
        (8, 8),
        (None, "y"),
        """
┌───────────┬───────────┐
│           │           │
│           │           │
│           │           │
│           │           │
│CPU 0,2,4,6│CPU 1,3,5,7│
│           │           │
│           │           │
│           │           │
│           │           │
└───────────┴───────────┘
""",
    ),
    (
        (8,),
        ("x",),
        """
┌───────┬───────┬───────┬───────┐
│CPU 0,1│CPU 2,3│CPU 4,5│CPU 6,7│
└───────┴───────┴───────┴───────┘
""",
    ),
]


@pytest.mark.parametrize(("shape", "spec", "table"), TABLES)
def test_drawn(capsys, monkeypatch, shape, spec, table):
    monkeypatch.setenv("COLUMNS", "80")
    with eight_devices():
        sharding = onax.NamedSharding(onax.make_mesh((4, 2), ("x", "y")), onax.P(*spec))
        debug.visualize_sharding(shape, sharding)
        assert capsys.readouterr().out == table.lstrip()
        debug.visualize_array_sharding(onax.device_put(np.ones(shape, np.float32), sharding))
        assert capsys.readouterr().out == table.lstrip()


def test_not_drawn():
    place = onax.sharding.SingleDeviceSharding(onax.devices()[0])
    with pytest.raises(ValueError, match="1 and 2 dimensions"):
        debug.visualize_sharding((2, 2, 2), place)
    with pytest.raises(NotImplementedError, match="color_map"):
        debug.visualize_sharding((2, 2), place, color_map={})


def test_shardings_told():
    told = []
    with eight_devices():
        sharding = onax.NamedSharding(onax.make_mesh((8,), ("x",)), onax.P("x"))
        x = onax.device_put(np.ones(8, np.float32), sharding)
        inspect = lambda x: debug.inspect_array_sharding(x, callback=told.append) or x
        inspect(x)
        onax.vmap(inspect)(x)
        onax.grad(lambda x: inspect(x).sum())(x)
        assert told == [sharding] * 3
        onax.jit(inspect)(x)
        assert told[3].num_devices == 1
