"""Long short-term memory on batches of sequences, under the names of jax.experimental.rnn.

The weights of all layers are one flat array: for each pseudo-layer (layer, then direction) the matrices W_ih and W_hh,
then for each the biases b_ih and b_hh.  Rows of a matrix are the gates input, forget, cell, output, one after another.
The update is that of `torch.nn.LSTM`.
"""

import math
from collections.abc import Mapping

from onax import lax, nn, random
from onax import numpy as jnp
from onax._compile.jit import jit
from onax._core.api_functions import static_argnames
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import ArrayLike, PrecisionLike
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._transforms.vmap import vmap


def _shapes(input_size, hidden_size, num_layers, bidirectional):
    """(shapes of the pairs W_ih, W_hh; shapes of the pairs b_ih, b_hh), one pair for each pseudo-layer."""
    directions = 2 if bidirectional else 1
    matrices = []
    for i in range(num_layers * directions):
        width = input_size if i < directions else directions * hidden_size
        matrices.append(((4 * hidden_size, width), (4 * hidden_size, hidden_size)))
    return matrices, [((4 * hidden_size,), (4 * hidden_size,))] * len(matrices)


def get_num_params_in_lstm(input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> int:
    """Returns the number of weights of an LSTM.

    Args:
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      bidirectional: whether sequences are read backwards too.

    Returns:
      An int.

    Examples:
      >>> from onax.experimental import rnn
      >>> rnn.get_num_params_in_lstm(1, 2, 1, False)
      40
    """
    matrices, biases = _shapes(input_size, hidden_size, num_layers, bidirectional)
    return sum(math.prod(shape) for pair in matrices + biases for shape in pair)


def init_lstm_weight(rng: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> Array:
    """Returns flat weights of an LSTM, uniform between -k and k, where k**2 = 1 / hidden_size.

    Args:
      rng: a random key.
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      bidirectional: whether sequences are read backwards too.

    Returns:
      float32 (get_num_params_in_lstm(...),).

    Examples:
      >>> from onax.experimental import rnn
      >>> rnn.init_lstm_weight(onax.random.key(0), 1, 2, 1, False).shape
      (40,)
    """
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    k = math.sqrt(1.0 / hidden_size)
    return random.uniform(rng, shape=(count,), dtype=jnp.float32, minval=-k, maxval=k)


def unpack_lstm_weights(
    weights: Array, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array], dict[int, Array]]:
    """Returns the flat weights of an LSTM as arrays.

    Args:
      weights: flat weights, (get_num_params_in_lstm(...),).
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      bidirectional: whether sequences are read backwards too.

    Returns:
      (W_ih, W_hh, b_ih, b_hh): dicts from the number of the pseudo-layer to its array.

    Examples:
      >>> from onax.experimental import rnn
      >>> weights = rnn.init_lstm_weight(onax.random.key(0), 1, 2, 1, False)
      >>> rnn.unpack_lstm_weights(weights, 1, 2, 1, False)[0][0].shape
      (8, 1)
    """
    start, unpacked = 0, []
    for pairs in _shapes(input_size, hidden_size, num_layers, bidirectional):
        parts: tuple[dict[int, Array], dict[int, Array]] = {}, {}
        for i, pair in enumerate(pairs):
            for part, shape in zip(parts, pair):
                end = start + math.prod(shape)
                part[i] = weights[start:end].reshape(shape)
                start = end
        unpacked.append(parts)
    (W_ih, W_hh), (b_ih, b_hh) = unpacked
    return W_ih, W_hh, b_ih, b_hh


def swap_lstm_gates(
    weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Returns flat weights with the cell and output gates exchanged, as another library orders them.

    As in JAX, arrays are taken in the order of their shapes: two per pseudo-layer, matrices before biases.

    Args:
      weights: flat weights, (get_num_params_in_lstm(...),).
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      bidirectional: whether sequences are read backwards too.

    Returns:
      Array of the shape of `weights`.

    Examples:
      >>> from onax.experimental import rnn
      >>> weights = rnn.init_lstm_weight(onax.random.key(0), 1, 2, 1, False)
      >>> rnn.swap_lstm_gates(weights, 1, 2, 1, False).shape
      (40,)
    """
    weights = jnp.asarray(weights)
    parts, start = [], 0
    for pairs in _shapes(input_size, hidden_size, num_layers, bidirectional):
        for shape in (shape for pair in pairs for shape in pair):
            end = start + math.prod(shape)
            gates = weights[start:end].reshape(4, -1)
            parts.append(gates[jnp.array([0, 1, 3, 2])].reshape(-1))
            start = end
    return jnp.concatenate([*parts, weights[start:]])


def lstm(
    x: Array,
    h_0: Array,
    c_0: Array,
    weights: Array,
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: PrecisionLike = None,
) -> tuple[Array, Array, Array]:
    """Returns the outputs and last states of an LSTM (Hochreiter and Schmidhuber, 1997), for flat weights.

    JAX has it on GPUs only; here it is `lstm_ref`.  It has derivatives with respect to x, h_0, c_0 and weights.

    Args:
      x: (batch, time, input_size).
      h_0: first states, (directions * num_layers, batch, hidden_size).
      c_0: first cells, of the same shape.
      weights: flat weights, (get_num_params_in_lstm(...),).
      seq_lengths: int32 (batch,); outputs after a sequence's end are 0, and states are those at its end.
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      dropout: 0.
      bidirectional: whether sequences are read backwards too.
      precision: accepted, without effect.

    Returns:
      (y, h_n, c_n): y (batch, time, directions * hidden_size), h_n and c_n like h_0.

    Examples:
      >>> from onax.experimental import rnn
      >>> weights = rnn.init_lstm_weight(onax.random.key(0), 1, 2, 1, False)
      >>> x, state, lengths = jnp.ones((3, 4, 1)), jnp.zeros((1, 3, 2)), jnp.full(3, 4, jnp.int32)
      >>> y, h, c = rnn.lstm(x, state, state, weights, lengths, 1, 2, 1, 0.0, False)
      >>> y.shape, h.shape
      ((3, 4, 2), (1, 3, 2))
    """
    sizes = (input_size, hidden_size, num_layers)
    unpacked = unpack_lstm_weights(weights, *sizes, bidirectional)
    return lstm_ref(x, h_0, c_0, *unpacked, seq_lengths, *sizes, dropout, bidirectional)


@static_argnames("bidirectional", "dropout", "hidden_size", "input_size", "num_layers")
def lstm_ref(
    x: Array,
    h_0: Array,
    c_0: Array,
    W_ih: Mapping[int, Array],
    W_hh: Mapping[int, Array],
    b_ih: Mapping[int, Array],
    b_hh: Mapping[int, Array],
    seq_lengths: Array,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """Returns the outputs and last states of an LSTM, for the weights that `unpack_lstm_weights` returns.

    Args:
      x: (batch, time, input_size).
      h_0: first states, (directions * num_layers, batch, hidden_size).
      c_0: first cells, of the same shape.
      W_ih: a dict of matrices by pseudo-layer.
      W_hh: a dict of matrices.
      b_ih: a dict of vectors.
      b_hh: a dict of vectors.
      seq_lengths: int32 (batch,); outputs after a sequence's end are 0, and states are those at its end.
      input_size: the number of inputs.
      hidden_size: the number of hidden units.
      num_layers: the number of layers.
      dropout: 0.
      bidirectional: whether sequences are read backwards too.

    Returns:
      (y, h_n, c_n): y (batch, time, directions * hidden_size), h_n and c_n like h_0.

    Raises:
      NotImplementedError: another `dropout`, or lengths that are not int32.

    Examples:
      >>> from onax.experimental import rnn
      >>> weights = rnn.unpack_lstm_weights(rnn.init_lstm_weight(onax.random.key(0), 1, 2, 1, False), 1, 2, 1, False)
      >>> x, state, lengths = jnp.ones((3, 4, 1)), jnp.zeros((1, 3, 2)), jnp.full(3, 4, jnp.int32)
      >>> y, h, c = rnn.lstm_ref(x, state, state, *weights, lengths, 1, 2, 1, 0.0, False)
      >>> y.shape, h.shape
      ((3, 4, 2), (1, 3, 2))
    """
    if seq_lengths.dtype != jnp.dtype("int32"):
        raise NotImplementedError("`seq_lengths` can only be int32.")
    if dropout != 0.0:
        raise NotImplementedError("lstm: a dropout other than 0; drop elements of x or of the weights instead")
    return _run_layers(x, h_0, c_0, (W_ih, W_hh, b_ih, b_hh), seq_lengths, num_layers, bidirectional)


@jit(static_argnums=(5, 6))
def _run_layers(x, h_0, c_0, weights, lengths, num_layers, bidirectional):
    directions = 2 if bidirectional else 1
    steps, hs, cs = x.transpose(1, 0, 2), [], []
    for layer in range(num_layers):
        outputs = []
        for i in range(layer * directions, (layer + 1) * directions):
            is_backward = i % directions == 1
            given = _reverse(steps, lengths) if is_backward else steps
            y, h, c = _run_direction(given, h_0[i], c_0[i], [w[i] for w in weights], lengths)
            outputs.append(_reverse(y, lengths) if is_backward else y)
            hs.append(h)
            cs.append(c)
        steps = jnp.concatenate(outputs, axis=-1)
    return steps.transpose(1, 0, 2), jnp.stack(hs), jnp.stack(cs)


def _run_direction(steps, h, c, weights, lengths):
    """Outputs (time, batch, hidden), zero after the ends of the sequences, and the states at their ends."""
    W_ih, W_hh, b_ih, b_hh = weights
    projected = steps @ W_ih.T + jnp.expand_dims(b_ih + b_hh, (0, 1))

    def step(state, row):
        h, c = state
        i, f, g, o = jnp.split(row + h @ W_hh.T, 4, axis=1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), (h, c)

    _, (hs, cs) = lax.scan(step, (h, c), projected)
    last, batch = lengths - 1, jnp.arange(lengths.shape[0])
    is_inside = lengths[None] > jnp.arange(hs.shape[0], dtype=lengths.dtype)[:, None]
    return jnp.where(is_inside[..., None], hs, 0), hs[last, batch], cs[last, batch]


def _reverse(steps, lengths):
    """Each sequence in reverse, its padding left at the end: (time, batch, width)."""
    roll = vmap(lambda sequence, shift: jnp.roll(sequence, shift, axis=0), in_axes=(1, 0), out_axes=1)
    return roll(steps, steps.shape[0] - lengths)[::-1]


__getattr__ = _unavailable(
    __name__,
    {
        "lstm_bwd lstm_fwd rnn_abstract_eval rnn_bwd_abstract_eval": (
            "they are rules of a primitive for cuDNN; lstm is differentiated as the loop that it is"
        ),
    },
)

__all__ = [
    "get_num_params_in_lstm",
    "init_lstm_weight",
    "lstm",
    "lstm_ref",
    "swap_lstm_gates",
    "unpack_lstm_weights",
]

_wrap_api_functions(globals(), __name__)
