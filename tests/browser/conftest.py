"""A real browser, in which no page may raise an error or send a request."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Open = Callable[..., Page]
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "chromium is not installed. Run `make test-browser`, which installs it."
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a page and wait until all charts are drawn; fail at the end if there were errors."""
    problems: list[str] = []
    contexts = []

    def block_requests(route: Route) -> None:
        if route.request.url.startswith(("file:", "data:")):
            route.continue_()
        else:
            problems.append(f"request: {route.request.url}")
            route.abort()

    def open_page(html: str, width: int = 1280, scheme: Scheme = "light", allow: str = "") -> Page:
        """Messages of the console that contain ``allow`` are ignored."""

        def record(message: ConsoleMessage) -> None:
            if not allow or allow not in message.text:
                problems.append(f"console: {message.text}")

        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_default_timeout(10_000)
        context.route("**/*", block_requests)
        page = context.new_page()
        page.on("console", record)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", lambda box: problems.append(f"dialog: {box.message}"))
        path = tmp_path / f"{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        page.wait_for_function(  # a function: the page's policy refuses expressions while polling
            "() => [...document.querySelectorAll('.chart')].every((at) => at.querySelector('svg'))"
        )
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems
