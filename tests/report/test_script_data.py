"""The data inside the page's script element."""

import json
from dataclasses import dataclass

import pytest

from blindfuse.report.script_data import count_fitting, script_json, table_data
from tests.support.report_cases import HOSTILE


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


@dataclass(frozen=True)
class Point:
    x: int
    y: tuple[int, ...]


def test_a_table_names_its_columns_once() -> None:
    data = table_data(Point, [Point(1, (2, 3)), Point(4, ())])
    assert data == {"columns": ["x", "y"], "rows": [[1, (2, 3)], [4, ()]]}
    assert table_data(Point, [])["columns"] == ["x", "y"]
