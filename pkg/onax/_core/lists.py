"""Lists taken apart and put together by counts and by flags, under the names that JAX gives these functions."""


def split_list(values, sizes):
    """Consecutive parts of these sizes, and one more part of what is left."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(values[start : start + size]))
        start += size
    return [*parts, list(values[start:])]


def select(values, flags):
    """The values whose flag holds."""
    return [v for v, flag in zip(values, flags) if flag]


def reject(values, flags):
    """The values whose flag does not hold."""
    return [v for v, flag in zip(values, flags) if not flag]


def partition_list(flags, values):
    """(the values whose flag does not hold, those whose flag holds)."""
    return reject(values, flags), select(values, flags)


def merge_lists(flags, if_false, if_true):
    """One list of both, in the order that the flags state: the inverse of `partition_list`."""
    if_false, if_true = iter(if_false), iter(if_true)
    return [next(if_true) if flag else next(if_false) for flag in flags]


def insert_bounded(table, key, value, at_most=4096):
    """Stores a value in a dictionary of bounded size; the oldest entry is evicted."""
    if len(table) >= at_most:
        del table[next(iter(table))]
    table[key] = value
    return value
