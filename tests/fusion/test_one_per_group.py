"""One response per group of dependent annotators and item."""

import numpy as np
import pytest

from blindfuse import Responses, fuse, simulate
from blindfuse.fusion.one_per_group import busiest_first, one_per_group
from blindfuse.metrics import error_rate

MATRIX = np.array([[0, 1, 0], [-1, 1, 0], [-1, 0, -1], [1, -1, 1], [-1, -1, 0]])


def test_the_first_member_speaks_for_its_group_and_others_where_it_is_silent() -> None:
    responses = Responses.from_matrix(MATRIX, annotators=["a", "b", "c"])
    merged = one_per_group(responses, ((0, 1),))
    assert merged.annotators.tolist() == ["a", "c"]
    assert merged.matrix().tolist() == [[0, 0], [1, 0], [0, -1], [1, 1], [-1, 0]]
    assert one_per_group(responses, ()).matrix().tolist() == MATRIX.tolist()


def test_members_are_ordered_by_their_responses() -> None:
    responses = Responses.from_matrix(MATRIX, annotators=["a", "b", "c"])
    assert busiest_first(responses, ((0, 1), (2,))) == ((1, 0), (2,))


@pytest.mark.parametrize("seed", range(4))
def test_copies_do_not_outvote_the_others(seed: int) -> None:
    """Models beside EM would follow the copies if they counted each of them."""
    drawn = simulate(
        300, 11, 2, np.random.default_rng(seed), skill=0.3, dependent_groups=[range(4)]
    )
    fusion = fuse(drawn.responses)
    independent = drawn.responses.select_annotators(np.arange(3, 11))
    reached = error_rate(fuse(independent).posteriors, drawn.truth)
    assert error_rate(fusion.posteriors, drawn.truth) <= reached + 0.05


@pytest.mark.parametrize("seed", range(3))
def test_new_items_may_have_another_busiest_member(seed: int) -> None:
    drawn = simulate(
        400, 11, 2, np.random.default_rng(seed), skill=0.3, dependent_groups=[range(4)]
    )
    matrix = np.array(drawn.responses.matrix())
    matrix[:50, 0] = -1
    fusion = fuse(matrix)
    new = matrix[50:].copy()
    new[:, 1:4] = -1
    assert np.isfinite(fusion.predict_proba(new)).all()
    np.testing.assert_allclose(fusion.predict_proba(matrix), fusion.posteriors, atol=1e-6)
