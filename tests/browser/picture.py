"""Write the screenshot in README: the report of ``blindfuse demo``."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1060, "height": 1000}


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        demo = [sys.executable, "-m", "blindfuse", "demo", "--report", str(report)]
        subprocess.run(demo, check=True, capture_output=True)
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
