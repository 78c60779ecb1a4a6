"""Shows shardings of arrays: `inspect_array_sharding`, `visualize_sharding`, `visualize_array_sharding`."""

import shutil
import sys
from collections.abc import Sequence
from typing import Any

from onax._control.callbacks import debug_callback
from onax._core.trace import Tracer, as_array
from onax._ground.typing import AnyFunction
from onax._transforms.batching import BatchTracer
from onax._transforms.jvp import JVPTracer


def inspect_array_sharding(value: Any, *, callback: AnyFunction) -> None:
    """Calls a function with the sharding of an array.

    Within `jit` it is called each time the program runs, with that of one device: values inside of a compiled function
    lie on one device.

    Args:
      value: an array.
      callback: a function of a Sharding.

    Returns:
      None.

    Examples:
      >>> onax.debug.inspect_array_sharding(jnp.ones(2), callback=lambda s: print(s.is_fully_replicated))
      True
    """
    while isinstance(value, (BatchTracer, JVPTracer)):
        value = value.val if isinstance(value, BatchTracer) else value.primal
    if isinstance(value, Tracer):
        debug_callback(lambda x: callback(x.sharding), value)
    else:
        callback(as_array(value).sharding)


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Prints which device holds which part of an array.

    Args:
      arr: an array of rank 1 or 2.
      kwargs: options of `visualize_sharding`.

    Returns:
      None.

    Examples:
      >>> onax.debug.visualize_array_sharding(jnp.ones(2), use_color=False, max_width=9)
      ┌───────┐
      │ CPU 0 │
      └───────┘
    """
    inspect_array_sharding(arr, callback=lambda sharding: visualize_sharding(arr.shape, sharding, **kwargs))


_COLORS = (41, 42, 43, 44, 45, 46, 100, 101, 102, 103, 104, 105)
_HEIGHT, _LETTER = 10, 2.5  # lines of a square array; the ratio of a letter's height to its width


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Prints a table of the parts of an array, each with its devices, in the array's proportions.

    Args:
      shape: the shape of the array, of rank 1 or 2.
      sharding: a Sharding.
      use_color: True (the default): each part in a different colour, on a terminal.
      scale: how large the table is; default 1, 10 lines high.
      min_width: the least width of a part, in letters; default 9.
      max_width: the largest width of the table; default 80.
      color_map: None.

    Returns:
      None.

    Raises:
      ValueError: another rank.
      NotImplementedError: `color_map` is given.

    Examples:
      >>> sharding = jnp.ones(2).sharding
      >>> onax.debug.visualize_sharding((2,), sharding, use_color=False, max_width=9)
      ┌───────┐
      │ CPU 0 │
      └───────┘
    """
    if len(shape) not in (1, 2):
        raise ValueError("`visualize_sharding` only works for shapes with 1 and 2 dimensions.")
    if color_map is not None:
        raise NotImplementedError("visualize_sharding chooses its own colours: color_map must be None")
    table = _table(tuple(shape), sharding)
    lines = int(_HEIGHT * scale)
    ratio = shape[1] / shape[0] if len(shape) == 2 else 1 / shape[0]
    width = int(int(lines * ratio) * _LETTER / len(table[0]))
    available = (shutil.get_terminal_size().columns - 1) // len(table[0]) - 1
    width = min(max(width, min_width) - 2, max_width - 2, available)
    height = int(lines / len(table)) - 1 if len(shape) == 2 else 1
    print(_drawn(table, width, max(height, 1), use_color and sys.stdout.isatty()))


def _table(shape, sharding):
    """Rows of the texts of parts, in their order in the array."""
    parts = {}
    for device, index in sharding.devices_indices_map(shape).items():
        start = tuple(s.indices(n)[0] for s, n in zip(index, shape))
        parts.setdefault(start if len(shape) == 2 else (0, *start), []).append(device)
    rows, columns = sorted({r for r, _ in parts}), sorted({c for _, c in parts})
    return [[_text(parts[r, c]) for c in columns] for r in rows]


def _text(devices):
    return f"{devices[0].platform.upper()} {','.join(str(d.id) for d in sorted(devices, key=lambda d: d.id))}"


def _drawn(table, width, height, colored):
    widths = [max(width, *(len(row[i]) for row in table)) for i in range(len(table[0]))]
    rule = lambda left, middle, right: left + middle.join("─" * w for w in widths) + right
    order = {text: i for i, text in enumerate(sorted({text for row in table for text in row}))}
    lines = [rule("┌", "┬", "┐")]
    for i, row in enumerate(table):
        if i:
            lines.append(rule("├", "┼", "┤"))
        for k in range(height):
            cells = [_centered(text if k == (height - 1) // 2 else "", w) for text, w in zip(row, widths)]
            cells = [_colored(cell, order[text]) if colored else cell for cell, text in zip(cells, row)]
            lines.append("│" + "│".join(cells) + "│")
    return "\n".join([*lines, rule("└", "┴", "┘")])


def _centered(text, width):
    left = (width - len(text)) // 2
    return " " * left + text + " " * (width - len(text) - left)


def _colored(text, number):
    return f"\x1b[30;{_COLORS[number % len(_COLORS)]}m{text}\x1b[0m"


__all__ = ["inspect_array_sharding", "visualize_array_sharding", "visualize_sharding"]
