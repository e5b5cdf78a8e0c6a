"""The bundle of scripts that draw the charts, and the data inside the page's script element."""

import json
from pathlib import Path

import pytest

from blindfuse import report_html
from blindfuse.report import scripts
from blindfuse.report.scripts import count_fitting, script_json, table_data
from tests.support.report_cases import HOSTILE, crowd


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


@pytest.mark.parametrize("name", HOSTILE)
def test_json_cannot_end_its_script_element(name: str) -> None:
    text = script_json({name: [name]})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {name: [name]}


def test_rows_that_fit_are_counted_by_bytes() -> None:
    rows = ["é" * 10] * 10
    assert count_fitting(rows, 23 * 4) == 4
    assert count_fitting(rows, 23 * 4 - 1) == 3
    assert count_fitting(rows, 10**6) == 10


def test_a_table_names_its_columns_once() -> None:
    data = table_data([{"x": 1, "y": (2, 3)}, {"x": 4, "y": ()}])
    assert data == {"columns": ["x", "y"], "rows": [[1, (2, 3)], [4, ()]]}
    assert table_data([]) == {"columns": [], "rows": []}
