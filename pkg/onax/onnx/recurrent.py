"""Recurrent layers as scans over time."""

import onax.numpy as jnp
from onax import lax
from onax.onnx.activations import ACTIVATIONS
from onax.onnx.operators import operator


class _Layer:
    """What RNN, GRU and LSTM have in common: activations, clipping, directions, lengths of sequences, layout."""

    def __init__(self, call, defaults):
        self.call = call
        direction = call.get("direction", "forward")
        self.reversed = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
        self.size = call["hidden_size"]
        self.batch_first = call.get("layout", 0)
        names = call.get("activations", defaults * len(self.reversed))
        self.functions = self._functions(names)
        self.per_direction = len(defaults)

    def _functions(self, names):
        """Functions of one array; activation_alpha and _beta go to the functions that take them, in order."""
        alphas, betas = list(self.call.get("activation_alpha", ())), list(self.call.get("activation_beta", ()))
        known = {name.lower(): entry for name, entry in ACTIVATIONS.items()}
        result = []
        for name in names:
            if name.lower() not in known:
                self.call.refuse(f"the activation {name!r}")
            function, defaults = known[name.lower()]
            given = [numbers.pop(0) if numbers else default for numbers, default in zip((alphas, betas), defaults)]
            result.append(lambda x, function=function, given=given: function(x, *given))
        return result

    def clip(self, x):
        """x within the attribute `clip`."""
        bound = self.call.get("clip")
        return x if bound is None else jnp.clip(x, -bound, bound)

    def run(self, x, lengths, states, step):
        """Outputs over time and last states: `step(direction, functions, states, x at t)` returns new states."""
        states = list(states)
        if self.batch_first:
            x = jnp.swapaxes(x, 0, 1)
            states = [None if s is None else jnp.swapaxes(s, 0, 1) for s in states]
        time, batch = x.shape[:2]
        zeros = jnp.zeros((len(self.reversed), batch, self.size), x.dtype)
        states = [zeros if s is None else jnp.asarray(s) for s in states]
        outputs, last = [], []
        for d, back in enumerate(self.reversed):
            functions = self.functions[d * self.per_direction : (d + 1) * self.per_direction]

            def one(carry, element, d=d, functions=functions):
                t, values = element
                new = step(d, functions, carry, values)
                if lengths is not None:
                    live = (t < jnp.asarray(lengths))[:, None]
                    new = tuple(jnp.where(live, a, b) for a, b in zip(new, carry))
                    return new, jnp.where(live, new[0], jnp.zeros((), x.dtype))
                return new, new[0]

            final, ys = lax.scan(one, tuple(s[d] for s in states), (jnp.arange(time), x), reverse=back)
            outputs.append(ys)
            last.append(final)
        y = jnp.stack(outputs, 1)
        finals = [jnp.stack(parts) for parts in zip(*last)]
        if self.batch_first:
            y, finals = jnp.transpose(y, (2, 0, 1, 3)), [jnp.swapaxes(f, 0, 1) for f in finals]
        return (y, *finals)


def _biases(bias, d, count, size, dtype):
    """The biases of the input and of the state, one row for each gate."""
    if bias is None:
        return jnp.zeros((2, count, size), dtype)
    return jnp.reshape(bias[d], (2, count, size))


@operator("RNN")
def _rnn(call, x, w, r, bias=None, lengths=None, h=None):
    layer = _Layer(call, ("Tanh",))

    def step(d, functions, state, values):
        of_x, of_h = _biases(bias, d, 1, layer.size, x.dtype)[:, 0]
        return (functions[0](layer.clip(values @ w[d].T + state[0] @ r[d].T + of_x + of_h)),)

    return layer.run(x, lengths, [h], step)


@operator("GRU")
def _gru(call, x, w, r, bias=None, lengths=None, h=None):
    layer = _Layer(call, ("Sigmoid", "Tanh"))
    size = layer.size

    def step(d, functions, state, values):
        f, g = functions
        of_x, of_h = _biases(bias, d, 3, size, x.dtype)
        inputs = values @ w[d].T
        states = state[0] @ r[d][: 2 * size].T
        z = f(layer.clip(inputs[:, :size] + states[:, :size] + of_x[0] + of_h[0]))
        reset = f(layer.clip(inputs[:, size : 2 * size] + states[:, size:] + of_x[1] + of_h[1]))
        last = r[d][2 * size :].T
        if call.get("linear_before_reset", 0):
            candidate = reset * (state[0] @ last + of_h[2])
        else:
            candidate = (reset * state[0]) @ last + of_h[2]
        n = g(layer.clip(inputs[:, 2 * size :] + candidate + of_x[2]))
        return ((1 - z) * n + z * state[0],)

    return layer.run(x, lengths, [h], step)


@operator("LSTM")
def _lstm(call, x, w, r, bias=None, lengths=None, h=None, c=None, peepholes=None):
    layer = _Layer(call, ("Sigmoid", "Tanh", "Tanh"))
    size = layer.size

    def step(d, functions, state, values):
        f, g, k = functions
        h, c = state
        of_x, of_h = _biases(bias, d, 4, size, x.dtype)
        gates = values @ w[d].T + h @ r[d].T
        i, o, forget, new = (gates[:, j * size : (j + 1) * size] + of_x[j] + of_h[j] for j in range(4))
        p = jnp.zeros((3, size), x.dtype) if peepholes is None else jnp.reshape(peepholes[d], (3, size))
        i = f(layer.clip(i + p[0] * c))
        forget = 1 - i if call.get("input_forget", 0) else f(layer.clip(forget + p[2] * c))
        cell = forget * c + i * g(layer.clip(new))
        return f(layer.clip(o + p[1] * cell)) * k(cell), cell

    return layer.run(x, lengths, [h, c], step)
