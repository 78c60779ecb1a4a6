"""Neural networks as pairs of functions, under the names of jax.example_libraries.stax.

init, apply = serial(Dense(128), Relu, Dense(10), LogSoftmax)
output_shape, params = init(key, input_shape)
outputs = apply(params, inputs, rng=key)         `rng` for layers that draw random numbers
"""

import functools

import numpy as np

from onax import lax, random
from onax import numpy as jnp
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape
from onax.nn import elu, gelu, leaky_relu, log_softmax, relu, selu, sigmoid, softmax, softplus, standardize
from onax.nn.initializers import glorot_normal, normal, ones, zeros

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax
_DIMENSIONS = ("NHWC", "HWIO", "NHWC")


def Dense(out_dim, W_init=glorot_normal(), b_init=normal()):
    """x @ W + b, with `out_dim` columns."""

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
    dimension_numbers, out_chan, filter_shape, strides=None, padding="VALID", W_init=None, b_init=normal(1e-6)
):
    """A convolution with `out_chan` channels, and a bias."""
    return _convolution(
        lax.conv_general_dilated, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init
    )


def GeneralConvTranspose(
    dimension_numbers, out_chan, filter_shape, strides=None, padding="VALID", W_init=None, b_init=normal(1e-6)
):
    """A transposed convolution with `out_chan` channels, and a bias."""
    return _convolution(lax.conv_transpose, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init)


Conv = functools.partial(GeneralConv, _DIMENSIONS)
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, _DIMENSIONS)


def BatchNorm(axis=(0, 1, 2), epsilon=1e-5, center=True, scale=True, beta_init=zeros, gamma_init=ones):
    """Numbers of mean 0 and variance 1 over the axes of the batch, times gamma, plus beta."""
    axis = (axis,) if jnp.isscalar(axis) else tuple(axis)

    def init_fun(rng, input_shape):
        shape = tuple([n for i, n in enumerate(input_shape) if i not in axis])
        k1, k2 = random.split(rng)
        return input_shape, (beta_init(k1, shape) if center else (), gamma_init(k2, shape) if scale else ())

    def apply_fun(params, x, **kwargs):
        beta, gamma = params
        index = tuple([None if i in axis else slice(None) for i in range(jnp.ndim(x))])
        z = standardize(x, axis, epsilon=epsilon)
        z = gamma[index] * z if scale else z
        return z + beta[index] if center else z

    return init_fun, apply_fun


def elementwise(fun, **fun_kwargs):
    """A layer that applies a function to its input."""
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
    def layer(window_shape, strides=None, padding="VALID", spec=None):
        """Windows of a shape, reduced to one number each; by default over the middle axes of NHWC."""
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


def FanOut(num):
    """The input `num` times, as a list."""
    return (lambda rng, shape: ([shape] * num, ())), (lambda params, inputs, **kwargs: [inputs] * num)


FanInSum = (lambda rng, shapes: (shapes[0], ())), (lambda params, inputs, **kwargs: sum(inputs))


def FanInConcat(axis=-1):
    """A list of inputs, joined along an axis."""

    def init_fun(rng, shapes):
        at = axis % len(shapes[0])
        return (*shapes[0][:at], sum(s[at] for s in shapes), *shapes[0][at + 1 :]), ()

    return init_fun, (lambda params, inputs, **kwargs: jnp.concatenate(inputs, axis))


def Dropout(rate, mode="train"):
    """Keeps each number with probability `rate`, divided by it; with mode "test" everything, as it is."""

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


def serial(*layers):
    """Layers in sequence."""
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


def parallel(*layers):
    """Layers in parallel, each on one element of a list of inputs."""
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


def shape_dependent(make_layer):
    """A layer that `make_layer` makes for the shape of its input."""

    def init_fun(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun
