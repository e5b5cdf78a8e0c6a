"""The map of dependent annotators."""

import pytest

from tests.support.report_cases import contents_of, crowd


def test_pairs_are_those_of_the_diagnostics() -> None:
    fusion = crowd()
    found, drawn = fusion.diagnostics.dependence, contents_of(fusion).dependence
    names = fusion.responses.annotators
    expected = {
        frozenset(names[pair]): excess
        for pair, excess in zip(found.pairs, found.excess, strict=True)
    }
    assert drawn.n_dependent == len(expected) > 0
    for pair in drawn.listed:
        assert pair.excess == pytest.approx(
            expected[frozenset((pair.first, pair.second))], abs=1e-4
        )
    framed = {frozenset((cell.first, cell.second)) for cell in drawn.cells if cell.dependent}
    assert framed <= set(expected)
    assert {frozenset((pair.first, pair.second)) for pair in drawn.listed} <= framed
    assert len(drawn.names) == len(set(drawn.names)) == 30
    assert {"worker 00", "worker 01", "worker 02"} <= set(drawn.names[:4])
