"""Shrinkage of confusion matrices: by pseudo-counts, or by the learned prior."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import dirichlet_multinomial

from blindfuse import DawidSkene, Responses
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import (
    AnnotatorPrior,
    PseudoCounts,
    column_log_likelihood,
    learn_annotator_prior,
    learn_class_pseudo_count,
    learn_strength,
    make_shrinkage,
    pooled_pseudo_counts,
    vote_confusions,
)
from experiments.skilled_crowds import skilled_crowd

Floats = NDArray[np.float64]


def make_prior(n_classes: int, strength: float, skill_strength: float = 8.0) -> AnnotatorPrior:
    """A crowd whose recalls differ by class, and whose wrong responses do not spread evenly."""
    recalls = expit(1 + np.linspace(-0.5, 0.5, n_classes))
    wrong = np.triu(np.ones((n_classes, n_classes))) + 1
    np.fill_diagonal(wrong, 0)
    crowd = wrong / wrong.sum(axis=0) * (1 - recalls) + np.diag(recalls)
    return AnnotatorPrior(crowd, skill_strength, strength)


def draw(prior: AnnotatorPrior, n_annotators: int, n_responses: int, seed: int) -> Floats:
    """Counts ``[annotator, reported, true]`` of annotators that the prior describes."""
    rng = np.random.default_rng(seed)
    K, t, mean = len(prior.crowd), prior.skill_strength, float(np.diag(prior.crowd).mean())
    counts = np.zeros((n_annotators, K, K))
    wrong = prior.crowd * (1 - np.eye(K))
    for m, accuracy in enumerate(rng.beta(t * mean, t * (1 - mean), n_annotators)):
        mu = prior.expected_accuracies(logit([accuracy]) - logit(mean))[0]
        for k in range(K):
            centre = (1 - mu[k]) * wrong[:, k] / wrong[:, k].sum() + mu[k] * np.eye(K)[k]
            counts[m, :, k] = rng.multinomial(n_responses, rng.dirichlet(prior.strength * centre))
    return counts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("strength", "skill_strength"), [(10.0, 8.0), (60.0, 30.0), (30.0, 4.0)])
def test_parameters_are_recovered(strength: float, skill_strength: float, seed: int) -> None:
    truth = make_prior(4, strength, skill_strength)
    found = learn_annotator_prior(draw(truth, 600, 60, seed))
    assert found.skill_strength == pytest.approx(skill_strength, rel=0.35)
    assert found.strength == pytest.approx(strength, rel=0.35)
    np.testing.assert_allclose(found.crowd, truth.crowd, atol=0.04)


@pytest.mark.parametrize("known_share", [1.0, 0.4])
def test_skills_and_centres_written_out(known_share: float) -> None:
    counts, K = draw(make_prior(3, 7.0), 5, 20, 1), 3
    counts[4, :, 2] = 0
    prior = learn_annotator_prior(counts, known_share)
    P, t, s = prior.crowd, prior.skill_strength, prior.strength
    skills, shrinkage = prior.skills(counts), prior.shrinkage(counts)
    shrunk, log_density = shrinkage.shrink(counts), 0.0
    for m in range(5):
        n = counts[m].sum(axis=0)
        weights = s / (n + s)
        total = weights @ n
        expected = (weights * n) @ np.diag(P) / total
        accuracy = (weights @ np.diag(counts[m]) + t * expected) / (total + t)
        skill = np.log(accuracy / (1 - accuracy)) - np.log(expected / (1 - expected))
        assert skills[m] == pytest.approx(skill, abs=1e-5)
        for a, k in np.ndindex(K, K):
            mu = expit(logit(P[k, k]) + skill)
            centre = mu if a == k else (1 - mu) * P[a, k] / (1 - P[k, k])
            assert shrunk[m, a, k] == pytest.approx((counts[m, a, k] + s * centre) / (n[k] + s))
            log_density += s * centre * np.log(shrunk[m, a, k])
    assert shrinkage.log_density(shrunk) == pytest.approx(log_density, rel=1e-5)


def test_skills_vary_more_where_classes_are_uncertain() -> None:
    """Expected counts vary less between annotators than those of known classes would."""
    counts = draw(make_prior(3, 15.0), 40, 20, 0)
    spreads = [learn_annotator_prior(counts, known).spread for known in (1.0, 0.7, 0.4)]
    assert spreads[0] < spreads[1] < spreads[2]


@pytest.mark.parametrize("n_classes", [2, 5, 10])
def test_one_accuracy_per_annotator_is_learned_where_that_is_true(n_classes: int) -> None:
    """A coin-like crowd gets nearly equal accuracies in all classes, another crowd does not."""
    spreads = []
    for strength in (1e4, 3.0):
        even = np.where(np.eye(n_classes, dtype=bool), 0.7, 0.3 / (n_classes - 1))
        counts = draw(replace(make_prior(n_classes, strength), crowd=even), 60, 30, 0)
        recalls = np.einsum("mkk->mk", make_shrinkage("learned", counts).shrink(counts))
        spreads.append(recalls.std(axis=1).mean())
    assert spreads[0] < 0.04
    assert spreads[1] > 3 * spreads[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_annotators_does_not_matter(seed: int) -> None:
    counts = draw(make_prior(5, 12.0), 50, 10, seed)
    order = np.random.default_rng(seed).permutation(50)
    one, other = learn_annotator_prior(counts), learn_annotator_prior(counts[order])
    assert one.strength == pytest.approx(other.strength, rel=1e-9)
    np.testing.assert_allclose(one.skills(counts[order]), other.skills(counts[order]), rtol=1e-9)


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 3, 3), (3, 40, 40)])
def test_tiny_crowds_have_a_finite_prior(shape: tuple[int, int, int]) -> None:
    for counts in (np.zeros(shape), np.ones(shape), np.random.default_rng(0).random(shape)):
        shrinkage = make_shrinkage("learned", counts)
        confusions = shrinkage.shrink(counts)
        assert confusions.min() > 0
        np.testing.assert_allclose(confusions.sum(axis=1), 1)
        assert np.isfinite(shrinkage.log_density(confusions))


def test_shrinking_is_adding_pseudo_counts() -> None:
    counts = np.random.default_rng(0).integers(0, 20, size=(5, 3, 3)).astype(float)
    pseudo = pooled_pseudo_counts(counts, 4.0)
    mixed = counts + pseudo
    np.testing.assert_allclose(
        make_shrinkage(4.0, counts).shrink(counts), mixed / mixed.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(pseudo.sum(axis=0), 4.0)


def test_the_log_density_of_pseudo_counts_written_out() -> None:
    rng = np.random.default_rng(1)
    pseudo, confusions = rng.random((3, 3)), rng.dirichlet(np.ones(3), size=(4, 3))
    expected = sum(
        pseudo[cell[1:]] * np.log(confusions[cell]) for cell in np.ndindex(confusions.shape)
    )
    assert PseudoCounts(pseudo).log_density(confusions) == pytest.approx(expected)


def test_without_shrinkage_columns_are_shares_and_empty_ones_uniform() -> None:
    counts = np.array([[[3.0, 0.0], [1.0, 0.0]]])
    np.testing.assert_allclose(
        make_shrinkage(None, counts).shrink(counts), [[[0.75, 0.5], [0.25, 0.5]]]
    )


def test_vote_confusions_take_the_majority_vote_for_the_truth() -> None:
    matrix = np.array([[0, 0, 0, 1]] * 60 + [[1, 1, 1, 1]] * 40)
    confusions = vote_confusions(count_votes(Responses.from_matrix(matrix)).counts)
    np.testing.assert_allclose(confusions[0], np.eye(2), atol=0.02)
    np.testing.assert_allclose(confusions[3], [[0, 0], [1, 1]], atol=0.02)


@pytest.mark.parametrize("n_annotators", [5, 200])
def test_the_likelihood_of_columns_is_dirichlet_multinomial(n_annotators: int) -> None:
    """Few and many counts; columns and cells without counts change nothing."""
    rng = np.random.default_rng(0)
    centres = rng.dirichlet(np.ones(4), size=3).T[None]
    counts = rng.integers(0, 20, size=(n_annotators, 4, 3)) * (rng.random((4, 1)) < 0.8)
    counts[0] = 0
    log_likelihood = column_log_likelihood(counts.astype(float), centres)

    def written_out(s: float) -> float:
        total = 0.0
        for m, k in np.ndindex(n_annotators, 3):
            column, alpha = counts[m, :, k], s * centres[0, :, k]
            total += float(dirichlet_multinomial.logpmf(column, alpha, column.sum()))
        return total

    difference = log_likelihood(30.0) - log_likelihood(2.0)
    assert difference == pytest.approx(written_out(30.0) - written_out(2.0))
    best = learn_strength(counts.astype(float), centres)
    log_posteriors = [log_likelihood(best * f) - np.log(best * f) / 2 for f in (1, 0.8, 1.25)]
    assert max(log_posteriors) == log_posteriors[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_pseudo_count_of_classes_maximises_the_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    totals = rng.multinomial(500, rng.dirichlet(np.full(30, 2.0)))
    found = learn_class_pseudo_count(totals.astype(float))

    def log_likelihood(pseudo_count: float) -> float:
        return float(dirichlet_multinomial.logpmf(totals, np.full(30, pseudo_count), 500))

    assert all(log_likelihood(found) > log_likelihood(found * factor) for factor in (0.8, 1.25))


def test_the_prior_of_a_fit_is_its_expected_counts_and_the_pseudo_count() -> None:
    responses = skilled_crowd("coin", 5, 100, 0).responses
    method = DawidSkene().fit(responses)
    totals = method.model_.expected_counts(responses).totals
    shares = totals + method._class_pseudo_count
    np.testing.assert_allclose(method.model_.prior, shares / shares.sum(), atol=1e-3)
    assert method._class_pseudo_count > 0


def test_many_classes_with_few_items_get_fewer_errors() -> None:
    """Compared with the same fit whose pseudo-count is zero, over twenty crowds."""

    class WithoutClassPrior(DawidSkene):
        def _initialize_m_step(self, *arguments: object) -> None:
            super()._initialize_m_step(*arguments)  # type: ignore[arg-type]
            self._class_pseudo_count = 0.0

    errors = []
    for seed in range(20):
        crowd = skilled_crowd("coin", 50, 20, seed)
        methods = DawidSkene(), WithoutClassPrior()
        fits = [method.fit(crowd.responses).posteriors_ for method in methods]
        errors.append([error_rate(posteriors, crowd.truth) for posteriors in fits])
    learned, plain = np.mean(errors, axis=0)
    assert learned < 0.98 * plain
