"""The page of fused ratings: its contents are those of the fusion, and everything is escaped."""

import json
import re

import numpy as np
import pytest

from blindfuse import Numbers, fuse_numbers, number_report_html, simulate_numbers
from blindfuse.numbers.agreement import intraclass_correlation
from blindfuse.report.numbers_page import build_number_charts, gather_number_contents

NASTY = "</script><b>&\"'"


@pytest.fixture(scope="module")
def fusion():  # type: ignore[no-untyped-def]
    return fuse_numbers(simulate_numbers(120, 8, seed=0).numbers)


def test_contents_are_those_of_the_fusion(fusion) -> None:  # type: ignore[no-untyped-def]
    contents = gather_number_contents(fusion, "Title", ["a note"])
    by_name = {row.name: row for row in contents.annotators}
    for m, name in enumerate(fusion.annotators.names):
        row = by_name[str(name)]
        assert (row.bias, row.scale, row.noise) == (
            fusion.annotators.bias[m],
            fusion.annotators.scale[m],
            fusion.annotators.noise[m],
        )
    spreads = [row.spread for row in contents.items]
    assert spreads == sorted(spreads, reverse=True)
    matrix = fusion.numbers.matrix()
    widest = contents.items[0]
    row = matrix[int(widest.name)]
    assert widest.spread == pytest.approx(np.nanstd(row, ddof=1))
    assert (widest.lowest, widest.highest) == (np.nanmin(row), np.nanmax(row))
    assert dict(contents.agreement)["Intraclass correlation ICC(1)"] == intraclass_correlation(
        fusion.numbers
    )
    assert sum(contents.counts) == 120


def test_the_page_is_self_contained_and_repeatable(fusion) -> None:  # type: ignore[no-untyped-def]
    page = number_report_html(fusion, title="Scores")
    assert page == number_report_html(fusion, title="Scores")
    head = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", head)
    charts = build_number_charts(gather_number_contents(fusion, "", ()))
    (data,) = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert set(json.loads(data)["charts"]) == set(charts)
    for name in charts:
        assert f'id="chart-{name}"' in page


def test_names_are_escaped() -> None:
    matrix = simulate_numbers(30, 4, seed=1).numbers.matrix()
    numbers = Numbers.from_matrix(
        matrix,
        items=[f"{NASTY}{n}" for n in range(30)],
        annotators=[f"{NASTY}{m}" for m in range(4)],
    )
    page = number_report_html(fuse_numbers(numbers), title=NASTY, notes=[NASTY])
    assert "<b>" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0, 2.0, 4.0]], [[1.0], [2.0]], [[5, 5], [5, 5]]])
def test_pages_of_tiny_tables(matrix: list[list[float]]) -> None:
    page = number_report_html(fuse_numbers(np.array(matrix)))
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL).lower()
