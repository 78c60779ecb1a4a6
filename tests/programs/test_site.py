"""The site in headless Chromium: its pages at two widths, the search, and the page that trains a network there.

`make docs` builds the site; without it, without playwright or without Chromium these tests are skipped.
"""

import functools
import http.server
import shutil
import threading
from pathlib import Path

import pytest

from public_members import public_modules

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGES = sorted(
    str(path.relative_to(SITE).with_suffix(""))
    for path in SITE.rglob("*.html")
    if path.relative_to(SITE).parts[0]
    not in ("_modules", "_static", "browser", "search.html")  # sources, what pages load
)
UNDOCUMENTED = ("onax.experimental", "onax.extend", "onax.interpreters")  # of these the reference has a selection

if not (SITE / "index.html").exists() or CHROMIUM is None:
    pytest.skip("the site is not built (make docs), or there is no Chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Nothing is printed for a request."""


@pytest.fixture(scope="module")
def address():
    handler = functools.partial(Quiet, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[1280, 390], ids=["desktop", "phone"])
def page(browser, request):
    """A page of some width; fails the test if the console had an error."""
    page = browser.new_page(viewport={"width": request.param, "height": 800})
    errors = []
    page.on("console", lambda message: errors.append((page.url, message.text)) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert not errors


def test_pages_fit_their_width(page, address):
    for name in PAGES:
        response = page.goto(f"{address}/{name}.html")
        assert response.ok and page.locator("h1").first.inner_text(), name
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"] + 1, name


def test_the_reference_has_every_public_module():
    names = [name for name in public_modules() if not name.startswith((*UNDOCUMENTED, "onax.scipy.stats."))]
    assert [name for name in names if not (SITE / "_api" / f"{name}.html").exists()] == []


def test_the_search_finds_pages(page, address):
    page.goto(f"{address}/search.html?q=checkpoint")
    page.wait_for_selector("#search-results li", timeout=20_000)
    assert page.locator("#search-results li").count() > 1


def test_a_network_is_trained_and_reads_a_digit(page, address):
    page.goto(f"{address}/tutorials/browser.html")
    page.wait_for_function("window.onaxDemo?.ready", timeout=60_000)
    before = page.evaluate("onaxDemo.accuracy")
    page.click("#browser-train")
    page.wait_for_function("onaxDemo.losses.length >= 600", timeout=120_000)
    page.click("#browser-train")
    losses = page.evaluate("onaxDemo.losses")
    assert before < 0.4 and page.evaluate("onaxDemo.accuracy") > 0.85
    assert sum(losses[-50:]) < 0.3 * sum(losses[:50])
    page.locator("#browser-drawing").scroll_into_view_if_needed()
    box = page.locator("#browser-drawing").bounding_box()
    middle, high, low = box["x"] + box["width"] / 2, box["y"] + 20, box["y"] + box["height"] - 20
    page.mouse.move(middle, high)
    page.mouse.down()
    page.mouse.move(middle, low, steps=8)
    page.mouse.up()
    page.wait_for_function("onaxDemo.guess !== undefined", timeout=10_000)
    assert page.evaluate("onaxDemo.guess") == 1
