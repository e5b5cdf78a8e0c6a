"""Write the screenshot of a report for the README: a simulated crowd of twelve annotators."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from blindfuse import write_report
from tests.support.report_cases import crowd

SIZE = {"width": 1060, "height": 1900}


def main(target: str) -> None:
    fusion = crowd(n=2000, m=12, missing=0.4)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        write_report(fusion, report, title="Pictures of animals, labelled by a crowd")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type,unused-ignore]
        page.goto(report.as_uri())
        page.wait_for_selector("#chart-annotators svg")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
