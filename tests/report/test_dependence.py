"""The map of dependent annotators."""

import pytest

from blindfuse.report.blocks import Chart, Table
from tests.support.report_cases import crowd, find_block, page_of


def test_pairs_are_those_of_the_diagnostics() -> None:
    fusion = crowd()
    found, page = fusion.diagnostics.dependence, page_of(fusion)
    names = fusion.responses.annotators
    expected = {
        frozenset(names[pair]): excess
        for pair, excess in zip(found.pairs, found.excess, strict=True)
    }
    assert expected
    listed = {frozenset(row[:2]): row[2] for row in find_block(page, "dependence", Table).rows}
    for pair, text in listed.items():
        assert float(text.removesuffix("\u00a0%")) == pytest.approx(100 * expected[pair], abs=0.6)
    cells = find_block(page, "dependence", Chart).spec["datasets"]["rows"]
    framed = {frozenset((cell["first"], cell["second"])) for cell in cells if cell["framed"]}
    assert set(listed) <= framed <= set(expected)
    drawn = list(dict.fromkeys(cell["first"] for cell in cells))
    assert len(drawn) == 30
    assert {"worker 00", "worker 01", "worker 02"} <= set(drawn[:4])
