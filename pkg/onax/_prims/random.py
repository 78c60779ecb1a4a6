"""Random keys and bits: random_seed, random_wrap, random_unwrap, random_clone, random_split, random_fold_in,
random_bits, random_gamma, and the block function threefry2x32.

A generator (`random_generators.py`) defines these operations for its keys.  The keys' dtype holds the generator; since
a kernel receives only key data, generators other than threefry2x32 are also passed as the parameter `impl`.
"""

import numpy as np

from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE
from onax._core.rules import defjvp_zero
from onax._core.trace import as_array
from onax._core.zeros import Zero
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._native import threefry
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._prims import random_kernels
from onax._prims._batch_rules import defvectorized
from onax._prims.creation import full_like
from onax._prims.elementwise import div, eq, exp, mul, select_n
from onax._prims.elementwise_rows import broadcasting_shape
from onax._prims.random_generators import U32, UNSIGNED, key_dtype, on_key_data, threefry_impl
from onax._prims.shaping import bdim_at_front, moveaxis
from onax._prims.special import random_gamma_grad


def is_key_dtype(dtype):
    """Whether this is the dtype of an array of random keys."""
    return isinstance(dtype, dtypes.KeyType)


# ---- keys and key data


def _keys_to_data(keys, impl):
    """Views an array of keys as key data."""
    flat = np.ascontiguousarray(keys).reshape(-1)
    return flat.view(U32).reshape((*keys.shape, *impl.key_shape))


def _data_to_keys(key_data, impl):
    """Views key data as an array of keys."""
    shape = key_data.shape[: key_data.ndim - len(impl.key_shape)]
    return np.ascontiguousarray(key_data).reshape(-1).view(key_dtype(impl).storage).reshape(shape)


def _impl_params(keys):
    """The parameter that holds the keys' generator; no parameter for threefry2x32."""
    impl = keys.dtype._impl
    return {} if impl is threefry_impl else {"impl": impl}


def _check_keys(name, x):
    if not is_key_dtype(x.dtype):
        raise TypeError(f"{name} takes an array of random keys, got dtype {x.dtype}")


def _primitive(name, kernel, abstract_eval, **fields):
    return defjvp_zero(Primitive(name, kernel=kernel, abstract_eval=abstract_eval, weak=NEVER, **fields))


_HIDDEN = ("impl", "partitionable")


def _pretty(eqn, names):
    return {name: eqn.params[name] for name in sorted(eqn.params) if name not in _HIDDEN}


# ---- random_seed, random_wrap, random_unwrap, random_clone


def _seed_abstract(seeds, *, impl):
    return ShapedArray(seeds.shape, key_dtype(impl))


random_seed_p = defvectorized(
    _primitive("random_seed", lambda seeds, *, impl: _data_to_keys(impl.seed_kernel(seeds), impl), _seed_abstract)
)


def _wrap_abstract(key_data, *, impl):
    rank = key_data.ndim - len(impl.key_shape)
    if key_data.dtype != U32 or rank < 0 or key_data.shape[rank:] != impl.key_shape:
        raise TypeError(f"random_wrap takes uint32 of shape (..., {impl.key_shape[0]}), got {key_data.str_short()}")
    return ShapedArray(key_data.shape[:rank], key_dtype(impl))


def _wrap_batch(axis_data, operands, mapped, *, impl):
    return random_wrap_p.bind(moveaxis(operands[0], mapped[0], 0), impl=impl), 0


random_wrap_p = _primitive(
    "random_wrap", lambda key_data, *, impl: _data_to_keys(key_data, impl), _wrap_abstract, batch=_wrap_batch
)


def _unwrap_kernel(keys, *, impl=threefry_impl):
    return _keys_to_data(keys, impl)


def _unwrap_abstract(keys, *, impl=threefry_impl):
    _check_keys("random_unwrap", keys)
    return ShapedArray((*keys.shape, *keys.dtype.element_shape), U32)


random_unwrap_p = defvectorized(_primitive("random_unwrap", _unwrap_kernel, _unwrap_abstract, pretty=_pretty))


def unwrap_keys(keys):
    """The key data of keys, an array of uint32."""
    return random_unwrap_p.bind(keys, **_impl_params(keys))


random_clone_p = defvectorized(
    _primitive("random_clone", lambda keys: keys, lambda keys: keys, facts=frozenset({DATA_MOVEMENT}))
)

# ---- random_split, random_fold_in, random_bits
#
# The option jax_threefry_partitionable is read when an equation is made, not when it runs: an equation made while it is
# off has the parameter `partitionable=False`, which is not printed.


def _draw_params(keys):
    """The parameters that hold the generator and the layout of counters, if they are not the defaults."""
    params = _impl_params(keys)
    return params if config.jax_threefry_partitionable else {**params, "partitionable": False}


def _split_kernel(keys, *, shape, partitionable=True, impl=threefry_impl):
    return _data_to_keys(impl.split_kernel(_keys_to_data(keys, impl), shape, partitionable), impl)


def _check_constant(name, shape):
    if not dims.is_constant_shape(shape):
        raise TypeError(f"{name} needs a shape of known sizes, got {shape}")


def _split_abstract(keys, *, shape, partitionable=True, **_):
    _check_keys("random_split", keys)
    if not partitionable:
        _check_constant("random_split", shape)
    return ShapedArray((*keys.shape, *shape), keys.dtype)


random_split_p = defvectorized(_primitive("random_split", _split_kernel, _split_abstract, pretty=_pretty))


def split_keys(keys, shape):
    """Splits each key into new keys of this shape."""
    return random_split_p.bind(keys, shape=shape, **_draw_params(keys))


def _fold_in_kernel(keys, data, *, impl=threefry_impl):
    return _data_to_keys(impl.fold_in_kernel(_keys_to_data(keys, impl), data), impl)


def _fold_in_abstract(keys, data, *, impl=threefry_impl):
    _check_keys("random_fold_in", keys)
    if data.dtype != U32:
        raise TypeError(f"random_fold_in takes data of dtype uint32, got {data.dtype}")
    return ShapedArray(broadcasting_shape("random_fold_in", (keys, data)), keys.dtype)


random_fold_in_p = defvectorized(
    _primitive("random_fold_in", _fold_in_kernel, _fold_in_abstract, pretty=_pretty, facts=frozenset({ELEMENTWISE}))
)


def fold_in_keys(keys, data):
    """Folds a uint32 number into each key."""
    return random_fold_in_p.bind(keys, data, **_impl_params(keys))


def _bits_kernel(keys, *, bit_width, shape, partitionable=True, impl=threefry_impl):
    return impl.bits_kernel(_keys_to_data(keys, impl), bit_width, shape, partitionable)


def _bits_abstract(keys, *, bit_width, shape, partitionable=True, **_):
    _check_keys("random_bits", keys)
    if not partitionable:
        _check_constant("random_bits", shape)
    if bit_width not in UNSIGNED:
        raise TypeError(f"random_bits makes numbers of 8, 16, 32 or 64 bits, not {bit_width}")
    return ShapedArray((*keys.shape, *shape), UNSIGNED[bit_width])


random_bits_p = defvectorized(_primitive("random_bits", _bits_kernel, _bits_abstract, pretty=_pretty))


def draw_bits(keys, bit_width, shape):
    """Draws unsigned integers of this width and shape from each key."""
    return random_bits_p.bind(keys, bit_width=bit_width, shape=shape, **_draw_params(keys))


# ---- functions of key data, for programs that build a generator from another one


def _seed_data(impl, seed):
    return unwrap_keys(random_seed_p.bind(as_array(seed), impl=impl))


def _split_data(impl, key_data, shape):
    return unwrap_keys(split_keys(random_wrap_p.bind(as_array(key_data), impl=impl), tuple(shape)))


def _draw_from_data(impl, key_data, bit_width, shape):
    return draw_bits(random_wrap_p.bind(as_array(key_data), impl=impl), bit_width, tuple(shape))


def _fold_in_data(impl, key_data, data):
    return unwrap_keys(fold_in_keys(random_wrap_p.bind(as_array(key_data), impl=impl), as_array(data)))


on_key_data.update(seed=_seed_data, split=_split_data, random_bits=_draw_from_data, fold_in=_fold_in_data)

# ---- random_gamma


def _gamma_kernel(keys, alpha, *, log_space, partitionable=True, impl=threefry_impl):
    key_data = _keys_to_data(keys, impl)
    return random_kernels.random_gamma(key_data, alpha, log_space=log_space, partitionable=partitionable, impl=impl)


def _gamma_abstract(keys, alpha, *, log_space, **_):
    _check_keys("random_gamma", keys)
    rank = len(keys.shape)
    if not dtypes.issubdtype(alpha.dtype, np.floating) or alpha.shape[:rank] != keys.shape:
        raise TypeError(
            "random_gamma takes keys and floating parameters whose first axes are those of the keys, got "
            f"{keys.str_short()} and {alpha.str_short()}"
        )
    return ShapedArray(alpha.shape, alpha.dtype)


def _gamma_jvp(primals, tangents, *, log_space, **params):
    """The derivative by implicit reparameterisation (Figurnov, Mohamed, Mnih, 2018)."""
    out = random_gamma_p.bind(*primals, log_space=log_space, **params)
    alpha, tangent = primals[1], tangents[1]
    if type(tangent) is Zero:
        return out, Zero.from_primal_value(out)
    if not log_space:
        return out, mul(tangent, random_gamma_grad(alpha, out))
    number = exp(out)
    tiny = full_like(number, float(dtypes.finfo(number.dtype).tiny))
    number = select_n(eq(number, full_like(number, 0)), number, tiny)
    return out, mul(tangent, div(random_gamma_grad(alpha, number), number))


def _gamma_batch(axis_data, operands, mapped, **params):
    fronted = [bdim_at_front(x, dim, axis_data.size) for x, dim in zip(operands, mapped)]
    return random_gamma_p.bind(*fronted, **params), 0


random_gamma_p = Primitive(
    "random_gamma",
    kernel=_gamma_kernel,
    abstract_eval=_gamma_abstract,
    jvp=_gamma_jvp,
    batch=_gamma_batch,
    pretty=_pretty,
    weak=NEVER,
)


def draw_gamma(keys, alpha, log_space):
    """Draws from gamma distributions with shape parameters `alpha` (or logarithms); keys have alpha's leading axes."""
    return random_gamma_p.bind(keys, alpha, log_space=log_space, **_draw_params(keys))


# ---- threefry2x32


def _threefry_abstract(k0, k1, c0, c1):
    operands = (k0, k1, c0, c1)
    if any(x.dtype != U32 for x in operands):
        raise TypeError(
            f"Arguments to threefry2x32 must have uint32 type, got {', '.join(str(x.dtype) for x in operands)}"
        )
    shape = broadcasting_shape("threefry2x32", operands)
    return [ShapedArray(shape, U32), ShapedArray(shape, U32)]


threefry2x32_p = defvectorized(
    _primitive("threefry2x32", threefry.threefry2x32, _threefry_abstract, multiple_results=True)
)
_batch_one = threefry2x32_p.batch


def _threefry_batch(axis_data, operands, mapped):
    out, dim = _batch_one(axis_data, operands, mapped)
    return out, [dim, dim]


threefry2x32_p.batch = _threefry_batch
