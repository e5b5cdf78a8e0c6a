"""The bundle of scripts that draw the charts."""

from pathlib import Path

import pytest

from blindfuse import report_html
from blindfuse.report import scripts
from tests.support.report_cases import crowd


def test_the_bundle_is_the_same_where_it_cannot_be_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The cache folder is a file, so nothing can be written to it."""
    cached = scripts.vega_script()
    (tmp_path / "file").touch()
    monkeypatch.setenv("BLINDFUSE_CACHE", str(tmp_path / "file"))
    assert scripts.vega_script() == cached
    assert "</script" not in cached


def test_the_script_is_most_of_a_small_page() -> None:
    page = report_html(crowd())
    assert len(page) - len(scripts.vega_script()) < 400_000
