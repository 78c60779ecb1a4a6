"""Pages from templates: values are escaped, a missing one is an error, and an installed package has the templates."""

import ast
import json
import re
from fnmatch import fnmatch
from pathlib import Path

import jinja2
import pytest

from onax._divergence import report, writers
from onax._pages import render_page

ROOT = Path(__file__).parents[2]


def test_values_are_escaped():
    page = render_page("drawing.html", title="<b> & co", svg="<svg></svg>")
    assert page.count("&lt;b&gt; &amp; co") == 2 and "<b>" not in page
    assert "<svg></svg>" in page


def test_data_cannot_end_its_script():
    reason = 'no "device" here: </script><script>alert(1)'
    made = report.Report("0.1", {"jit": "a backend", "eager": "another"}, {"onnx-cuda": reason}, [])
    page = writers.to_html(made)
    assert page.count("<script") == page.count("</script>") == 2
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert json.loads(data) == writers.to_data(made)
    assert list(json.loads(data)["backends"]) == ["jit", "eager"]  # the order that the page shows


def test_a_missing_value_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="svg"):
        render_page("drawing.html", title="no picture")


def test_the_templates_are_packaged():
    """setup.py names every template; `.ci/run` writes a page with a regular installation."""
    calls = [node for node in ast.walk(ast.parse((ROOT / "setup.py").read_text())) if isinstance(node, ast.keyword)]
    (patterns,) = [ast.literal_eval(call.value)["onax._pages"] for call in calls if call.arg == "package_data"]
    templates = {p.name for p in (ROOT / "pkg" / "onax" / "_pages").iterdir() if p.is_file() and p.suffix != ".py"}
    assert templates == {name for name in templates if any(fnmatch(name, pattern) for pattern in patterns)} != set()
