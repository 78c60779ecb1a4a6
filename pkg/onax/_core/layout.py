"""Layouts of arrays in memory, which are row-major here, formats (a layout and a sharding), and kinds of memory."""

import enum

from onax._core.sharding import NamedSharding, Sharding, SingleDeviceSharding
from onax._native.array import ArrayImpl, install_method


class MemorySpace(enum.Enum):
    """A kind of memory: that of the device, or of the host beside it.  Here a device has one memory, which is both."""

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self):
        return f"MemorySpace.{self.name}"


class _Auto:
    """A layout that the compiler may choose."""

    def __repr__(self):
        return "AUTO"


class Layout:
    """The order of the dimensions of an array in memory, and tiles within it.

    Args:
      major_to_minor: the dimensions, the one that varies slowest first.
      tiling: tuples of sizes, or None.
      sub_byte_element_size_in_bits: the size of elements that share bytes; 0 for others.

    Examples:
      >>> from onax.experimental.layout import Layout
      >>> Layout((0, 1)).major_to_minor
      (0, 1)
    """

    __slots__ = ("major_to_minor", "sub_byte_element_size_in_bits", "tiling")
    AUTO = _Auto()

    def __init__(self, major_to_minor, tiling=None, sub_byte_element_size_in_bits=0):
        self.major_to_minor = tuple(major_to_minor)
        self.tiling = None if tiling is None else tuple(map(tuple, tiling))
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits

    def _key(self):
        return self.major_to_minor, self.tiling, self.sub_byte_element_size_in_bits

    def update(self, **changes):
        """A copy with some fields replaced."""
        return Layout(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    def check_compatible_aval(self, shape):
        """ValueError unless the layout has as many dimensions as the shape."""
        if len(self.major_to_minor) != len(shape):
            raise ValueError(
                "Length of major_to_minor and the rank of the value should match. Got "
                f"major_to_minor={self.major_to_minor} and shape={tuple(shape)}"
            )

    def check_row_major(self, shape):
        """ValueError if the ranks differ, NotImplementedError for any order but that of rows."""
        self.check_compatible_aval(shape)
        if self.major_to_minor != tuple(range(len(shape))) or self.tiling:
            raise NotImplementedError(f"arrays lie in memory row by row; {self} was asked for")

    def __eq__(self, other):
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (
            f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
            f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})"
        )


class Format:
    """A layout and a sharding.

    Args:
      layout: a Layout, or None.
      sharding: a Sharding, or None; an explicit layout needs one.

    Raises:
      ValueError: there is a layout without a sharding.
      TypeError: an argument is of another type.

    Examples:
      >>> from onax.experimental.layout import Format, Layout
      >>> device = onax.sharding.SingleDeviceSharding(onax.devices()[0])
      >>> Format(Layout((0, 1)), device).layout.major_to_minor
      (0, 1)
    """

    __slots__ = ("layout", "sharding")

    def __init__(self, layout=None, sharding=None):
        if not (layout is None or isinstance(layout, (Layout, _Auto))):
            raise TypeError(
                "Invalid value received for the layout argument. Expected values are `None`, `Layout.AUTO` or an "
                f"instance of `Layout`. Got {layout} of type {type(layout)}"
            )
        if not (sharding is None or isinstance(sharding, Sharding)):
            raise TypeError(f"the sharding of a Format is None or a Sharding; got {sharding!r}")
        if isinstance(layout, Layout) and not isinstance(sharding, (NamedSharding, SingleDeviceSharding)):
            raise ValueError(
                f"Sharding has to be concrete when layout is of type {Layout}. Please pass a NamedSharding or "
                f"SingleDeviceSharding to the sharding argument. Got sharding {sharding}"
            )
        self.layout = layout
        self.sharding = sharding

    def __eq__(self, other):
        return isinstance(other, Format) and (self.layout, self.sharding) == (other.layout, other.sharding)

    def __hash__(self):
        return hash((self.layout, self.sharding))

    def __repr__(self):
        return f"Format(layout={self.layout}, sharding={self.sharding})"

    def sharding_for(self, shape):
        """The sharding, for an array of this shape.

        Raises ValueError for a layout that is left to a compiler, and what `Layout.check_row_major` raises.
        """
        if self.layout is Layout.AUTO:
            raise ValueError(f"sharding and layout in `Layout` instance should be concrete. Got layout: {self}")
        if self.layout is not None:
            self.layout.check_row_major(shape)
        return self.sharding


def array_format(x):
    """The format of an array: row by row, on its devices."""
    return Format(Layout(range(x.ndim), ()), x.sharding)


install_method(ArrayImpl, "format", property(array_format))
