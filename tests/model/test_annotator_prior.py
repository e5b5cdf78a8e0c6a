"""The learned prior of confusion matrices: recovered parameters, and formulas written out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from blindfuse.model.annotator_prior import (
    MAX_LOGIT_STEP,
    MIN_KNOWN,
    AnnotatorPrior,
    DiagonalCounts,
    _skill_distribution,
    known_share,
    learn_annotator_prior,
)
from blindfuse.model.strengths import MAX_STRENGTH

Floats = NDArray[np.float64]


def even_pattern(n_classes: int) -> Floats:
    return (1 - np.eye(n_classes)) / max(n_classes - 1, 1)


def draw(prior: AnnotatorPrior, n_annotators: int, n_responses: int, seed: int) -> Floats:
    """Counts ``[annotator, reported, true]`` of annotators that the prior describes."""
    rng = np.random.default_rng(seed)
    K = len(prior.pattern)
    counts = np.zeros((n_annotators, K, K))
    for m, centres in enumerate(prior.centres(rng.normal(prior.mean, prior.spread, n_annotators))):
        for k in range(K):
            column = rng.dirichlet(prior.strength * centres[:, k])
            counts[m, :, k] = rng.multinomial(n_responses, column)
    return counts


def make_prior(n_classes: int, strength: float, spread: float = 0.8) -> AnnotatorPrior:
    effects = np.linspace(-0.5, 0.5, n_classes)
    return AnnotatorPrior(1.0, spread, effects, strength, even_pattern(n_classes))


def shrink(counts: Floats) -> Floats:
    prior, skills = learn_annotator_prior(counts)
    return prior.confusions(counts, skills)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("strength", "spread"), [(10.0, 0.8), (60.0, 0.4), (30.0, 1.5)])
def test_parameters_are_recovered(strength: float, spread: float, seed: int) -> None:
    truth = make_prior(4, strength, spread)
    found, _ = learn_annotator_prior(draw(truth, 600, 60, seed))
    assert found.mean == pytest.approx(1.0, abs=0.2)
    assert found.spread == pytest.approx(spread, rel=0.2)
    assert found.strength == pytest.approx(strength, rel=0.35)
    np.testing.assert_allclose(found.class_effects, truth.class_effects, atol=0.2)
    np.testing.assert_allclose(found.pattern, truth.pattern, atol=0.03)


SKILL_DISTRIBUTIONS = [(1.5, 0.8, 10), (2.5, 1.2, 8), (0.0, 1.5, 20), (-1.0, 0.5, 30)]


@pytest.mark.parametrize(("mean", "spread", "n_responses"), SKILL_DISTRIBUTIONS)
def test_the_distribution_of_skills_is_recovered_from_few_responses(
    mean: float, spread: float, n_responses: int
) -> None:
    """Many annotators are right on all of their responses, so their likelihood is one-sided."""
    rng = np.random.default_rng(0)
    right = rng.binomial(n_responses, expit(rng.normal(mean, spread, (1000, 1))))
    diagonal = DiagonalCounts(right.astype(float), np.full((1000, 1), float(n_responses)))
    prior = AnnotatorPrior(mean, 1.0, np.zeros(1), MAX_STRENGTH, even_pattern(1))
    for _ in range(10):
        skills = np.zeros(1000)
        for _ in range(20):
            skills = prior.step(diagonal, skills)
        learned, scale = _skill_distribution(prior, diagonal, skills, known=1.0)
        prior = replace(prior, mean=learned, spread=scale)
    assert prior.mean == pytest.approx(mean, abs=0.15)
    assert prior.spread == pytest.approx(spread, rel=0.1)


def test_equal_skills_have_a_small_spread() -> None:
    """Nodes that are far from the mean in units of a small spread have weights all the same."""
    rng = np.random.default_rng(0)
    counts = np.zeros((4000, 2, 2))
    counts[:, [0, 1], [0, 1]] = rng.binomial(50, 0.8, size=(4000, 2))
    counts[:, [1, 0], [0, 1]] = 50 - counts[:, [0, 1], [0, 1]]
    prior, skills = learn_annotator_prior(counts)
    assert prior.spread < 0.15
    assert np.isfinite(skills).all()


def test_the_spread_is_larger_where_classes_are_uncertain() -> None:
    """Expected counts vary less between annotators than those of known classes would."""
    counts = draw(make_prior(3, 15.0), 40, 20, 0)
    spreads = [learn_annotator_prior(counts, known)[0].spread for known in (1.0, 0.7, 0.4)]
    assert spreads[0] < spreads[1] < spreads[2]


def test_the_known_share_written_out() -> None:
    """Two annotators, who are right on 3 of 4 and on 1 of 2 responses; three classes."""
    counts = np.zeros((2, 3, 3))
    counts[0, 0, 0], counts[0, 1, 0], counts[1, 2, 2], counts[1, 0, 1] = 3, 1, 1, 1
    one = -0.75 * np.log(0.75) - 0.25 * np.log(0.125)
    other = -0.5 * np.log(0.5) - 0.5 * np.log(0.25)
    given_one = (4 * one + 2 * other) / 6
    assert known_share(counts, 0.3) == pytest.approx(1 - 0.3 / given_one, abs=1e-6)
    assert known_share(counts, 0.0) == 1
    assert known_share(counts, 9.0) == MIN_KNOWN


@pytest.mark.parametrize("seed", range(3))
def test_the_quasi_likelihood_has_the_score_of_a_newton_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    total = rng.integers(1, 30, (6, 3)).astype(float)
    diagonal = DiagonalCounts(np.floor(total * rng.random((6, 3))), total)
    prior = AnnotatorPrior(0.3, 0.9, rng.normal(size=3), 12.0, even_pattern(3))
    skills = rng.normal(size=6)
    nearby = skills[:, None] + np.array([-1e-4, 1e-4])
    low, high = prior.log_quasi_likelihood(diagonal, nearby).T
    score, information = prior.score(diagonal, skills)
    np.testing.assert_allclose((high - low) / 2e-4, score, atol=1e-5)
    change = (score + (prior.mean - skills) / 0.81) / (information + 1 / 0.81)
    change = np.clip(change, -MAX_LOGIT_STEP, MAX_LOGIT_STEP)
    np.testing.assert_allclose(prior.step(diagonal, skills) - skills, change, atol=1e-9)
    for _ in range(50):
        skills = prior.step(diagonal, skills)
    score, _ = prior.score(diagonal, skills)
    np.testing.assert_allclose(score + (prior.mean - skills) / 0.81, 0, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 5, 10])
def test_one_accuracy_per_annotator_is_learned_where_that_is_true(n_classes: int) -> None:
    """A coin-like crowd gets nearly equal accuracies in all classes, another crowd does not."""
    spreads = []
    for strength in (1e4, 3.0):
        truth = replace(make_prior(n_classes, strength, 1.0), class_effects=np.zeros(n_classes))
        recalls = np.einsum("mkk->mk", shrink(draw(truth, 60, 30, 0)))
        spreads.append(recalls.std(axis=1).mean())
    assert spreads[0] < 0.04
    assert spreads[1] > 3 * spreads[0]


def test_posterior_means_and_their_log_density_written_out() -> None:
    prior = replace(make_prior(3, 7.0), pattern=np.array([[0, 0.3, 1], [0.2, 0, 0], [0.8, 0.7, 0]]))
    counts, skills = draw(make_prior(3, 7.0), 5, 20, 1), np.random.default_rng(1).normal(size=5)
    found = prior.confusions(counts, skills)
    log_density = -sum((skills - 1.0) ** 2) / (2 * 0.8**2)
    for m, a, k in np.ndindex(5, 3, 3):
        mu = expit(skills[m] + prior.class_effects[k])
        centre = mu if a == k else (1 - mu) * prior.pattern[a, k]
        mean = (counts[m, a, k] + 7 * centre) / (counts[m, :, k].sum() + 7)
        assert found[m, a, k] == pytest.approx(mean)
        if centre > 0:
            log_density -= 7 * centre * np.log(centre / mean)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert prior.log_density(found, skills) == pytest.approx(log_density)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_annotators_does_not_matter(seed: int) -> None:
    counts = draw(make_prior(5, 12.0), 50, 10, seed)
    order = np.random.default_rng(seed).permutation(50)
    (one, skills), (other, shuffled) = map(learn_annotator_prior, (counts, counts[order]))
    assert one.strength == pytest.approx(other.strength, rel=1e-9)
    np.testing.assert_allclose(skills[order], shuffled, rtol=1e-9)


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 3, 3), (3, 40, 40)])
def test_tiny_crowds_have_a_finite_prior(shape: tuple[int, int, int]) -> None:
    for counts in (np.zeros(shape), np.ones(shape), np.random.default_rng(0).random(shape)):
        prior, skills = learn_annotator_prior(counts)
        confusions = prior.confusions(counts, skills)
        assert np.isfinite(confusions).all()
        np.testing.assert_allclose(confusions.sum(axis=1), 1)
        assert np.isfinite(prior.log_density(confusions, skills))
