"""The learned prior of confusion matrices: recovered parameters, and formulas written out."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, gammaln
from scipy.stats import dirichlet_multinomial

from blindfuse.model.annotator_prior import (
    AnnotatorPrior,
    DiagonalCounts,
    SkillPrior,
    _dirichlet_strength,
    learn_annotator_prior,
)

Floats = NDArray[np.float64]


def posterior_means(prior: AnnotatorPrior, counts: Floats, skills: Floats) -> Floats:
    mu = prior.skill.expected_accuracies(skills)
    return prior.confusions(counts, DiagonalCounts.from_counts(counts), mu)


def log_density(prior: AnnotatorPrior, confusions: Floats, skills: Floats) -> float:
    return prior.log_density(confusions, skills, prior.skill.expected_accuracies(skills))


def even_pattern(n_classes: int) -> Floats:
    return (1 - np.eye(n_classes)) / (n_classes - 1)


def draw(prior: AnnotatorPrior, n_annotators: int, n_responses: int, seed: int) -> Floats:
    """Counts ``[annotator, reported, true]`` of annotators that the prior describes."""
    rng = np.random.default_rng(seed)
    skill, K = prior.skill, len(prior.pattern)
    counts = np.zeros((n_annotators, K, K))
    for m in range(n_annotators):
        mu = expit(rng.normal(skill.mean, skill.spread) + skill.class_effects)
        for k in range(K):
            others = np.flatnonzero(np.arange(K) != k)
            column = np.empty(K)
            column[k] = rng.beta(skill.strength * mu[k], skill.strength * (1 - mu[k]))
            shares = rng.dirichlet(prior.pattern_strength * prior.pattern[others, k])
            column[others] = (1 - column[k]) * shares
            counts[m, :, k] = rng.multinomial(n_responses, column)
    return counts


def make_prior(
    n_classes: int, strength: float, pattern_strength: float = 50.0, spread: float = 0.8
) -> AnnotatorPrior:
    effects = np.linspace(-0.5, 0.5, n_classes)
    skill = SkillPrior(1.0, spread, effects, strength)
    return AnnotatorPrior(skill, even_pattern(n_classes), pattern_strength)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("strength", "spread"), [(10.0, 0.8), (60.0, 0.4), (30.0, 1.5)])
def test_parameters_are_recovered(strength: float, spread: float, seed: int) -> None:
    truth = make_prior(4, strength, spread=spread)
    found, _ = learn_annotator_prior(draw(truth, 600, 60, seed))
    assert found.skill.mean == pytest.approx(1.0, abs=0.2)
    assert found.skill.spread == pytest.approx(spread, rel=0.2)
    assert found.skill.strength == pytest.approx(strength, rel=0.35)
    assert found.pattern_strength == pytest.approx(50, rel=0.5)
    np.testing.assert_allclose(found.skill.class_effects, truth.skill.class_effects, atol=0.2)
    np.testing.assert_allclose(found.pattern, truth.pattern, atol=0.03)


@pytest.mark.parametrize("n_classes", [2, 5, 10])
def test_one_accuracy_per_annotator_is_learned_where_that_is_true(n_classes: int) -> None:
    """A coin-like crowd gets nearly equal accuracies in all classes, another crowd does not."""
    spreads = []
    for strength in (1e4, 3.0):
        skill = SkillPrior(0.5, 1.0, np.zeros(n_classes), strength)
        truth = AnnotatorPrior(skill, even_pattern(n_classes), 1e4)
        counts = draw(truth, 60, 30, 0)
        prior, skills = learn_annotator_prior(counts)
        recalls = np.einsum("mkk->mk", posterior_means(prior, counts, skills))
        spreads.append(recalls.std(axis=1).mean())
    assert spreads[0] < 0.04
    assert spreads[1] > 3 * spreads[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_pattern_strength_maximises_the_likelihood(seed: int) -> None:
    counts = draw(make_prior(4, 20, pattern_strength=5.0), 80, 40, seed)
    off_diagonal, pattern = counts * (1 - np.eye(4)), even_pattern(4)
    found = _dirichlet_strength(off_diagonal, pattern)

    def log_likelihood(strength: float) -> float:
        total = 0.0
        for k in range(4):
            others = [a for a in range(4) if a != k]
            for row in off_diagonal[:, others, k]:
                alpha = strength * pattern[others, k]
                total += dirichlet_multinomial.logpmf(row.astype(int), alpha, int(row.sum()))
        return total

    assert all(log_likelihood(found) > log_likelihood(found * factor) for factor in (0.8, 1.25))


def test_posterior_means_written_out() -> None:
    prior = make_prior(3, 7.0, pattern_strength=4.0)
    counts = draw(prior, 5, 20, 1)
    skills = np.linspace(-1, 2, 5)
    found = posterior_means(prior, counts, skills)
    for m, k in np.ndindex(5, 3):
        mu = expit(skills[m] + prior.skill.class_effects[k])
        right = (counts[m, k, k] + 7 * mu) / (counts[m, :, k].sum() + 7)
        assert found[m, k, k] == pytest.approx(right)
        wrong = sum(counts[m, a, k] for a in range(3) if a != k)
        for a in {0, 1, 2} - {k}:
            share = (counts[m, a, k] + 4 * prior.pattern[a, k]) / (wrong + 4)
            assert found[m, a, k] == pytest.approx((1 - right) * share)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_the_log_density_written_out() -> None:
    prior = make_prior(3, 7.0, pattern_strength=4.0)
    confusions = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 3)).transpose(0, 2, 1)
    skills = np.array([-1.0, 0.0, 1.0, 2.0])
    s, t, expected = 7.0, 4.0, 0.0
    for m in range(4):
        expected -= (skills[m] - 1.0) ** 2 / (2 * 0.8**2)
        for k in range(3):
            mu = expit(skills[m] + prior.skill.class_effects[k])
            d = confusions[m, k, k]
            expected += s * mu * np.log(d) + s * (1 - mu) * np.log(1 - d)
            expected -= gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
            for a in {0, 1, 2} - {k}:
                expected += t * prior.pattern[a, k] * np.log(confusions[m, a, k] / (1 - d))
    assert log_density(prior, confusions, skills) == pytest.approx(expected)


def test_skills_are_the_root_of_their_score() -> None:
    prior = make_prior(4, 15.0).skill
    diagonal = DiagonalCounts.from_counts(draw(make_prior(4, 15.0), 30, 25, 2))
    skills = np.zeros(30)
    for _ in range(50):
        skills, variances = prior.step(diagonal, skills)
    weight = 15 / (diagonal.total + 15)
    mu = expit(skills[:, None] + prior.class_effects)
    score = (weight * (diagonal.right - diagonal.total * mu)).sum(axis=1)
    np.testing.assert_allclose(score + (1 - skills) / 0.8**2, 0, atol=1e-6)
    assert np.all(variances < 0.8**2)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_annotators_does_not_matter(seed: int) -> None:
    counts = draw(make_prior(5, 12.0), 50, 10, seed)
    order = np.random.default_rng(seed).permutation(50)
    (one, skills), (other, shuffled) = map(learn_annotator_prior, (counts, counts[order]))
    assert one.skill.strength == pytest.approx(other.skill.strength, rel=1e-9)
    assert one.pattern_strength == pytest.approx(other.pattern_strength, rel=1e-9)
    np.testing.assert_allclose(skills[order], shuffled, rtol=1e-9)


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 3, 3), (3, 40, 40)])
def test_tiny_crowds_have_a_finite_prior(shape: tuple[int, int, int]) -> None:
    for counts in (np.zeros(shape), np.ones(shape), np.random.default_rng(0).random(shape)):
        prior, skills = learn_annotator_prior(counts)
        confusions = posterior_means(prior, counts, skills)
        assert np.isfinite(confusions).all()
        np.testing.assert_allclose(confusions.sum(axis=1), 1)
        assert np.isfinite(log_density(prior, confusions, skills))
