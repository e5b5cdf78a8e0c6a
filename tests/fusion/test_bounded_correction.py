"""Votes that models correct within a bound, and by themselves where no class has a majority."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from blindfuse import Responses, fuse
from blindfuse.fusion.bounded_correction import (
    BOUND,
    BOUNDED_CORRECTION,
    CorrectedVotes,
    correct_votes,
    tie_without_majority,
)
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.pooled_model import fit_pooled_model
from blindfuse.model.posteriors import vote_posteriors, weighted_votes

VOTES = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(0, 6)
)


@pytest.mark.parametrize(
    ("votes", "counted"),
    [
        ([2, 1, 1], [2, 2, 2]),
        ([2, 2, 0], [2, 2, 0]),
        ([5, 4, 2], [5, 5, 2]),
        ([3, 1, 1, 1], [3, 1, 1, 1]),  # two votes behind
        ([3, 1, 0], [3, 1, 0]),  # a majority
        ([2, 1], [2, 1]),
        ([1, 1, 1], [1, 1, 1]),
    ],
)
def test_close_classes_are_tied_without_a_majority(votes: list[int], counted: list[int]) -> None:
    found = tie_without_majority(np.array([votes], dtype=float))
    np.testing.assert_array_equal(found, [counted])


@given(VOTES)
def test_ties_follow_their_definition(votes: np.ndarray) -> None:
    for before, after in zip(votes, tie_without_majority(votes), strict=True):
        leader, half = max(before), sum(before) / 2
        for mine, counted in zip(before, after, strict=True):
            tied = leader <= half and mine + 1 >= leader
            assert counted == (leader if tied else mine)


def four_services(
    seed: int, n_items: int = 4000, n_classes: int = 6
) -> tuple[Responses, list[int]]:
    """Four prediction services of unequal skill; some items are hard for all, with one decoy."""
    rng = np.random.default_rng(seed)
    truth, decoy = rng.integers(n_classes, size=(2, n_items, 1))
    hard = rng.random((n_items, 1)) < 0.2
    right = rng.random((n_items, 4)) < np.where(hard, 0.3, [0.9, 0.75, 0.6, 0.5])
    wrong = np.where(hard, decoy, rng.integers(n_classes, size=(n_items, 4)))
    matrix = np.where(right, truth, wrong)
    return Responses.from_matrix(matrix, classes=np.arange(n_classes)), truth[:, 0].tolist()


@pytest.mark.parametrize("needs_majority", [False, True])
def test_scores_are_those_of_the_formula(needs_majority: bool) -> None:
    responses, _ = four_services(0, 200)
    votes = weighted_votes(responses)
    added = np.random.default_rng(1).dirichlet(np.ones(responses.n_classes), size=len(votes))
    corrected = CorrectedVotes(
        lambda _: added, 0.2, fit_pooled_model(votes), needs_majority=needs_majority
    )
    scores = corrected(responses)
    counted = tie_without_majority(votes) if needs_majority else votes
    expected = counted + BOUND * np.sqrt(4 / (1 + 3 * 0.2)) * added
    np.testing.assert_allclose(scores, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_majorities_of_four_services_are_kept_and_pluralities_are_decided(seed: int) -> None:
    """No majority is overruled, and labels are better than the vote where there is none."""
    responses, truth = four_services(seed)
    fusion = fuse(responses, selection=lambda context: correct_votes(Evidence(context)))
    votes = weighted_votes(responses)
    labels = np.searchsorted(responses.classes, fusion.labels)
    majority = votes.max(axis=1) > 2
    np.testing.assert_array_equal(labels[majority], votes[majority].argmax(axis=1))
    by_vote = vote_posteriors(responses)[np.arange(len(truth)), truth]
    correct = labels == np.array(truth)
    assert fusion.method == BOUNDED_CORRECTION
    assert correct[~majority].mean() > by_vote[~majority].mean() + 0.05
