"""The site of the documentation in a browser, at the width of a desk and of a phone."""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route

from tests.browser.picture import open_demo, stamp

ROOT = Path(__file__).parents[2]
SCREENSHOTS = Path(__file__).parent / "screenshots"
PAGES = sorted(
    page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
    for page in (ROOT / "docs").rglob("*.md")
)
WIDTHS = {"desk": 1280, "phone": 390}


AUTOFOCUS = "Autofocus processing was blocked because a document's URL has a fragment"
"""A message of Chromium about the links of search results."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of the built site: search needs one."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "src", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", folder)
    zensical = Path(sys.executable).parent / "zensical"
    subprocess.run([zensical, "build", "--strict"], cwd=folder, check=True, capture_output=True)
    handler = partial(Quiet, directory=folder / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    """A page on which every error and every request to another server is a failure."""
    problems: list[str] = []

    def block_others(route: Route) -> None:
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            problems.append(route.request.url)
            route.abort()

    def record(message: ConsoleMessage) -> None:
        if not message.text.startswith(AUTOFOCUS):
            problems.append(message.text)

    width = WIDTHS[request.param]
    context = browser.new_context(viewport={"width": width, "height": 900}, base_url=address)
    context.set_default_timeout(20_000)
    context.route("**/*", block_others)
    opened = context.new_page()
    opened.on("console", record)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    context.close()
    assert not problems


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_its_formulas_are_typeset(page: Page, name: str) -> None:
    page.goto(f"/{name}")
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    formulas = page.locator(".arithmatex").count()
    assert page.locator(".arithmatex .katex-html").count() == formulas
    assert page.locator(".katex-error").count() == 0
    assert formulas > 50 or name != "method.html"
    text = page.locator("article").inner_text()
    assert not re.search(r"\$\$|\\\(|\\begin", text)
    images = page.locator("article img")
    loaded = images.evaluate_all("all => all.every(each => each.naturalWidth || each.loading)")
    assert loaded
    SCREENSHOTS.mkdir(exist_ok=True)
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(path=SCREENSHOTS / f"site-{name.replace('/', '-')}-{width}.png")


def test_search_finds_a_page(page: Page) -> None:
    page.goto("/index.html")
    page.locator("[for=__search], .md-search__button").locator("visible=true").first.click()
    page.keyboard.type("krippendorff_alpha", delay=50)
    page.wait_for_timeout(2_000)  # the list is in a closed shadow tree
    page.keyboard.press("Enter")
    page.wait_for_url("**/api.html*krippendorff_alpha*")


def test_the_picture_of_the_start_page_shows_the_report_of_today(
    browser: Browser, tmp_path: Path
) -> None:
    """If not, ``make docs/report.png`` renews it."""
    page = open_demo(browser, tmp_path)
    assert stamp(page) in (ROOT / "docs" / "report.png").read_bytes()
    page.close()
