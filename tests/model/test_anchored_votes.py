"""What an anchor says of an item, computed a second time item by item."""

import numpy as np
import pytest

from blindfuse import MajorityVote, Responses
from blindfuse.metrics import error_rate
from blindfuse.model.anchored_votes import ScoreRule, mean_scores, score_votes
from blindfuse.model.posteriors import baseline_votes, count_votes, vote_posteriors, weighted_votes
from blindfuse.simulation import simulate_scores

MATRIX = [[1.0, 0.0], [0.0, 1.0], [0.3, 0.7], [0.0, 0.0]]


def with_matrix(seed: int, n: int = 200) -> Responses:
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((n, 5)) < 0.3, -1, rng.integers(4, size=(n, 5)))
    return Responses.from_matrix(labels, classes=range(4)).with_anchor(["n", "y"], MATRIX)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [200, 3000])
def test_responses_vote_through_the_matrix(seed: int, n: int) -> None:
    responses = with_matrix(seed, n)
    table, votes = responses.matrix(), weighted_votes(responses)
    weights = np.arange(1.0, 6.0)
    weighted = weighted_votes(responses, weights)
    found = vote_posteriors(responses)
    for item in range(0, n, 7):
        given = [(m, r) for m, r in enumerate(table[item].tolist()) if r >= 0]
        by_hand = sum((np.array(MATRIX[r]) for _, r in given), np.zeros(2))
        np.testing.assert_allclose(votes[item], by_hand)
        by_hand = sum((weights[m] * np.array(MATRIX[r]) for m, r in given), np.zeros(2))
        np.testing.assert_allclose(weighted[item], by_hand)
        first, second = votes[item]
        expected = [0.5, 0.5] if first == second else [float(first > second), first < second]
        assert found[item].tolist() == (expected if first + second > 0 else [0, 0])


def test_an_identity_matrix_gives_the_majority_vote() -> None:
    plain = Responses.from_matrix(np.random.default_rng(0).integers(-1, 3, size=(300, 6)))
    anchored = plain.with_anchor([0, 1, 2], np.eye(3))
    np.testing.assert_array_equal(vote_posteriors(anchored), vote_posteriors(plain))
    np.testing.assert_array_equal(count_votes(anchored).counts, count_votes(plain).counts)
    np.testing.assert_array_equal(
        MajorityVote().fit(anchored).labels_, MajorityVote().fit(plain).labels_
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_standardised_per_annotator(n_classes: int) -> None:
    drawn = simulate_scores(3000, 8, 11, n_classes, np.random.default_rng(1), separation=3)
    scores = drawn.responses.matrix().astype(float)
    standard = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    np.testing.assert_allclose(
        mean_scores(drawn.responses, ScoreRule.of(drawn.responses).values),
        standard.mean(axis=1),
        atol=0.02,
    )
    assert error_rate(vote_posteriors(drawn.responses), drawn.truth) < 0.05


def test_neither_shift_nor_scale_of_an_annotator_matters() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=500)
    scores = truth[:, None] + rng.normal(0, 0.7, size=(500, 5))
    other = scores * [1, 2, 0.5, 3, 1] + [0, 1, -2, 3, 2]
    errors = [
        error_rate(vote_posteriors(Responses.from_scores(table, levels=400)), truth)
        for table in (scores, other)
    ]
    assert max(errors) < min(errors) + 0.03


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_found_whatever_their_numbers_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=900, p=[0.5, 0.3, 0.2])
    labels = np.stack([rng.permutation(5)[truth] for _ in range(8)], axis=1)
    wrong = rng.random(labels.shape) < 0.3
    labels[wrong] = rng.integers(5, size=wrong.sum())
    responses = Responses.from_clusters(labels, classes=3)
    # Classes are numbered from the largest cluster down, which is the order of the shares above.
    assert error_rate(vote_posteriors(responses), truth) < 0.02


def test_an_item_without_responses_has_no_votes() -> None:
    scores = np.array([[1.0, 2.0], [9.0, 8.0], [np.nan, np.nan]])
    found = vote_posteriors(Responses.from_scores(scores))
    assert found.tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_votes_of_scores_lead_by_the_distance_to_the_cut(n_classes: int) -> None:
    drawn = simulate_scores(300, 6, 11, n_classes, np.random.default_rng(2), missing=0.4)
    table, rule = drawn.responses, ScoreRule.of(drawn.responses)
    votes = score_votes(table, rule)
    np.testing.assert_array_equal(votes, score_votes(table))
    for item, row in enumerate(table.matrix()):
        scores = [rule.values[m, symbol] for m, symbol in enumerate(row) if symbol >= 0]
        for k in range(1, n_classes):
            lead = sum(score - rule.cuts[k - 1] for score in scores)
            assert votes[item, k] - votes[item, k - 1] == pytest.approx(lead, abs=1e-9)
    given = table.responses_per_item > 0
    np.testing.assert_array_equal(votes[given].argmax(axis=1), rule.codes(table)[given])


def test_baseline_votes_are_counts_and_abstentions_do_not_vote() -> None:
    rng = np.random.default_rng(0)
    plain = Responses.from_matrix(rng.integers(-1, 3, size=(200, 5)), classes=range(3))
    votes, number = baseline_votes(plain)
    expected = (plain.matrix()[:, :, None] == np.arange(3)).sum(axis=1)
    np.testing.assert_array_equal(votes, expected)
    np.testing.assert_array_equal(number, plain.responses_per_item)
    for one, other in zip(baseline_votes(plain.with_abstentions()), (votes, number), strict=True):
        np.testing.assert_array_equal(one, other)
    drawn = simulate_scores(100, 5, 6, 2, rng, missing=0.3)
    votes, number = baseline_votes(drawn.responses)
    np.testing.assert_array_equal(votes, score_votes(drawn.responses))
    np.testing.assert_array_equal(number, drawn.responses.responses_per_item)
