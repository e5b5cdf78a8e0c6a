"""Coverage, overlap and conflict against counts by hand."""

import numpy as np
import pytest

from blindfuse import Responses
from blindfuse.diagnostics.coverage import count_groups, measure_coverage
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


@pytest.mark.parametrize("link", [None, 3, 700])
def test_groups_of_annotators_that_no_item_links(link: int | None) -> None:
    """Of 45,000 items every third one is in the sample; the others can link annotators as well."""
    matrix = np.random.default_rng(0).integers(3, size=(45_000, 7))
    matrix[:20_000, :3] = matrix[20_000:, 3:] = matrix[:, 6] = matrix[40_000:] = -1
    if link is not None:
        matrix[link, :6] = 1
    found = measure_coverage(Responses.from_matrix(matrix, classes=range(3)))
    assert found.n_groups == (2 if link is None else 1)
    assert ("2 groups" in found.summary()) == (link is None)


def test_annotators_without_responses_are_no_group() -> None:
    assert count_groups(Responses.from_matrix([[-1, -1]], classes=[0, 1])) == 0
