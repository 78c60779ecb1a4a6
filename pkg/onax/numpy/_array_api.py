"""What the Python array API standard asks a namespace about itself: version, capabilities, devices and dtypes."""

import numpy as np

from onax._ground import devices as onax_devices
from onax._ground import dtypes
from onax._ground.source import api_class

__array_api_version__ = "2024.12"

_MAX_DIMENSIONS = 64  # NumPy's own limit
_BITS = {"i": (8, 16, 32, 64), "u": (8, 16, 32, 64), "f": (32, 64), "c": (64, 128)}
_DTYPES = {code: tuple(np.dtype(f"{code}{bits // 8}") for bits in widths) for code, widths in _BITS.items()}
_DTYPES["b"] = (np.dtype(bool),)
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
    None: "biufc",
}


@api_class
class ArrayNamespaceInfo:
    """The inspection functions of the array API standard; `jnp.__array_namespace_info__()` returns one."""

    def capabilities(self):
        """What the namespace can do that the standard leaves open: a dict of names to bool or int.

        Shapes that depend on data, and boolean indexing with them, work outside of `jit` only, hence False.
        """
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": _MAX_DIMENSIONS}

    def default_device(self):
        """None: new arrays lie on the default device without being committed to it."""
        return None

    def devices(self):
        """None, for arrays that are committed to no device, and the devices of the default backend, as a list."""
        return [None, *onax_devices.devices()]

    def default_dtypes(self, *, device=None):
        """The dtypes of results for which none is specified, by kind; they depend on `jax_enable_x64`.

        Args:
            device: Every device has the same dtypes, so it is ignored.

        Returns:
            A dict of the standard's four kinds to `numpy.dtype`.
        """
        del device
        defaults = {"real floating": np.float64, "complex floating": np.complex128, "integral": np.int64}
        defaults["indexing"] = np.int64
        return {kind: dtypes.canonicalize_dtype(dtype) for kind, dtype in defaults.items()}

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of the standard that arrays can have; those of 64 bits only while `jax_enable_x64` is on.

        Args:
            device: Every device has the same dtypes, so it is ignored.
            kind: A kind as in `isdtype` (`"integral"`, ...), a tuple of kinds (their union), or None for all.

        Returns:
            A dict of names to `numpy.dtype`.

        Raises:
            KeyError: The kind is none of the standard's.
        """
        del device
        codes = "".join(_KINDS[one] for one in (kind if isinstance(kind, tuple) else (kind,)))
        every = [dtype for code, group in _DTYPES.items() if code in codes for dtype in group]
        return {dtype.name: dtype for dtype in every if dtypes.canonicalize_dtype(dtype) == dtype}


def __array_namespace_info__():
    """The inspection functions of the array API standard.

    Returns:
        An object with the methods `capabilities`, `default_device`, `devices`, `default_dtypes` and `dtypes`.

    Examples:
        >>> from onax import numpy as jnp
        >>> list(jnp.__array_namespace_info__().dtypes(kind="real floating"))
        ['float32']
    """
    return ArrayNamespaceInfo()
