"""Random keys and bits: random_seed, random_wrap, random_unwrap, random_clone, random_split, random_fold_in,
random_bits, and the block function threefry2x32 under them.

A generator (`PRNGImpl`) says what these mean for its keys; the primitives carry it in the keys' dtype.  Each of them
works on whole arrays of keys, key by key.
"""

import numpy as np

from onax._core.rules import no_derivative
from onax._ground import dims, dtypes
from onax._ground.config import config
from onax._native import threefry
from onax._native.avals import ShapedArray
from onax._native.dispatch import DATA_MOVEMENT, ELEMENTWISE, NEVER, Primitive
from onax._prims._batch_rules import vectorised
from onax._prims.elementwise_rows import broadcasting_shape
from onax._prims.shaping import moveaxis

U32 = np.dtype(np.uint32)
UNSIGNED = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: U32, 64: np.dtype(np.uint64)}

# ---- generators


class PRNGImpl:
    """A random number generator: the shape of its keys, and functions on the words of keys.

    seed(integers) -> words                     one key for each integer
    split(words, shape, partitionable) -> words keys.shape + shape
    fold_in(words, data) -> words               data is of uint32, one for each key
    random_bits(words, bit_width, shape, partitionable) -> unsigned integers of keys.shape + shape

    Words are ndarrays of uint32 with the key's axes last; `partitionable` says which layout of counters to use.
    """

    __slots__ = ("fold_in", "key_shape", "name", "random_bits", "seed", "split", "tag")

    def __init__(self, key_shape, seed, split, random_bits, fold_in, name, tag):
        self.key_shape = key_shape
        self.seed = seed
        self.split = split
        self.random_bits = random_bits
        self.fold_in = fold_in
        self.name = name
        self.tag = tag

    def __str__(self):
        return self.tag

    def __repr__(self):
        shown = ("key_shape", "seed", "split", "random_bits", "fold_in", "name", "tag")
        return f"PRNGImpl({', '.join(f'{field}={getattr(self, field)!r}' for field in shown)})"

    def __reduce__(self):
        return find_impl, (self.name,)


_IMPLS: dict = {}
_KEY_DTYPES: dict = {}


def register_impl(impl):
    """Makes a generator known by its name."""
    _IMPLS[impl.name] = impl
    _KEY_DTYPES[impl.name] = dtypes.KeyType(impl)


def find_impl(name):
    """The generator of a name; ValueError if there is none."""
    impl = _IMPLS.get(name)
    if impl is None:
        known = ", ".join(f'"{n}"' for n in _IMPLS)
        raise ValueError(f'unrecognized PRNG implementation "{name}". Did you mean one of: {known}?')
    return impl


def key_dtype(impl):
    """The dtype of a generator's keys."""
    return _KEY_DTYPES[impl.name]


def is_key_dtype(dtype):
    """Whether this is the dtype of an array of random keys."""
    return isinstance(dtype, dtypes.KeyType)


# ---- threefry: keys of two words


def _threefry_seed(integers):
    low = integers.astype(U32)
    wide = integers.dtype.itemsize == 8
    high = (integers.astype(np.uint64) >> np.uint64(32)).astype(U32) if wide else np.zeros_like(low)
    return np.stack([high, low], -1)


def _threefry_split(words, shape, partitionable):
    size = int(np.prod(shape))
    if partitionable:
        out = threefry.counted(words, size, 0)
    else:
        out = threefry.streamed(words, 2 * size)
    return out.reshape((*words.shape[:-1], *shape, 2))


def _threefry_fold_in(words, data):
    return np.stack(threefry.blocks(words[..., 0], words[..., 1], U32.type(0), data), -1)


def _streamed_bits(words, bit_width, size):
    """Unsigned integers from words: wide ones of two, narrow ones several to a word, the lowest first."""
    out = threefry.streamed(words, -(-bit_width * size // 32))
    if bit_width == 64:
        high, low = out[:, :size].astype(np.uint64), out[:, size:].astype(np.uint64)
        return high << np.uint64(32) | low
    if bit_width < 32:
        out = out.astype("<u4").view(f"<u{bit_width // 8}")[:, :size]
    return out.astype(UNSIGNED[bit_width], copy=False)


def _threefry_random_bits(words, bit_width, shape, partitionable):
    size = int(np.prod(shape))
    if partitionable:
        out = threefry.counted(words, size, bit_width)
    else:
        out = _streamed_bits(words, bit_width, size)
    return out.reshape((*words.shape[:-1], *shape))


threefry_impl = PRNGImpl(
    key_shape=(2,),
    seed=_threefry_seed,
    split=_threefry_split,
    random_bits=_threefry_random_bits,
    fold_in=_threefry_fold_in,
    name="threefry2x32",
    tag="fry",
)
register_impl(threefry_impl)

# ---- keys as words and back


def _words_of(keys, impl):
    """The words of keys kept as opaque elements."""
    flat = np.ascontiguousarray(keys).reshape(-1)
    return flat.view(U32).reshape((*keys.shape, *impl.key_shape))


def _keys_of(words, impl):
    """Keys as opaque elements."""
    shape = words.shape[: words.ndim - len(impl.key_shape)]
    return np.ascontiguousarray(words).reshape(-1).view(key_dtype(impl).storage).reshape(shape)


_BY_STORAGE: dict = {}


def _impl_of(keys):
    """The generator of the keys a kernel was handed, which it tells by their width: there is one of each."""
    found = _BY_STORAGE.get(keys.dtype)
    if found is None:
        found = next(impl for name, impl in _IMPLS.items() if _KEY_DTYPES[name].storage == keys.dtype)
        _BY_STORAGE[keys.dtype] = found
    return found


def _check_keys(name, x):
    if not is_key_dtype(x.dtype):
        raise TypeError(f"{name} takes an array of random keys, got dtype {x.dtype}")


def _unary_batch(primitive):
    def batch(axis_data, operands, mapped, **params):
        return primitive.bind(operands[0], **params), mapped[0]

    primitive.batch = batch
    return primitive


def _primitive(name, kernel, abstract_eval, **fields):
    return no_derivative(Primitive(name, kernel=kernel, abstract_eval=abstract_eval, weak=NEVER, **fields))


# ---- random_seed, random_wrap, random_unwrap, random_clone


def _seed_abstract(seeds, *, impl):
    return ShapedArray(seeds.shape, key_dtype(impl))


random_seed_p = _unary_batch(
    _primitive("random_seed", lambda seeds, *, impl: _keys_of(impl.seed(seeds), impl), _seed_abstract)
)


def _wrap_abstract(words, *, impl):
    rank = words.ndim - len(impl.key_shape)
    if words.dtype != U32 or rank < 0 or words.shape[rank:] != impl.key_shape:
        raise TypeError(f"random_wrap takes uint32 of shape (..., {impl.key_shape[0]}), got {words.str_short()}")
    return ShapedArray(words.shape[:rank], key_dtype(impl))


def _wrap_batch(axis_data, operands, mapped, *, impl):
    return random_wrap_p.bind(moveaxis(operands[0], mapped[0], 0), impl=impl), 0


random_wrap_p = _primitive(
    "random_wrap", lambda words, *, impl: _keys_of(words, impl), _wrap_abstract, batch=_wrap_batch
)


def _unwrap_abstract(keys):
    _check_keys("random_unwrap", keys)
    return ShapedArray((*keys.shape, *keys.dtype.element_shape), U32)


random_unwrap_p = _unary_batch(
    _primitive("random_unwrap", lambda keys: _words_of(keys, _impl_of(keys)), _unwrap_abstract)
)


def _clone_abstract(keys):
    _check_keys("random_clone", keys)
    return keys


random_clone_p = _unary_batch(
    _primitive("random_clone", lambda keys: keys, _clone_abstract, facts=frozenset({DATA_MOVEMENT}))
)

# ---- random_split, random_fold_in, random_bits
#
# The option jax_threefry_partitionable is read where a program is written, not where it runs: an equation made with it
# off has the parameter `partitionable=False`, which does not print.


def layout():
    """The parameter that says the layout of counters; nothing for the usual one."""
    return {} if config.jax_threefry_partitionable else {"partitionable": False}


def _pretty(eqn, names):
    return {name: eqn.params[name] for name in sorted(eqn.params) if name != "partitionable"}


def _split_kernel(keys, *, shape, partitionable=True):
    impl = _impl_of(keys)
    return _keys_of(impl.split(_words_of(keys, impl), shape, partitionable), impl)


def _check_constant(name, shape):
    if not dims.is_constant_shape(shape):
        raise TypeError(f"{name} needs a shape of known sizes, got {shape}")


def _split_abstract(keys, *, shape, partitionable=True):
    _check_keys("random_split", keys)
    _check_constant("random_split", shape)
    return ShapedArray((*keys.shape, *shape), keys.dtype)


random_split_p = _unary_batch(_primitive("random_split", _split_kernel, _split_abstract, pretty=_pretty))


def _fold_in_kernel(keys, data):
    impl = _impl_of(keys)
    keys, data = np.broadcast_arrays(keys, data)
    return _keys_of(impl.fold_in(_words_of(keys, impl), data), impl)


def _fold_in_abstract(keys, data):
    _check_keys("random_fold_in", keys)
    if data.dtype != U32:
        raise TypeError(f"random_fold_in takes data of dtype uint32, got {data.dtype}")
    return ShapedArray(broadcasting_shape("random_fold_in", (keys, data)), keys.dtype)


random_fold_in_p = vectorised(
    _primitive("random_fold_in", _fold_in_kernel, _fold_in_abstract, facts=frozenset({ELEMENTWISE}))
)


def _bits_kernel(keys, *, bit_width, shape, partitionable=True):
    impl = _impl_of(keys)
    return impl.random_bits(_words_of(keys, impl), bit_width, shape, partitionable)


def _bits_abstract(keys, *, bit_width, shape, partitionable=True):
    _check_keys("random_bits", keys)
    _check_constant("random_bits", shape)
    if bit_width not in UNSIGNED:
        raise TypeError(f"random_bits makes numbers of 8, 16, 32 or 64 bits, not {bit_width}")
    return ShapedArray((*keys.shape, *shape), UNSIGNED[bit_width])


random_bits_p = _unary_batch(_primitive("random_bits", _bits_kernel, _bits_abstract, pretty=_pretty))

# ---- threefry2x32


def _threefry_abstract(k0, k1, c0, c1):
    operands = (k0, k1, c0, c1)
    if any(x.dtype != U32 for x in operands):
        raise TypeError(
            f"Arguments to threefry2x32 must have uint32 type, got {', '.join(str(x.dtype) for x in operands)}"
        )
    shape = broadcasting_shape("threefry2x32", operands)
    return [ShapedArray(shape, U32), ShapedArray(shape, U32)]


threefry2x32_p = vectorised(_primitive("threefry2x32", threefry.blocks, _threefry_abstract, multiple_results=True))
_batch_one = threefry2x32_p.batch


def _threefry_batch(axis_data, operands, mapped):
    out, dim = _batch_one(axis_data, operands, mapped)
    return out, [dim, dim]


threefry2x32_p.batch = _threefry_batch
