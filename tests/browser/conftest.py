"""A real browser, in which no page may err or ask anybody outside."""

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
    assert program, "There is no chromium here. `make test-browser` installs it."
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the HTML that it is given, with all pictures drawn; complains at the end."""
    complaints: list[str] = []
    contexts = []

    def guard(route: Route) -> None:
        if route.request.url.startswith(("file:", "data:")):
            route.continue_()
        else:
            complaints.append(f"asked for {route.request.url}")
            route.abort()

    def opened(html: str, width: int = 1280, scheme: Scheme = "light", allow: str = "") -> Page:
        """``allow`` is part of what the console may say in this test."""

        def hear(said: ConsoleMessage) -> None:
            if not allow or allow not in said.text:
                complaints.append(f"console: {said.text}")

        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_default_timeout(10_000)
        context.route("**/*", guard)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda box: complaints.append(f"box: {box.message}"))
        path = tmp_path / f"{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('.picture')].every((one) => one.querySelector('svg'))"
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
