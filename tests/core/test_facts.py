"""Facts: each is read by somebody, and primitives have no others."""

import re
from pathlib import Path

import pytest

from onax import primitives
from onax._core import facts

ROOT = Path(__file__).resolve().parents[2]


def sources():
    """The text of every module that may read a fact: of the package, of its compiled part and of the laws."""
    for folder, pattern in (("pkg", "*.py"), ("export", "*.py"), ("cython_src", "*.pyx"), ("tests/laws", "*.py")):
        yield from (path.read_text() for path in (ROOT / folder).rglob(pattern))


@pytest.mark.parametrize("name", facts.__all__)
def test_every_fact_is_read(name):
    assert any(re.search(rf"\b{name} (not )?in [\w.]*_?facts\b", text) for text in sources())


def test_primitives_have_no_other_facts():
    primitives.import_everything()
    known = {getattr(facts, name) for name in facts.__all__}
    assert {fact for p in primitives.definitions() for fact in p.facts} <= known
