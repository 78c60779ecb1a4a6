"""Neural networks as pairs of functions, under the names of jax.example_libraries.stax.

init, apply = serial(Dense(128), Relu, Dense(10), LogSoftmax)
output_shape, params = init(key, input_shape)
outputs = apply(params, inputs, rng=key)         `rng` for layers that draw random numbers
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from onax import lax, random
from onax import numpy as jnp
from onax._ground.typing import AnyFunction, ArrayLike, Shape
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax.nn import elu, gelu, leaky_relu, log_softmax, relu, selu, sigmoid, softmax, softplus, standardize
from onax.nn.initializers import Initializer, glorot_normal, normal, ones, zeros

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax
_DIMENSIONS = ("NHWC", "HWIO", "NHWC")

_Layer: TypeAlias = tuple[Callable[..., tuple[Any, Any]], Callable[..., Any]]  # (init, apply)


def Dense(out_dim: int, W_init: Initializer = glorot_normal(), b_init: Initializer = normal()) -> _Layer:
    """Returns the layer x @ W + b.

    Args:
      out_dim: the number of columns of W.
      W_init: an initializer of the weights; default Glorot's normal one.
      b_init: an initializer of the bias; default normal numbers.

    Returns:
      A layer (init, apply): ``init(key, shape) -> (shape of the output, params)``, ``apply(params, inputs)``.

    Examples:
      >>> init, apply = onax.example_libraries.stax.Dense(3)
      >>> shape, params = init(onax.random.key(0), (-1, 2))
      >>> shape, apply(params, jnp.ones((5, 2))).shape
      ((-1, 3), (5, 3))
    """

    def init_fun(rng, input_shape):
        k1, k2 = random.split(rng)
        return (*input_shape[:-1], out_dim), (W_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,)))

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return jnp.dot(inputs, W) + b

    return init_fun, apply_fun


def _convolution(convolve, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init):
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def apply_fun(params, inputs, **kwargs):
        W, b = params
        return convolve(inputs, W, strides, padding, dimension_numbers=dimension_numbers) + b

    def init_fun(rng, input_shape):
        sizes = iter(filter_shape)
        special = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        kernel = tuple([special[c] if c in special else next(sizes) for c in rhs_spec])
        bias = tuple([out_chan if c == "C" else 1 for c in out_spec])
        k1, k2 = random.split(rng)
        params = W_init(k1, kernel), b_init(k2, bias)
        known = tuple(1 if n == -1 else n for n in input_shape)
        out = eval_shape(apply_fun, params, ShapeDtypeStruct(known, params[0].dtype)).shape
        return tuple(-1 if n == -1 and c == "N" else m for n, m, c in zip(input_shape, out, out_spec)), params

    return init_fun, apply_fun


def GeneralConv(
    dimension_numbers: Sequence[str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    W_init: Initializer | None = None,
    b_init: Initializer = normal(1e-6),
) -> _Layer:
    """Returns a layer of convolution with a bias.

    Args:
      dimension_numbers: the layouts of input, filter and output, such as ("NHWC", "HWIO", "NHWC").
      out_chan: the number of channels of the output.
      filter_shape: the shape of the window.
      strides: the steps of the window; default None, ones.
      padding: "VALID" (the default), "SAME", or pairs of numbers.
      W_init: an initializer of the weights; default Glorot's normal one.
      b_init: an initializer of the bias; default normal numbers.

    Returns:
      A layer (init, apply): ``init(key, shape) -> (shape of the output, params)``, ``apply(params, inputs)``.

    Examples:
      >>> init, apply = onax.example_libraries.stax.Conv(3, (2, 2))
      >>> init(onax.random.key(0), (1, 5, 5, 1))[0]
      (1, 4, 4, 3)
    """
    return _convolution(
        lax.conv_general_dilated, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init
    )


def GeneralConvTranspose(
    dimension_numbers: Sequence[str],
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    W_init: Initializer | None = None,
    b_init: Initializer = normal(1e-6),
) -> _Layer:
    """Returns a layer of transposed convolution with a bias.

    Args:
      dimension_numbers: the layouts of input, filter and output, such as ("NHWC", "HWIO", "NHWC").
      out_chan: the number of channels of the output.
      filter_shape: the shape of the window.
      strides: the steps of the window; default None, ones.
      padding: "VALID" (the default), "SAME", or pairs of numbers.
      W_init: an initializer of the weights; default Glorot's normal one.
      b_init: an initializer of the bias; default normal numbers.

    Returns:
      A layer (init, apply): ``init(key, shape) -> (shape of the output, params)``, ``apply(params, inputs)``.

    Examples:
      >>> init, apply = onax.example_libraries.stax.ConvTranspose(3, (2, 2))
      >>> init(onax.random.key(0), (1, 5, 5, 1))[0]
      (1, 6, 6, 3)
    """
    return _convolution(lax.conv_transpose, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)


Conv = functools.partial(GeneralConv, _DIMENSIONS)
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, _DIMENSIONS)


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2),
    epsilon: ArrayLike = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Initializer = zeros,
    gamma_init: Initializer = ones,
) -> _Layer:
    """Returns a layer that gives numbers mean 0 and variance 1 over axes, times gamma, plus beta.

    Args:
      axis: the axes of the batch; default (0, 1, 2).
      epsilon: a number added to the variance; default 1e-5.
      center: True (the default): beta is added.
      scale: True (the default): gamma is multiplied.
      beta_init: an initializer of beta; default zeros.
      gamma_init: an initializer of gamma; default ones.

    Returns:
      A layer (init, apply): ``init(key, shape) -> (shape of the output, params)``, ``apply(params, inputs)``.

    Examples:
      >>> init, apply = onax.example_libraries.stax.BatchNorm()
      >>> init(onax.random.key(0), (1, 5, 5, 1))[0]
      (1, 5, 5, 1)
    """
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)

    def init_fun(rng, input_shape):
        shape = tuple([n for i, n in enumerate(input_shape) if i not in axes])
        k1, k2 = random.split(rng)
        return input_shape, (beta_init(k1, shape) if center else (), gamma_init(k2, shape) if scale else ())

    def apply_fun(params, x, **kwargs):
        beta, gamma = params
        index = tuple([None if i in axes else slice(None) for i in range(jnp.ndim(x))])
        z = standardize(x, axes, epsilon=epsilon)
        z = gamma[index] * z if scale else z
        return z + beta[index] if center else z

    return init_fun, apply_fun


def elementwise(fun: AnyFunction, **fun_kwargs: Any) -> _Layer:
    """Returns a layer that applies a function.

    Args:
      fun: a function of an array.
      fun_kwargs: its keyword arguments.

    Returns:
      A layer (init, apply) without parameters.

    Examples:
      >>> init, apply = onax.example_libraries.stax.elementwise(jnp.abs)
      >>> apply((), jnp.array([-1.0]))
      Array([1.], dtype=float32)
    """
    return (lambda rng, input_shape: (input_shape, ())), (lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs))


Tanh = elementwise(jnp.tanh)
Relu = elementwise(relu)
Exp = elementwise(jnp.exp)
LogSoftmax = elementwise(log_softmax, axis=-1)
Softmax = elementwise(softmax, axis=-1)
Softplus = elementwise(softplus)
Sigmoid = elementwise(sigmoid)
Elu = elementwise(elu)
LeakyRelu = elementwise(leaky_relu)
Selu = elementwise(selu)
Gelu = elementwise(gelu)


def _pooling(reducer, start, rescale=None):
    def layer(
        window_shape: Sequence[int],
        strides: Sequence[int] | None = None,
        padding: str | Sequence[tuple[int, int]] = "VALID",
        spec: str | None = None,
    ) -> _Layer:
        """Returns a layer that reduces windows to their maximum, sum or mean.

        Args:
          window_shape: the shape of the windows, over the axes that are neither batch nor channels.
          strides: the steps of the windows; default None, ones.
          padding: "VALID" (the default), "SAME", or pairs of numbers.
          spec: the layout of the input, such as "NHWC", which is the default.

        Returns:
          A layer (init, apply) without parameters.

        Examples:
          >>> init, apply = onax.example_libraries.stax.MaxPool((2, 2))
          >>> apply((), jnp.arange(4.0).reshape(1, 2, 2, 1)).tolist()
          [[[[3.0]]]]
        """
        strides = strides or (1,) * len(window_shape)
        rescaled = rescale(window_shape, strides, padding) if rescale else None
        dims, steps = tuple(window_shape), tuple(strides)
        non_spatial = (0, len(dims) + 1) if spec is None else (spec.index("N"), spec.index("C"))
        for i in sorted(non_spatial):
            dims, steps = (*dims[:i], 1, *dims[i:]), (*steps[:i], 1, *steps[i:])

        def apply_fun(params, inputs, **kwargs):
            out = lax.reduce_window(inputs, start, reducer, dims, steps, padding)
            return rescaled(out, inputs, spec) if rescaled else out

        def init_fun(rng, input_shape):
            known = tuple(1 if n == -1 else n for n in input_shape)
            out = eval_shape(lambda x: lax.reduce_window(x, start, reducer, dims, steps, padding),
                             ShapeDtypeStruct(known, np.float32)).shape  # fmt: skip
            return tuple(-1 if n == -1 else m for n, m in zip(input_shape, out)), ()

        return init_fun, apply_fun

    return layer


def _by_count(dims, strides, padding):
    """Divides sums by the number of elements in their windows, without those of the padding."""

    def rescaled(outputs, inputs, spec):
        non_spatial = (0, inputs.ndim - 1) if spec is None else (spec.index("N"), spec.index("C"))
        shape = tuple([n for i, n in enumerate(inputs.shape) if i not in non_spatial])
        count = lax.reduce_window(jnp.ones(shape, inputs.dtype), 0.0, lax.add, tuple(dims), tuple(strides), padding)
        return outputs / jnp.expand_dims(count, sorted(non_spatial))

    return rescaled


MaxPool = _pooling(lax.max, -jnp.inf)
SumPool = _pooling(lax.add, 0.0)
AvgPool = _pooling(lax.add, 0.0, _by_count)

Identity = (lambda rng, input_shape: (input_shape, ())), (lambda params, inputs, **kwargs: inputs)


def _flat_shape(rng, input_shape):
    return (input_shape[0], int(np.prod(input_shape[1:]))), ()


Flatten = _flat_shape, (lambda params, inputs, **kwargs: jnp.reshape(inputs, (inputs.shape[0], -1)))


def FanOut(num: int) -> _Layer:
    """Returns a layer that repeats its input in a list.

    Args:
      num: how often.

    Returns:
      A layer (init, apply) without parameters.

    Examples:
      >>> init, apply = onax.example_libraries.stax.FanOut(2)
      >>> apply((), 1.0)
      [1.0, 1.0]
    """
    return (lambda rng, shape: ([shape] * num, ())), (lambda params, inputs, **kwargs: [inputs] * num)


FanInSum = (lambda rng, shapes: (shapes[0], ())), (lambda params, inputs, **kwargs: sum(inputs))


def FanInConcat(axis: int = -1) -> _Layer:
    """Returns a layer that joins a list of inputs.

    Args:
      axis: the axis along which they are joined; default -1.

    Returns:
      A layer (init, apply) without parameters.

    Examples:
      >>> init, apply = onax.example_libraries.stax.FanInConcat()
      >>> apply((), [jnp.ones(2), jnp.zeros(1)])
      Array([1., 1., 0.], dtype=float32)
    """

    def init_fun(rng, shapes):
        at = axis % len(shapes[0])
        return (*shapes[0][:at], sum(s[at] for s in shapes), *shapes[0][at + 1 :]), ()

    return init_fun, (lambda params, inputs, **kwargs: jnp.concatenate(inputs, axis))


def Dropout(rate: ArrayLike, mode: str = "train") -> _Layer:
    """Returns a layer that keeps each number with a probability, and divides it by that.

    Args:
      rate: the probability of keeping a number.
      mode: "train" (the default), or another, which keeps everything as it is.

    Returns:
      A layer (init, apply) without parameters: ``apply((), inputs, rng=key)``.

    Examples:
      >>> init, apply = onax.example_libraries.stax.Dropout(0.5)
      >>> apply((), jnp.ones(4), rng=onax.random.key(0)).shape
      (4,)
    """

    def apply_fun(params, inputs, **kwargs):
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError(
                "Dropout layer requires apply_fun to be called with a PRNG key argument. That is, instead of "
                "`apply_fun(params, inputs)`, call it like `apply_fun(params, inputs, rng)` where `rng` is a PRNG key "
                "(e.g. from `jax.random.key`)."
            )
        if mode != "train":
            return inputs
        return jnp.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return (lambda rng, input_shape: (input_shape, ())), apply_fun


# ---- layers of layers ----


def serial(*layers: _Layer) -> _Layer:
    """Returns a layer that consists of layers in sequence.

    Args:
      layers: layers.

    Returns:
      A layer (init, apply), whose parameters are a list.

    Examples:
      >>> stax = onax.example_libraries.stax
      >>> init, apply = stax.serial(stax.Dense(3), stax.Relu)
      >>> init(onax.random.key(0), (-1, 2))[0]
      (-1, 3)
    """
    inits, applies = zip(*layers)

    def init_fun(rng, input_shape):
        params = []
        for init in inits:
            rng, layer_rng = random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params, inputs, **kwargs):
        for fun, param, rng in zip(applies, params, _keys(kwargs, len(layers))):
            inputs = fun(param, inputs, rng=rng, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: _Layer) -> _Layer:
    """Returns a layer that consists of layers side by side, each on one element of a list of inputs.

    Args:
      layers: layers.

    Returns:
      A layer (init, apply), whose parameters are a list.

    Examples:
      >>> stax = onax.example_libraries.stax
      >>> init, apply = stax.parallel(stax.Identity, stax.Relu)
      >>> apply([(), ()], [jnp.array([-1.0]), jnp.array([-1.0])])
      [Array([-1.], dtype=float32), Array([0.], dtype=float32)]
    """
    inits, applies = zip(*layers)

    def init_fun(rng, input_shape):
        rngs = random.split(rng, len(layers))
        return zip(*[init(rng, shape) for init, rng, shape in zip(inits, rngs, input_shape)])

    def apply_fun(params, inputs, **kwargs):
        rngs = _keys(kwargs, len(layers))
        return [f(p, x, rng=r, **kwargs) for f, p, x, r in zip(applies, params, inputs, rngs)]

    return init_fun, apply_fun


def _keys(kwargs, count):
    """Removes the key from the arguments and splits it, one key per layer."""
    rng = kwargs.pop("rng", None)
    return (None,) * count if rng is None else random.split(rng, count)


def shape_dependent(make_layer: Callable[[Shape], _Layer]) -> _Layer:
    """Returns a layer that a function makes for the shape of its input.

    Args:
      make_layer: a function (shape) -> layer.

    Returns:
      A layer (init, apply).

    Examples:
      >>> stax = onax.example_libraries.stax
      >>> init, apply = stax.shape_dependent(lambda shape: stax.Dense(shape[-1]))
      >>> init(onax.random.key(0), (-1, 2))[0]
      (-1, 2)
    """

    def init_fun(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun


__all__ = [
    "AvgPool", "BatchNorm", "Conv", "Conv1DTranspose", "ConvTranspose", "Dense", "Dropout", "Elu", "Exp",
    "FanInConcat", "FanInSum", "FanOut", "Flatten", "Gelu", "GeneralConv", "GeneralConvTranspose", "Identity",
    "LeakyRelu", "LogSoftmax", "MaxPool", "Relu", "Selu", "Sigmoid", "Softmax", "Softplus", "SumPool", "Tanh",
    "elementwise", "elu", "gelu", "glorot", "glorot_normal", "leaky_relu", "log_softmax", "logsoftmax", "normal",
    "ones", "parallel", "randn", "relu", "selu", "serial", "shape_dependent", "sigmoid", "softmax", "softplus",
    "standardize", "zeros",
]  # fmt: skip
