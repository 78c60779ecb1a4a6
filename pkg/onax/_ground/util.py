"""Small pure functions that many modules use."""


def unzip2(pairs):
    """Two tuples from an iterable of pairs."""
    firsts, seconds = [], []
    for a, b in pairs:
        firsts.append(a)
        seconds.append(b)
    return tuple(firsts), tuple(seconds)


def split_list(items, sizes):
    """Splits a list into consecutive parts of the given sizes and the rest."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(items[start : start + size]))
        start += size
    parts.append(list(items[start:]))
    return parts


def partition_list(flags, items):
    """Splits a list into the items whose flag is false and those whose flag is true, in order."""
    if len(flags) != len(items):
        raise ValueError(f"{len(flags)} flags for {len(items)} items")
    parts = ([], [])
    for flag, item in zip(flags, items):
        parts[bool(flag)].append(item)
    return parts


def merge_lists(flags, false_items, true_items):
    """The inverse of `partition_list`."""
    sources = (iter(false_items), iter(true_items))
    return [next(sources[bool(flag)]) for flag in flags]


def subvals(items, replacements):
    """The items as a tuple, those at the given indices replaced; `replacements` holds (index, value)."""
    changed = list(items)
    for index, value in replacements:
        changed[index] = value
    return tuple(changed)


def tuple_insert(items, index, value):
    """The tuple with a value inserted before the index."""
    return (*items[:index], value, *items[index:])


def tuple_delete(items, index):
    """The tuple without the item at the index."""
    return (*items[:index], *items[index + 1 :])


def canonicalize_axis(axis, ndim):
    """The axis as a number from 0 to ndim - 1; raises ValueError if it is out of bounds.

    `axis` may be anything with `__index__`.
    """
    index = axis.__index__()
    if not -ndim <= index < ndim:
        raise ValueError(f"axis {index} is out of bounds for array of dimension {ndim}")
    return index + ndim if index < 0 else index


def canonicalize_axes(axes, ndim):
    """A tuple of distinct axes from None (all), one axis or several; raises ValueError for repeated ones."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list)):
        return (canonicalize_axis(axes, ndim),)
    result = tuple(canonicalize_axis(a, ndim) for a in axes)
    if len(set(result)) != len(result):
        raise ValueError(f"duplicate value in 'axis': {tuple(axes)}")
    return result


def function_name(function):
    """A name for a callable, for messages and jaxprs: its `__name__`, else that of what it wraps, else its type's."""
    for _ in range(10):
        try:
            return function.__name__
        except AttributeError:
            inner = getattr(function, "func", None)  # functools.partial of any depth
            if inner is None:
                break
            function = inner
    return type(function).__name__


def wraps(wrapped, name=None, doc=None):
    """Gives a function the name, docstring and module of another one; missing ones are left alone."""

    def apply(function):
        for attribute in ("__module__", "__doc__", "__dict__"):
            try:
                value = getattr(wrapped, attribute)
            except AttributeError:
                continue
            if attribute == "__dict__":
                function.__dict__.update(value)
            else:
                setattr(function, attribute, value)
        function.__name__ = function_name(wrapped) if name is None else name.format(fun=function_name(wrapped))
        function.__qualname__ = getattr(wrapped, "__qualname__", function.__name__)
        if doc is not None:
            function.__doc__ = doc.format(fun=function_name(wrapped), doc=wrapped.__doc__ or "")
        function.__wrapped__ = wrapped
        return function

    return apply


def concatenate(lists):
    """One list of the items of all."""
    return [item for items in lists for item in items]


def first_duplicate(items):
    """The first item that occurred before, or None."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def ordinal(n):
    """1st, 2nd, 3rd, 4th, 11th, ..."""
    if n % 100 in (11, 12, 13):
        return f"{n}th"
    return f"{n}{({1: 'st', 2: 'nd', 3: 'rd'}).get(n % 10, 'th')}"
