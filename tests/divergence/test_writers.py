"""The report as text, as a document and as a page, in a real browser: filters, heat maps, its width on a phone."""

import struct
from pathlib import Path

import pytest

from divergence.browser import BROWSER, Page
from divergence.reports import whole
from onax._divergence import cli, writers

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine: the page was not looked at")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The page of three families on two backends, one result falsified so that there is a departure to find."""
    made = cli.make_report("eager,onnx-cpu", "casts,division,lists")
    row = next(r for r in made.families[1].rows if r.title == "lax.div")
    object.__setattr__(row.results["onnx-cpu"], "verdict", "departs")
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(writers.to_html(made))
    return path.as_uri()


def choose(browser, name, value):
    browser.run(
        f"(() => {{ const e = document.forms.filters['{name}']; e.value = '{value}';"
        " e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def sections(browser):
    return browser.run("[...document.querySelectorAll('section')].map(s => s.id)")


@in_a_browser
def test_it_opens_with_a_summary_and_folded_tables(url, tmp_path):
    with Page(url, tmp_path / "profile") as browser:
        assert browser.run("document.querySelector('main').firstElementChild.querySelector('table').id") == "summary"
        lines = browser.run(
            "[...document.querySelectorAll('#summary tr')].map(r => [...r.children].map(c => c.textContent))"
        )
        assert lines[0] == ["family", "cases", "NumPy differs", "eager", "onnx-cpu"]  # they differ in one family
        assert [line[3:] for line in lines[1:]] == [
            ["as documented", text] for text in ("as documented", "1 depart", "as documented")
        ]
        assert int(lines[1][1]) == 169 > int(lines[1][2]) > 0
        assert browser.run("document.querySelectorAll('.rows').length") == 0
        browser.run("document.querySelector('#summary a').click()")
        browser.run("new Promise(done => setTimeout(done, 50))")
        assert browser.run("document.getElementById('casts').querySelector('details').open")
        assert browser.run("document.querySelectorAll('#casts .rows').length") == 1


@in_a_browser
def test_backends_that_agree_share_a_column(url, tmp_path):
    heads = "[...document.querySelectorAll('.rows th')].slice(5).map(t => t.textContent)"
    with Page(url + "#family=lists", tmp_path / "profile") as browser:
        assert browser.run(heads) == ["eager, onnx-cpu"]
        choose(browser, "family", "division")
        assert browser.run(heads) == ["eager", "onnx-cpu"]


@in_a_browser
def test_filters(url, tmp_path):
    with Page(url, tmp_path / "profile") as browser:
        assert sections(browser) == ["casts", "division", "lists"]
        choose(browser, "family", "casts")
        assert sections(browser) == ["casts"]
        assert browser.run("document.querySelectorAll('.heat td').length") == 169
        assert browser.run("document.querySelectorAll('.heat td.other').length") > 0
        choose(browser, "family", "")
        choose(browser, "verdict", "departs")
        assert sections(browser) == ["division"]
        assert browser.run("document.querySelectorAll('.rows td.bad').length") == 1
        assert "1 depart" in browser.run("document.getElementById('count').textContent")
        choose(browser, "backend", "eager")
        assert sections(browser) == []
        choose(browser, "verdict", "")
        choose(browser, "text", "uint8 remainder")
        assert browser.run("[...document.querySelectorAll('.rows tbody tr')].length") == 1
        assert "text=uint8" in browser.run("location.hash")


@in_a_browser
def test_a_link_keeps_its_filters(url, tmp_path):
    with Page(url + "#family=lists", tmp_path / "profile") as browser:
        assert sections(browser) == ["lists"]


@in_a_browser
def test_all_rows_can_be_reached(url, tmp_path):
    with Page(url + "#family=casts", tmp_path / "profile") as browser:
        browser.run("(() => { let b; while (b = document.querySelector('section button')) b.click(); })()")
        assert browser.run("document.querySelectorAll('.rows tbody tr').length") == 169


@in_a_browser
def test_it_fits_a_phone(url, tmp_path):
    with Page(url + "#family=casts", tmp_path / "profile", width=390, height=844) as browser:
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.run("getComputedStyle(document.querySelector('.rows thead')).display") == "none"
        picture = browser.screenshot()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) == (390, 844)
    assert len(picture) > 10_000  # not blank


HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "divergences.md"


def test_the_document_is_what_the_report_says():
    """Cells that NumPy leaves undefined depend on the processor: rows of the table of casts are left out."""

    def stable(text):
        head, _, rest = text.partition("## Casts that lose the value")
        rows = [line for line in rest.split("\n## ", 1)[-1].splitlines() if "| [Casts" not in line]
        return [line for line in head.splitlines() if "| [Casts" not in line] + rows

    assert stable(DOCUMENT.read_text()) == stable(writers.to_markdown(whole())), "run `make tables`"


def test_text_fits_a_terminal():
    assert max(map(len, writers.to_text(whole()).splitlines())) <= 100
    assert "\033[" not in writers.to_text(whole())
    assert "\033[" in writers.to_text(whole(), colour=True)
