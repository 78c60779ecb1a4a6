"""Random number generators: seeding, splitting and drawing bits, as functions of key data.

threefry2x32   keys of two words; counters go through Threefry-2x32
rbg            keys of four words; bits come from Philox-4x32, split and fold_in are Threefry's on each half of a key
unsafe_rbg     the same keys and bits; split and fold_in take every tenth block of Philox, which has not been proved
sound
"""

from functools import partial

import numpy as np

from onax._ground import dtypes
from onax._native import philox, threefry

U32 = np.dtype(np.uint32)
UNSIGNED = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: U32, 64: np.dtype(np.uint64)}


class PRNGImpl:
    """A random number generator: the shape of its keys, kernels, and functions of key data.

    seed_kernel(integers) -> key data                         one key for each integer
    split_kernel(key_data, shape, partitionable) -> key data  keys.shape + shape
    fold_in_kernel(key_data, data) -> key data                data is uint32 of the keys' shape; either may be a scalar
    bits_kernel(key_data, bit_width, shape, partitionable) -> unsigned integers of keys.shape + shape

    Key data are ndarrays of uint32 with the key's axes last; `partitionable` selects the layout of counters.
    `split_each` and `bits_each` split and draw from every key separately; they differ from the kernels for generators
    whose mapped functions draw for all keys from the first one.

    `seed`, `split`, `random_bits` and `fold_in` are the same as functions of arrays, traced ones too, for one key each:
    those in `functions` of a user's generator (`onax.extend.random.define_prng_impl`), or those of `on_key_data`.
    """

    __slots__ = (
        "bits_each", "bits_kernel", "fold_in_kernel", "functions", "key_shape", "name", "seed_kernel", "split_each",
        "split_kernel", "tag",
    )  # fmt: skip

    def __init__(
        self, key_shape, seed, split, random_bits, fold_in, name, tag,
        *, split_each=None, bits_each=None, functions=None,
    ):  # fmt: skip
        self.key_shape = key_shape
        self.seed_kernel = seed
        self.split_kernel = split
        self.bits_kernel = random_bits
        self.fold_in_kernel = fold_in
        self.name = name
        self.tag = tag
        self.split_each = split if split_each is None else split_each
        self.bits_each = random_bits if bits_each is None else bits_each
        self.functions = functions

    seed = property(lambda self: self._function("seed"))
    split = property(lambda self: self._function("split"))
    random_bits = property(lambda self: self._function("random_bits"))
    fold_in = property(lambda self: self._function("fold_in"))

    def _function(self, name):
        return self.functions[name] if self.functions else partial(on_key_data[name], self)

    def __str__(self):
        return self.tag

    def __repr__(self):
        shown = ("key_shape", "seed", "split", "random_bits", "fold_in", "name", "tag")
        functions = {**on_key_data, **(self.functions or {})}
        return f"PRNGImpl({', '.join(f'{n}={functions.get(n) or getattr(self, n)!r}' for n in shown)})"

    def __reduce__(self):
        return find_impl, (self.name,)


class PRNGSpec(PRNGImpl):
    """A generator of the user's, which is what `key_impl` gives for its keys."""

    __slots__ = ()

    def __repr__(self):
        return f"PRNGSpec({self.name!r})"


on_key_data: dict = {}  # the functions (impl, ...) of arrays of key data, by their names; `random.py` defines them
_IMPLS: dict = {}
_KEY_DTYPES: dict = {}


def register_impl(impl):
    """Registers a generator under its name."""
    _IMPLS[impl.name] = impl


def find_impl(name):
    """The generator registered under a name; raises ValueError if there is none."""
    impl = _IMPLS.get(name)
    if impl is None:
        known = ", ".join(f'"{n}"' for n in _IMPLS)
        raise ValueError(f'unrecognized PRNG implementation "{name}". Did you mean one of: {known}?')
    return impl


def key_dtype(impl):
    """The dtype of a generator's keys."""
    result = _KEY_DTYPES.get(impl)
    if result is None:
        result = _KEY_DTYPES[impl] = dtypes.KeyType(impl)
    return result


# ---- threefry2x32


def _threefry_seed(integers):
    low = integers.astype(U32)
    wide = integers.dtype.itemsize == 8
    high = (integers.astype(np.uint64) >> np.uint64(32)).astype(U32) if wide else np.zeros_like(low)
    return np.stack([high, low], -1)


def _threefry_split(key_data, shape, partitionable):
    size = int(np.prod(shape))
    if partitionable:
        out = threefry.random_bits_partitionable(key_data, size, 0)
    else:
        out = threefry.random_bits_original(key_data, 2 * size)
    return out.reshape((*key_data.shape[:-1], *shape, 2))


def _threefry_fold_in(key_data, data):
    return np.stack(threefry.threefry2x32(key_data[..., 0], key_data[..., 1], U32.type(0), data), -1)


def _threefry_bits_original(key_data, bit_width, size):
    """Draws unsigned integers: 64-bit ones from two words, narrow ones from parts of a word, lowest first."""
    out = threefry.random_bits_original(key_data, -(-bit_width * size // 32))
    if bit_width == 64:
        high, low = out[:, :size].astype(np.uint64), out[:, size:].astype(np.uint64)
        return high << np.uint64(32) | low
    if bit_width < 32:
        out = out.astype("<u4").view(f"<u{bit_width // 8}")[:, :size]
    return out.astype(UNSIGNED[bit_width], copy=False)


def _threefry_random_bits(key_data, bit_width, shape, partitionable):
    size = int(np.prod(shape))
    if partitionable:
        out = threefry.random_bits_partitionable(key_data, size, bit_width)
    else:
        out = _threefry_bits_original(key_data, bit_width, size)
    return out.reshape((*key_data.shape[:-1], *shape))


threefry_impl = PRNGImpl(
    key_shape=(2,),
    seed=_threefry_seed,
    split=_threefry_split,
    random_bits=_threefry_random_bits,
    fold_in=_threefry_fold_in,
    name="threefry2x32",
    tag="fry",
)

# ---- rbg and unsafe_rbg
#
# In JAX the mapped form of these functions draws the bits of all examples from the first key.  The functions here do
# the same for arrays of keys.

_BLOCK_STRIDE = 10  # Philox blocks between one new key of unsafe_rbg and the next


def philox_bits(state, bit_width, size):
    """Draws `size` unsigned integers from a state: each takes the lower bits of one word, or two words if 64 bits
    wide."""
    words = philox.philox4x32(state, -(-size * max(bit_width, 32) // 128)).reshape(-1)
    if bit_width == 64:
        pairs = words[: 2 * size].astype(np.uint64).reshape(-1, 2)
        return pairs[:, 0] | pairs[:, 1] << np.uint64(32)
    return words[:size].astype(UNSIGNED[bit_width], copy=False)


def _first_key(key_data):
    """The first key of an array; zeros if it is empty, in which case nothing is drawn."""
    flat = key_data.reshape(-1, 4)
    return flat[0] if len(flat) else np.zeros(4, U32)


def _rbg_seed(integers):
    half = _threefry_seed(integers)
    return np.concatenate([half, half], -1)


def _halves(key_data):
    return key_data.reshape((*key_data.shape[:-1], 2, 2))


def _rbg_split(key_data, shape, partitionable):
    out = _threefry_split(_halves(key_data), shape, partitionable)
    lead = key_data.ndim - 1
    return np.moveaxis(out, lead, -2).reshape((*key_data.shape[:-1], *shape, 4))


def _rbg_fold_in(key_data, data):
    out = _threefry_fold_in(_halves(key_data), np.asarray(data)[..., None])
    return out.reshape((*out.shape[:-2], 4))


def _rbg_bits(key_data, bit_width, shape, partitionable):
    shape = (*key_data.shape[:-1], *shape)
    return philox_bits(_first_key(key_data), bit_width, int(np.prod(shape))).reshape(shape)


def _rbg_bits_each(key_data, bit_width, shape, partitionable):
    size = int(np.prod(shape))
    flat = key_data.reshape(-1, 4)
    drawn = [philox_bits(key, bit_width, size) for key in flat]
    out = np.stack(drawn) if drawn else np.empty((0, size), UNSIGNED[bit_width])
    return out.reshape((*key_data.shape[:-1], *shape))


def _unsafe_split(key_data, shape, partitionable):
    shape = (*key_data.shape[:-1], *shape)
    size = int(np.prod(shape))
    return philox.philox4x32(_first_key(key_data), _BLOCK_STRIDE * size)[::_BLOCK_STRIDE].reshape((*shape, 4))


def _unsafe_split_each(key_data, shape, partitionable):
    flat = key_data.reshape(-1, 4)
    new = [_unsafe_split(key, shape, partitionable) for key in flat]
    return (
        np.stack(new).reshape((*key_data.shape[:-1], *shape, 4))
        if new
        else np.empty((*key_data.shape[:-1], *shape, 4), U32)
    )


def _unsafe_fold_in(key_data, data):
    data = np.asarray(data)
    seeds = _rbg_seed(data.reshape(-1)[:1] if data.size else np.zeros(1, U32))
    blocks = philox.philox4x32(seeds[0], _BLOCK_STRIDE * data.size)[_BLOCK_STRIDE - 1 :: _BLOCK_STRIDE]
    return key_data ^ blocks.reshape((*data.shape, 4))


def _rbg_impl(name, tag, split, fold_in, **each):
    return PRNGImpl((4,), _rbg_seed, split, _rbg_bits, fold_in, name, tag, bits_each=_rbg_bits_each, **each)


rbg_impl = _rbg_impl("rbg", "rbg", _rbg_split, _rbg_fold_in)
unsafe_rbg_impl = _rbg_impl("unsafe_rbg", "urbg", _unsafe_split, _unsafe_fold_in, split_each=_unsafe_split_each)

for _impl in (threefry_impl, rbg_impl, unsafe_rbg_impl):
    register_impl(_impl)
