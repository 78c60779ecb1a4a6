"""A notebook shows small arrays as tables; tracers, keys and large arrays as text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp


class _Cells(HTMLParser):
    """The cells of a table: [(tag, class, share, text)]."""

    def __init__(self, text):
        super().__init__()
        self.found, self._open = [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._open = (tag, given.get("class"), given.get("style")) if tag in ("td", "th", "caption") else None

    def handle_data(self, data):
        if self._open and data.strip():
            self.found.append((*self._open, data))
            self._open = None

    def texts(self, tag):
        return [text for found, *_, text in self.found if found == tag]


def html_of(value):
    bundle = value._repr_mimebundle_(include=None, exclude=None)
    assert bundle is None or bundle["text/plain"] == repr(value)
    return bundle and bundle["text/html"]


def test_libraries_find_no_html_where_jax_has_none():
    assert not hasattr(jnp.ones(3), "_repr_html_")


def test_a_matrix_has_numbered_rows_and_columns():
    cells = _Cells(html_of(jnp.array([[-1.0, 0.5], [0.25, 2.0]])))
    assert cells.texts("caption") == ["float32[2, 2]"]
    assert cells.texts("th") == ["0", "1", "0", "1"]
    assert cells.texts("td") == ["-1", "0.5", "0.25", "2"]
    shares = [(kind, style) for tag, kind, style, _ in cells.found if tag == "td"]
    assert shares == [("negative", "--share: 50"), ("positive", "--share: 25"), ("positive", "--share: 12"),
                      ("positive", "--share: 100")]  # fmt: skip


@pytest.mark.parametrize(
    "array, texts",
    [
        (np.array([1, -300], np.int16), ["1", "-300"]),
        (np.array([True, False]), ["True", "False"]),
        (np.array([np.nan, np.inf, 1e-20], np.float32), ["nan", "inf", "1e-20"]),
        (np.array([1 + 2j, -0.5j], np.complex64), ["1+2j", "-0-0.5j"]),
        (np.array([0.0, 1234567.0]), ["0", "1.235e+06"]),
    ],
)
def test_elements(array, texts):
    cells = _Cells(html_of(jnp.asarray(array)))
    assert cells.texts("td") == texts
    assert len(cells.texts("th")) == array.size


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "uint8"])
def test_narrow_dtypes(dtype):
    cells = _Cells(html_of(jnp.array([1, 2], dtype)))
    assert cells.texts("td") == ["1", "2"] and cells.texts("caption") == [f"{dtype}[2]"]


def test_weak_types_are_named():
    assert "weakly typed float32[3]" in html_of(jnp.broadcast_to(1.0, (3,)))


def test_what_is_shown_as_text():
    deleted = jnp.ones(3)
    deleted.delete()
    for value in (jnp.float32(1), jnp.ones(401), jnp.ones((2, 41)), jnp.ones((2, 2, 2)), jnp.ones((0, 3)), deleted):
        assert html_of(value) is None
    shown = []
    jax.make_jaxpr(lambda x: shown.append(html_of(x)))(jnp.ones(3))
    jax.vmap(lambda x: shown.append(html_of(x)))(jnp.ones((3, 3)))
    jax.grad(lambda x: (shown.append(html_of(x)), x.sum())[1])(jnp.ones(3))
    assert shown == [None, None, None]


def test_an_array_on_several_devices():
    mesh = jax.make_mesh((1,), ("x",))
    spread = jax.device_put(jnp.arange(4.0), jax.NamedSharding(mesh, jax.P("x")))
    assert len(re.findall("<td", html_of(spread))) == 4
