"""Writes the picture of a report that the README shows: fifteen classifiers on digits."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from blindfuse import write_report
from report_cases import digits

SIZE = {"width": 1100, "height": 1460}


def main(target: str) -> None:
    fusion, parts = digits()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        write_report(fusion, report, **parts)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type,unused-ignore]
        page.goto(report.as_uri())
        page.wait_for_selector("#picture-annotators svg")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
