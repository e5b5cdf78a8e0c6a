"""The learned prior of confusion matrices: recovered parameters, and formulas written out."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, gammaln
from scipy.stats import dirichlet_multinomial, nbinom

from blindfuse.model.annotator_prior import (
    MAX_LOGIT_STEP,
    MAX_STRENGTH,
    MIN_KNOWN,
    AnnotatorEffects,
    AnnotatorPrior,
    DiagonalCounts,
    SkillPrior,
    WrongResponses,
    _dirichlet_strength,
    _least_preference_strength,
    _pattern_strengths,
    _skill_distribution,
    known_share,
    learn_annotator_prior,
)

Floats = NDArray[np.float64]


def even_pattern(n_classes: int) -> Floats:
    return (1 - np.eye(n_classes)) / (n_classes - 1)


def draw(prior: AnnotatorPrior, n_annotators: int, n_responses: int, seed: int) -> Floats:
    """Counts ``[annotator, reported, true]`` of annotators that the prior describes."""
    rng = np.random.default_rng(seed)
    skill, K = prior.skill, len(prior.pattern)
    counts = np.zeros((n_annotators, K, K))
    for m in range(n_annotators):
        mu = expit(rng.normal(skill.mean, skill.spread) + skill.class_effects)
        r = prior.preference_strength
        preferences = rng.gamma(r, 1 / r, size=K) if r < MAX_STRENGTH else np.ones(K)
        for k in range(K):
            others = np.flatnonzero(np.arange(K) != k)
            column = np.empty(K)
            column[k] = rng.beta(skill.strength * mu[k], skill.strength * (1 - mu[k]))
            pattern = prior.pattern[others, k] * preferences[others]
            shares = rng.dirichlet(prior.pattern_strength * pattern / pattern.sum())
            column[others] = (1 - column[k]) * shares
            counts[m, :, k] = rng.multinomial(n_responses, column)
    return counts


def make_prior(
    n_classes: int,
    strength: float,
    pattern_strength: float = 50.0,
    spread: float = 0.8,
    preference_strength: float = MAX_STRENGTH,
) -> AnnotatorPrior:
    effects = np.linspace(-0.5, 0.5, n_classes)
    skill = SkillPrior(1.0, spread, effects, strength)
    return AnnotatorPrior(skill, even_pattern(n_classes), pattern_strength, preference_strength)


def draw_effects(n_annotators: int, n_classes: int, seed: int) -> AnnotatorEffects:
    rng = np.random.default_rng(seed)
    return AnnotatorEffects(
        rng.normal(size=n_annotators), rng.gamma(2, 0.5, (n_annotators, n_classes))
    )


def with_patterns(prior: AnnotatorPrior, effects: AnnotatorEffects) -> tuple[Floats, Floats]:
    """The arguments of ``confusions`` and ``log_density`` that describe annotators."""
    return effects.skills, prior.own_patterns(effects.preferences)


def own_pattern(prior: AnnotatorPrior, preferences: Floats, k: int) -> dict[int, float]:
    """O_m(a, k) by reported class a, of an annotator with these preferences ``[reported]``."""
    others = [a for a in range(len(prior.pattern)) if a != k]
    total = sum(prior.pattern[a, k] * preferences[a] for a in others)
    return {a: prior.pattern[a, k] * preferences[a] / total for a in others}


def shrink(counts: Floats) -> Floats:
    prior, effects = learn_annotator_prior(counts)
    return prior.confusions(counts, *with_patterns(prior, effects))


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


SKILL_DISTRIBUTIONS = [(1.5, 0.8, 10), (2.5, 1.2, 8), (0.0, 1.5, 20), (-1.0, 0.5, 30)]


@pytest.mark.parametrize(("mean", "spread", "n_responses"), SKILL_DISTRIBUTIONS)
def test_the_distribution_of_skills_is_recovered_from_few_responses(
    mean: float, spread: float, n_responses: int
) -> None:
    """Many annotators are right on all of their responses, so their likelihood is one-sided."""
    rng = np.random.default_rng(0)
    right = rng.binomial(n_responses, expit(rng.normal(mean, spread, (1000, 1))))
    diagonal = DiagonalCounts(right.astype(float), np.full((1000, 1), float(n_responses)))
    prior = SkillPrior(mean, 1.0, np.zeros(1), MAX_STRENGTH)
    for _ in range(10):
        skills = np.zeros(1000)
        for _ in range(20):
            skills = prior.step(diagonal, skills)
        found = _skill_distribution(prior, diagonal, skills, known=1.0)
        prior = SkillPrior(*found, np.zeros(1), MAX_STRENGTH)
    assert prior.mean == pytest.approx(mean, abs=0.15)
    assert prior.spread == pytest.approx(spread, rel=0.1)


def test_equal_skills_have_a_small_spread() -> None:
    """Nodes that are far from the mean in units of a small spread have weights all the same."""
    rng = np.random.default_rng(0)
    counts = np.zeros((4000, 2, 2))
    counts[:, [0, 1], [0, 1]] = rng.binomial(50, 0.8, size=(4000, 2))
    counts[:, [1, 0], [0, 1]] = 50 - counts[:, [0, 1], [0, 1]]
    prior, effects = learn_annotator_prior(counts)
    assert prior.skill.spread < 0.15
    assert np.isfinite(effects.skills).all()


def test_the_spread_is_larger_where_classes_are_uncertain() -> None:
    """Expected counts vary less between annotators than those of known classes would."""
    counts = draw(make_prior(3, 15.0), 40, 20, 0)
    spreads = [learn_annotator_prior(counts, known)[0].skill.spread for known in (1.0, 0.7, 0.4)]
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
    prior = SkillPrior(0.3, 0.9, rng.normal(size=3), 12.0)
    skills = rng.normal(size=6)
    nearby = skills[:, None] + np.array([-1e-4, 1e-4])
    low, high = prior.log_quasi_likelihood(diagonal, nearby).T
    score, information = prior.score(diagonal, skills)
    np.testing.assert_allclose((high - low) / 2e-4, score, atol=1e-5)
    change = (score + (prior.mean - skills) / 0.81) / (information + 1 / 0.81)
    change = np.clip(change, -MAX_LOGIT_STEP, MAX_LOGIT_STEP)
    np.testing.assert_allclose(prior.step(diagonal, skills) - skills, change, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 5, 10])
def test_one_accuracy_per_annotator_is_learned_where_that_is_true(n_classes: int) -> None:
    """A coin-like crowd gets nearly equal accuracies in all classes, another crowd does not."""
    spreads = []
    for strength in (1e4, 3.0):
        skill = SkillPrior(0.5, 1.0, np.zeros(n_classes), strength)
        truth = AnnotatorPrior(skill, even_pattern(n_classes), 1e4, MAX_STRENGTH)
        counts = draw(truth, 60, 30, 0)
        recalls = np.einsum("mkk->mk", shrink(counts))
        spreads.append(recalls.std(axis=1).mean())
    assert spreads[0] < 0.04
    assert spreads[1] > 3 * spreads[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_pattern_strength_maximises_the_likelihood(seed: int) -> None:
    counts = draw(make_prior(4, 20, pattern_strength=5.0), 80, 40, seed)
    off_diagonal, pattern = counts * (1 - np.eye(4)), even_pattern(4)
    found = _dirichlet_strength(off_diagonal, np.broadcast_to(pattern, counts.shape))

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
    counts, effects = draw(prior, 5, 20, 1), draw_effects(5, 3, 1)
    found = prior.confusions(counts, *with_patterns(prior, effects))
    for m, k in np.ndindex(5, 3):
        mu = expit(effects.skills[m] + prior.skill.class_effects[k])
        right = (counts[m, k, k] + 7 * mu) / (counts[m, :, k].sum() + 7)
        assert found[m, k, k] == pytest.approx(right)
        wrong = sum(counts[m, a, k] for a in range(3) if a != k)
        for a, expected in own_pattern(prior, effects.preferences[m], k).items():
            share = (counts[m, a, k] + 4 * expected) / (wrong + 4)
            assert found[m, a, k] == pytest.approx((1 - right) * share)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_the_log_density_written_out() -> None:
    prior = make_prior(3, 7.0, pattern_strength=4.0)
    confusions = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 3)).transpose(0, 2, 1)
    effects = draw_effects(4, 3, 0)
    s, t, expected = 7.0, 4.0, 0.0
    for m in range(4):
        expected -= (effects.skills[m] - 1.0) ** 2 / (2 * 0.8**2)
        for k in range(3):
            mu = expit(effects.skills[m] + prior.skill.class_effects[k])
            d = confusions[m, k, k]
            expected += s * mu * np.log(d) + s * (1 - mu) * np.log(1 - d)
            expected -= gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
            for a, share in own_pattern(prior, effects.preferences[m], k).items():
                expected += t * share * np.log(confusions[m, a, k] / (1 - d))
    assert prior.log_density(confusions, *with_patterns(prior, effects)) == pytest.approx(expected)


def test_preferences_written_out() -> None:
    prior = make_prior(4, 7.0, preference_strength=3.0)
    counts = draw(prior, 6, 20, 2)
    found = prior.preferences(counts)
    for m, a in np.ndindex(6, 4):
        others = [k for k in range(4) if k != a]
        wrong = {k: sum(counts[m, b, k] for b in range(4) if b != k) for k in others}
        reported = sum(counts[m, a, k] for k in others)
        expected = sum(wrong[k] * prior.pattern[a, k] for k in others)
        assert found[m, a] == pytest.approx((reported + 3) / (expected + 3))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("preference_strength", [0.5, 3.0])
def test_strengths_maximise_the_likelihood_of_columns_left_out(
    preference_strength: float, seed: int
) -> None:
    """No column is predicted from itself; r is learned roughly, and has a lower bound."""
    truth = make_prior(4, 20, pattern_strength=30.0, preference_strength=preference_strength)
    counts, pattern = draw(truth, 60, 40, seed), truth.pattern
    t, r = _pattern_strengths(counts, pattern)

    def log_likelihood(t: float, r: float) -> float:
        prior, total = make_prior(4, 20, preference_strength=r), 0.0
        for m, k in np.ndindex(60, 4):
            other_columns = counts[m].copy()
            other_columns[:, k] = 0
            shares = own_pattern(prior, prior.preferences(other_columns[None])[0], k)
            row = [int(counts[m, a, k]) for a in shares]
            alpha = t * np.array(list(shares.values()))
            total += dirichlet_multinomial.logpmf(row, alpha, sum(row))
        return total

    best = log_likelihood(t, r)
    assert all(best > log_likelihood(t * factor, r) for factor in (0.7, 1.4))
    least = _least_preference_strength(WrongResponses.from_counts(counts, pattern))
    assert r >= least
    others = [other for other in (r / 2, 2 * r) if other > least]
    assert all(best > log_likelihood(t, other) - 0.5 for other in others)
    assert preference_strength / 3 < r < preference_strength * 3


@pytest.mark.parametrize("seed", range(4))
def test_the_least_preference_strength_maximises_the_likelihood(seed: int) -> None:
    """A gamma-Poisson count is a negative binomial one of success probability r / (r + e)."""
    prior = make_prior(5, 20, pattern_strength=1e4, preference_strength=1.0)
    wrong = WrongResponses.from_counts(draw(prior, 60, 40, seed), prior.pattern)
    found = _least_preference_strength(wrong)

    def log_likelihood(r: float) -> float:
        probabilities = r / (r + wrong.expected)
        return float(nbinom.logpmf(wrong.reported, r, probabilities).sum())

    assert all(log_likelihood(found) > log_likelihood(found * factor) for factor in (0.7, 1.4))


@pytest.mark.parametrize("seed", range(10))
def test_noise_of_few_responses_is_no_preference(seed: int) -> None:
    """Coin-like annotators with twenty responses each."""
    _, r = _pattern_strengths(draw(make_prior(5, 1e4, 1e4), 40, 4, seed), even_pattern(5))
    assert r > 10


@pytest.mark.parametrize("seed", range(5))
def test_confusions_of_one_column_are_no_preference(seed: int) -> None:
    """Columns that vary independently of each other (t = 3) do not make r small."""
    counts = draw(make_prior(6, 20.0, pattern_strength=3.0), 60, 100, seed)
    _, r = _pattern_strengths(counts, even_pattern(6))
    assert r > 20


@pytest.mark.parametrize("seed", range(5))
def test_a_favourite_class_is_predicted_in_every_column(seed: int) -> None:
    """Annotators whose errors are one class each: so is what is predicted of an unseen column."""
    rng, K, M = np.random.default_rng(seed), 8, 40
    counts = np.zeros((M, K, K))
    for m, k in np.ndindex(M, K):
        column = 0.6 * np.eye(K)[k] + 0.1 / K
        column[m % K] += 0.3
        counts[m, :, k] = rng.multinomial(10, column / column.sum())
    counts[:, :, -1] *= np.arange(M)[:, None] % 2 == 1  # half of the annotators never saw the last
    favourites = np.arange(M) % K
    unseen = (counts[:, :, -1].sum(axis=1) == 0) & (favourites != K - 1)
    column = shrink(counts)[unseen, : K - 1, -1]
    np.testing.assert_array_equal(column.argmax(axis=1), favourites[unseen])
    assert np.median(column.max(axis=1) / column.sum(axis=1)) > 0.5


@pytest.mark.parametrize("seed", range(5))
def test_preferences_stay_near_one_where_no_class_is_preferred(seed: int) -> None:
    prior, effects = learn_annotator_prior(draw(make_prior(6, 20.0), 60, 20, seed))
    assert prior.preference_strength > 10
    np.testing.assert_allclose(effects.preferences, 1, atol=0.6)


def test_skills_are_the_root_of_their_score() -> None:
    prior = make_prior(4, 15.0).skill
    diagonal = DiagonalCounts.from_counts(draw(make_prior(4, 15.0), 30, 25, 2))
    skills = np.zeros(30)
    for _ in range(50):
        skills = prior.step(diagonal, skills)
    weight = 15 / (diagonal.total + 15)
    mu = expit(skills[:, None] + prior.class_effects)
    score = (weight * (diagonal.right - diagonal.total * mu)).sum(axis=1)
    np.testing.assert_allclose(score + (1 - skills) / 0.8**2, 0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_annotators_does_not_matter(seed: int) -> None:
    counts = draw(make_prior(5, 12.0), 50, 10, seed)
    order = np.random.default_rng(seed).permutation(50)
    (one, effects), (other, shuffled) = map(learn_annotator_prior, (counts, counts[order]))
    assert one.skill.strength == pytest.approx(other.skill.strength, rel=1e-9)
    assert one.pattern_strength == pytest.approx(other.pattern_strength, rel=1e-9)
    # Where no class is preferred, the likelihood of large strengths is flat.
    assert one.preference_strength == pytest.approx(other.preference_strength, rel=1e-6)
    np.testing.assert_allclose(effects.skills[order], shuffled.skills, rtol=1e-9)
    np.testing.assert_allclose(effects.preferences[order], shuffled.preferences, rtol=1e-9)


@pytest.mark.parametrize("shape", [(1, 2, 2), (2, 3, 3), (3, 40, 40)])
def test_tiny_crowds_have_a_finite_prior(shape: tuple[int, int, int]) -> None:
    for counts in (np.zeros(shape), np.ones(shape), np.random.default_rng(0).random(shape)):
        prior, effects = learn_annotator_prior(counts)
        confusions = prior.confusions(counts, *with_patterns(prior, effects))
        assert np.isfinite(confusions).all()
        np.testing.assert_allclose(confusions.sum(axis=1), 1)
        assert np.isfinite(prior.log_density(confusions, *with_patterns(prior, effects)))
