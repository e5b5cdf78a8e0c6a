"""Judges who repeat each other's scores count as one, in labels, expected error and prediction."""

import numpy as np
import pytest

from blindfuse import Responses, fuse
from blindfuse.fusion.copies import Copies, find_copies


def judged(
    seed: int, n_copies: int, probability: float = 1.0, n_judges: int = 6
) -> tuple[np.ndarray, np.ndarray]:
    """Whole scores ``[item, judge]``, of which the last judges repeat the first, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=600)
    scores = np.rint(4 + 3 * truth[:, None] + rng.normal(0, 2.5, size=(600, n_judges)))
    for copy in range(n_judges - n_copies, n_judges):
        copied = rng.random(600) < probability
        scores[copied, copy] = scores[copied, 0]
    return np.clip(scores, 0, 10), truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_copies", [1, 2, 3])
def test_copies_change_nothing(seed: int, n_copies: int) -> None:
    scores, _ = judged(seed, n_copies)
    found = fuse(Responses.from_scores(scores))
    alone = fuse(Responses.from_scores(scores[:, : 6 - n_copies]))
    assert found.groups == ((0, *range(6 - n_copies, 6)),)
    assert "repeat each other" in found.why
    np.testing.assert_array_equal(found.labels, alone.labels)
    np.testing.assert_allclose(found.posteriors, alone.posteriors, atol=1e-9)
    assert found.expected_error.value == pytest.approx(alone.expected_error.value)
    again = found.predict_proba(found.responses)
    np.testing.assert_allclose(again, found.posteriors, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_partial_copies_cost_little(seed: int) -> None:
    scores, truth = judged(seed, 1, probability=0.9)
    found = fuse(Responses.from_scores(scores, classes=[0, 1]))
    alone = fuse(Responses.from_scores(scores[:, :5], classes=[0, 1]))
    assert found.groups == ((0, 5),)
    errors = [np.mean(one.labels != truth) for one in (found, alone)]
    assert errors[0] <= errors[1] + 0.015


@pytest.mark.parametrize("seed", range(5))
def test_independent_judges_are_no_copies(seed: int) -> None:
    scores, _ = judged(seed, 0)
    assert fuse(Responses.from_scores(scores)).groups == ()
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=500)
    wrong = rng.random((500, 5)) < 0.03
    excellent = Responses.from_matrix(np.where(wrong, 1 - truth[:, None], truth[:, None]))
    assert fuse(excellent.with_anchor(["a", "b"], np.eye(2))).groups == ()


def test_the_next_member_responds_where_the_busiest_does_not() -> None:
    responses = Responses.from_scores(
        [0, 0, 0, 1, 1, 2], ["a", "b", "c", "b", "c", "a"], [1, 2, 3, 4, 5, 6], levels=11
    )
    merged = Copies(((0, 1),), (1.0,)).merge(responses)
    assert merged.annotators.tolist() == ["a", "c"]
    named = [[responses.symbols[code] for code in row if code >= 0] for row in merged.matrix()]
    assert named == [[1, 3], [4, 5], [6]]


def test_few_common_items_prove_nothing() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 11, size=(10, 4)).astype(float)
    scores[:, 3] = scores[:, 0]
    responses = Responses.from_scores(scores)
    assert find_copies(responses, fuse(responses).model).groups == ()
