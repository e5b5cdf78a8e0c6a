"""Write the screenshot of the start page: the report of ``blindfuse demo``."""

import shutil
import subprocess
import sys
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

SIZE = {"width": 1060, "height": 1000}


def open_demo(browser: Browser, folder: Path) -> Page:
    """Return the report of the demo in a browser."""
    report = folder / "report.html"
    demo = [sys.executable, "-m", "blindfuse", "demo", "--report", str(report)]
    subprocess.run(demo, check=True, capture_output=True)
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type,unused-ignore]
    page.goto(report.as_uri())
    page.wait_for_selector("#chart-annotators svg")
    return page


def stamp(page: Page) -> bytes:
    """The hash of the summary that the picture shows; the PNG file has it as a comment."""
    return sha256(page.locator("#summary").inner_text().encode()).hexdigest().encode()


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = open_demo(browser, Path(folder))
        picture, comment = page.screenshot(), b"tEXtComment\0" + stamp(page)
        chunk = (len(comment) - 4).to_bytes(4) + comment + zlib.crc32(comment).to_bytes(4)
        Path(target).write_bytes(picture[:33] + chunk + picture[33:])  # after the header
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
