"""Tapes as words: what is refused, and that no words make a tape touch what is not its own."""

import threading

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._native import tape as native
from onax._native.avals import ShapedArray
from onax._tape.builder import Builder
from onax._tape.layout import make_tape

F8 = ShapedArray((8,), np.dtype(np.float32))
BYTES = 32


def copy_words():
    """A tape that copies its argument: the words in the order of tape_machine.h."""
    header = [native.MAGIC, 1, 1, 2, 1, 0, 0]
    buffers = [native.INPUT, 0, BYTES, native.OUTPUT, 0, BYTES]
    return [*header, *buffers, 1, native.OPERATIONS["move"], 2, 0, 1, 0]


PORT = ((8,), np.dtype(np.float32))


def test_a_tape_of_words():
    tape = native.Tape(copy_words(), [PORT], [PORT])
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(tape([x])[0], x)
    np.testing.assert_array_equal(tape([np.arange(16, dtype=np.float32)[::2]])[0], np.arange(0, 16, 2))


@pytest.mark.parametrize("at", range(len(copy_words())))
@pytest.mark.parametrize("value", [-1, 0, 1, 2, 3, 7, 33, 2**31, 2**62, -(2**63)])
def test_changed_words_are_refused_or_harmless(at, value):
    words = copy_words()
    words[at] = value
    try:
        tape = native.Tape(words, [PORT], [PORT], [native.PythonKernel("k", lambda x: [x], [PORT], [PORT])])
    except ValueError as error:
        assert "not a tape" in str(error) or "other sizes" in str(error) or "kernel" in str(error)
        return
    try:
        tape([np.arange(8, dtype=np.float32)])
    except (TypeError, ValueError):
        assert words[13 + 1] == native.OPERATIONS["call"]


def test_operands_must_fit():
    tape = native.Tape(copy_words(), [PORT], [PORT])
    with pytest.raises(TypeError, match="takes 1 arrays, not 2"):
        tape([np.zeros(8, np.float32)] * 2)
    with pytest.raises(TypeError, match=r"must be float32\[8\], not float64"):
        tape([np.zeros(8)])
    with pytest.raises(TypeError, match=r"float32\[9\]"):
        tape([np.zeros(9, np.float32)])
    with pytest.raises(ValueError, match="other sizes"):
        native.Tape(copy_words(), [PORT], [((9,), np.dtype(np.float32))])


def loop_tape():
    """x doubled three times, with the buffers of the loop at hand."""
    jaxpr = jax.make_jaxpr(lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2, x))(np.ones(8, np.float32))
    b = Builder()
    results = b.program(jaxpr, b.inputs(jaxpr.in_avals))
    b.outputs(results, jaxpr.out_avals)
    return make_tape(b)


def test_several_threads_run_one_tape():
    tape, failed = loop_tape(), []

    def run(k):
        for i in range(200):
            x = np.full(8, k * 1000 + i, np.float32)
            if not np.array_equal(tape([x])[0], x * 8):
                failed.append((k, i))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed


def test_types_are_numbered():
    assert sorted(native.TYPES.values()) == list(range(15))
    assert all(native.OPERATIONS[name] == i for i, name in enumerate(native.OPERATIONS))
