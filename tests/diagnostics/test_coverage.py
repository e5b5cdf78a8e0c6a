"""Coverage, overlap and conflict against counts by hand."""

import numpy as np
import pytest

from blindfuse import Responses
from blindfuse.diagnostics.coverage import measure_coverage
from tests.support.diagnostics_cases import crowd


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_those_of_a_count_item_by_item(seed: int) -> None:
    responses = crowd(seed, n=60, m=5, missing=0.6).responses
    matrix = responses.matrix()
    found = measure_coverage(responses)
    for m in range(5):
        given = [row for row in matrix if row[m] >= 0]
        others = [[x for j, x in enumerate(row) if j != m and x >= 0] for row in given]
        conflicts = [
            any(x != row[m] for x in rest) for row, rest in zip(given, others, strict=True)
        ]
        assert found.coverage[m] == pytest.approx(len(given) / 60)
        assert found.overlap[m] == pytest.approx(sum(map(bool, others)) / 60)
        assert found.conflict[m] == pytest.approx(sum(conflicts) / 60)
    given_to_item = [row[row >= 0] for row in matrix]
    assert found.single == pytest.approx(np.mean([len(row) == 1 for row in given_to_item]))
    assert found.disputed == pytest.approx(np.mean([len(set(row)) > 1 for row in given_to_item]))
    assert np.all(found.conflict <= found.overlap)
    assert np.all(found.overlap <= found.coverage)


def test_the_summary_says_how_many_items_are_disputed() -> None:
    agreed = Responses.from_matrix(np.zeros((4, 3), dtype=int), classes=[0, 1])
    assert measure_coverage(agreed).summary() == (
        "3.0 responses per item; on 0 % of the items annotators disagree."
    )
    mixed = Responses.from_matrix(np.array([[0, 1], [1, -1], [1, 1], [0, 0]]))
    assert measure_coverage(mixed).summary() == (
        "1.8 responses per item; on 25 % of the items annotators disagree, and 25 % have only one "
        "response."
    )
