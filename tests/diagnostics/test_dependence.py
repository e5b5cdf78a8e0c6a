"""Dependent pairs and groups: planted copiers are found, independent annotators are not."""

import numpy as np
import pytest
from scipy.stats import binom, false_discovery_control, median_abs_deviation, norm

from blindfuse import Model, Responses, diagnose, fuse, simulate
from blindfuse.diagnostics.dependence import (
    FALSE_DISCOVERY_RATE,
    _agreement_scores,
    _is_outlier,
)
from tests.support.diagnostics_cases import GROUPS, PLANTED_PAIRS, crowd, diagnosed


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_planted_copiers_are_found(classes: int) -> None:
    recalls, false = [], []
    for copying in (0.3, 0.5):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            simulation = simulate(
                10_000, 15, classes, rng, dependent_groups=GROUPS, copy_probability=copying
            )
            found, _ = diagnosed(simulation.responses)
            pairs = {tuple(sorted(pair)) for pair in found.dependence.pairs.tolist()}
            recalls.append(len(pairs & PLANTED_PAIRS) / len(PLANTED_PAIRS))
            false.append(len(pairs - PLANTED_PAIRS) / max(len(pairs), 1))
            assert found.dependence.effective_votes < 14
    assert np.mean(recalls) >= 0.9
    assert np.mean(false) <= 0.1


@pytest.mark.parametrize("seed", range(20))
def test_outliers_are_those_of_benjamini_and_hochberg(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(size=300), rng.normal(4, 1, size=seed), [50.0] * 2])
    spread = max(1.0, median_abs_deviation(scores, scale="normal"))
    p_values = norm.sf((scores - np.median(scores)) / spread)
    expected = false_discovery_control(p_values) <= FALSE_DISCOVERY_RATE
    np.testing.assert_array_equal(_is_outlier(scores), expected)
    assert expected.sum() >= 2


def test_conditionally_independent_annotators_are_rarely_called_dependent() -> None:
    crowds = [crowd(seed, n=3000, m=10).responses for seed in range(10)]
    n_pairs = [len(diagnosed(responses)[0].dependence.pairs) for responses in crowds]
    assert np.mean(np.array(n_pairs) > 0) <= 0.2


@pytest.mark.parametrize("n", [20, 80, 500])
@pytest.mark.parametrize("p", [0.01, 0.05, 0.3, 0.7, 0.95])
def test_scores_are_as_improbable_as_the_number_of_agreements(n: int, p: float) -> None:
    """Compared with the exact tail of the binomial distribution, in standard errors."""
    agreements = np.arange(1, n)
    exact = norm.isf(binom.sf(agreements - 1, n, p))
    relevant = (exact > 1) & (exact < 7)
    scores = _agreement_scores(agreements / n, np.full(n - 1, p), np.full(n - 1, float(n)))
    np.testing.assert_allclose(scores[relevant], exact[relevant], atol=0.35)
    below = agreements / n < p
    assert np.all(scores[below] <= 0)
    assert np.all(np.diff(scores) >= 0)


def test_excess_agreement_matches_a_direct_computation() -> None:
    responses = crowd(4, n=60, m=5, missing=0.5).responses
    found, fitted = diagnosed(responses)
    matrix, model = responses.matrix(), fitted.model_
    assert found.dependence.tested.tolist() == list(range(5))
    few = 0
    for i, j in np.ndindex(5, 5):
        both = (matrix[:, i] >= 0) & (matrix[:, j] >= 0)
        if i == j or both.sum() < 20:
            few += i != j
            assert np.isnan(found.dependence.excess_matrix[i, j])
            continue
        observed = np.mean(matrix[both, i] == matrix[both, j])
        expected = np.sum(model.confusions[i] * model.confusions[j] @ model.prior)
        by_hand = (observed - expected) / (1 - expected)
        assert found.dependence.excess_matrix[i, j] == pytest.approx(by_hand)
    assert few


@pytest.mark.parametrize("seed", range(3))
def test_excess_of_dependent_pairs_is_that_of_the_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    responses = simulate(3000, 15, 3, rng, dependent_groups=GROUPS, copy_probability=0.5).responses
    found = diagnosed(responses)[0].dependence
    assert len(found.pairs)
    np.testing.assert_array_equal(found.excess_matrix[*found.pairs.T], found.excess)


def test_ten_copies_are_worth_one_vote() -> None:
    """Exact copies, under a model in which each of them guesses independently."""
    column = np.random.default_rng(0).integers(2, size=2000)
    matrix = np.tile(column[:, None], (1, 10))
    model = Model(np.full((10, 2, 2), 0.5), np.full(2, 0.5), np.arange(10), np.arange(2))
    found = diagnose(Responses.from_matrix(matrix), model, np.full((2000, 2), 0.5))
    assert found.dependence.effective_votes == pytest.approx(1.0)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8, 0.98])
def test_votes_are_those_of_an_item_and_stated_only_where_pairs_share_items(missing: float) -> None:
    responses = simulate(600, 40, 2, np.random.default_rng(0), skill=0.5, missing=missing).responses
    found = fuse(responses).diagnostics.dependence
    rows = responses.by_item
    per_item = np.mean([len(own) for own in np.split(rows.codes, rows.starts[1:-1]) if len(own)])
    assert found.votes == pytest.approx(40 if missing < 0.5 else per_item)
    if missing == 0.98:
        assert np.isnan(found.effective_votes)
        assert "Not tested" in found.summary()
        return
    assert 0.5 * found.votes < found.effective_votes <= found.votes
    stated = "40 annotators" if missing < 0.5 else f"{per_item:.1f} responses per item"
    assert found.summary().startswith(f"{stated} are worth {found.effective_votes:.1f} independent")


def test_the_summary_names_the_groups() -> None:
    rng = np.random.default_rng(0)
    responses = simulate(3000, 15, 3, rng, dependent_groups=GROUPS, copy_probability=0.5).responses
    found = diagnosed(responses)[0].dependence
    assert "0, 1, 2;" in found.summary()
    assert f"{found.effective_votes:.1f} independent votes" in found.summary()
    independent = diagnosed(crowd(n=3000).responses)[0].dependence
    assert "o pair stands out" in independent.summary()


@pytest.mark.parametrize("seed", range(14))
def test_copies_are_named_and_not_the_two_who_differ_from_them(seed: int) -> None:
    """Three of five judges copy each other nine times of ten, so they outvote the others."""
    rng = np.random.default_rng(seed)
    drawn = simulate(1000, 5, 2, rng, skill=0.4, dependent_groups=[(0, 1, 2)], copy_probability=0.9)
    groups = fuse(drawn.responses).diagnostics.dependence.groups
    assert all(set(group) <= {0, 1, 2} for group in groups)
