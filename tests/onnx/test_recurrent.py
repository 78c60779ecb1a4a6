"""Recurrent layers agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, constant, floats

TIME, BATCH, WIDTH, HIDDEN = 4, 2, 3, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def weights(name, directions):
    rows = GATES[name] * HIDDEN
    shapes = (rows, WIDTH), (rows, HIDDEN), (2 * rows,)
    return [floats(directions, *shape, low=-0.5, high=0.5) for shape in shapes]


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_directions(name, direction):
    count = 2 if direction == "bidirectional" else 1
    outputs = 3 if name == "LSTM" else 2
    x = floats(TIME, BATCH, WIDTH)
    check(name, x, *weights(name, count), outputs=outputs, hidden_size=HIDDEN, direction=direction, grad=False)


@pytest.mark.parametrize("name", GATES)
def test_states_lengths_and_clipping(name):
    x, state = floats(TIME, BATCH, WIDTH), floats(1, BATCH, HIDDEN)
    more = (state, floats(1, 3 * HIDDEN)) if name == "LSTM" else ()
    lengths = constant(4, 2, dtype=np.int32)
    outputs = 3 if name == "LSTM" else 2
    check(name, x, *weights(name, 1), lengths, state, *more, outputs=outputs, hidden_size=HIDDEN, clip=0.8, grad=False)


@pytest.mark.parametrize("attributes", combinations(linear_before_reset=[0, 1]))
def test_gru_variants(attributes):
    check("GRU", floats(TIME, BATCH, WIDTH), *weights("GRU", 1), outputs=2, hidden_size=HIDDEN, **attributes)


def test_activations():
    given = {
        "activations": ["HardSigmoid", "LeakyRelu", "Softsign"],
        "activation_alpha": [0.3, 0.2],
        "activation_beta": [0.4],
    }
    check("LSTM", floats(TIME, BATCH, WIDTH), *weights("LSTM", 1), outputs=3, hidden_size=HIDDEN, grad=False, **given)


def test_batch_first():
    inputs = floats(BATCH, TIME, WIDTH), *weights("GRU", 1)
    check("GRU", *inputs, outputs=2, hidden_size=HIDDEN, layout=1, reference=True, grad=False)
