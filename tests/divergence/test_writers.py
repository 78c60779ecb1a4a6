"""The report's page in a real browser: its filters, its heat maps, its width on a phone."""

import struct

import pytest

from divergence.browser import BROWSER, Page
from onax._divergence import cli, writers

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine: the page was not looked at")


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
        assert browser.run("document.querySelectorAll('td.bad').length") == 1
        assert "1 depart" in browser.run("document.getElementById('count').textContent")
        choose(browser, "backend", "eager")
        assert sections(browser) == []
        choose(browser, "verdict", "")
        choose(browser, "text", "uint8 remainder")
        assert browser.run("[...document.querySelectorAll('.rows tbody tr')].length") == 1
        assert "text=uint8" in browser.run("location.hash")


def test_a_link_keeps_its_filters(url, tmp_path):
    with Page(url + "#family=lists", tmp_path / "profile") as browser:
        assert sections(browser) == ["lists"]


def test_all_rows_can_be_reached(url, tmp_path):
    with Page(url + "#family=casts", tmp_path / "profile") as browser:
        browser.run("(() => { let b; while (b = document.querySelector('section button')) b.click(); })()")
        assert browser.run("document.querySelectorAll('.rows tbody tr').length") == 169


def test_it_fits_a_phone(url, tmp_path):
    with Page(url, tmp_path / "profile", width=390, height=844) as browser:
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.run("getComputedStyle(document.querySelector('.rows thead')).display") == "none"
        picture = browser.screenshot()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) == (390, 844)
    assert len(picture) > 10_000  # not blank
