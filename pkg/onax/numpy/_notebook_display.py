"""What a notebook shows of an array: a table of its elements, if they are few."""

import numpy as np

from onax._core.trace import Tracer
from onax._ground import dtypes
from onax._pages import render_page

MOST_ELEMENTS, MOST_COLUMNS = 400, 40


def array_mimebundle(self, include=None, exclude=None):
    """What a notebook shows of a small array: {type: text}, or None for others, which it shows as text.

    JAX's arrays have no `_repr_html_`, and libraries that print trees look for it, so arrays have this method instead.
    """
    html = _array_html(self)
    return None if html is None else {"text/plain": repr(self), "text/html": html}


def _array_html(self):
    """The array as an HTML table under its type; None, so that a notebook prints its text, for larger arrays.

    Arrays of one and two axes are shown that have at most 400 elements and 40 columns and whose elements are numbers
    on this process; the colour of a number's cell grows with its distance from 0.

    Returns:
      A string, or None.
    """
    if isinstance(self, Tracer):
        return None
    if not 1 <= self.ndim <= 2 or not 0 < self.size <= MOST_ELEMENTS or self.shape[-1] > MOST_COLUMNS:
        return None
    if dtypes.is_extended(self.dtype) or self.is_deleted() or not self.is_fully_addressable:
        return None
    table = np.atleast_2d(np.asarray(self))
    texts = [[_element_text(element) for element in row] for row in table]
    rows = list(zip(_signed_shares(table), texts))
    kind = f"{'weakly typed ' if self.weak_type else ''}{self.dtype.name}[{', '.join(map(str, self.shape))}]"
    cells = [[{"text": text, "share": share} for share, text in zip(*row)] for row in rows]
    return render_page("array.html", kind=kind, rows=cells, numbered=self.ndim == 2)


def _element_text(element):
    if element.dtype.kind in "fcV":
        return format(element.item() if element.dtype.kind != "V" else float(element), ".4g")
    return str(element)


def _signed_shares(table):
    """Each element's value over the greatest magnitude, in percent; 0 where it has no sign or is not finite."""
    if table.dtype.kind in "bc":
        return np.zeros(table.shape, int)
    values = table.astype(np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    most = np.abs(values).max()
    return np.round(100 * values / most).astype(int) if most else np.zeros(table.shape, int)
