"""A hierarchical prior for confusion matrices, learned from how annotators differ.

An annotator has a skill, and its confusion matrix varies around what the skill predicts:

    d_mk = Γ_m(k, k)                  ~ Beta(s μ_mk, s (1 − μ_mk)),   logit μ_mk = α_m + β_k
    α_m                               ~ Normal(α₀, τ²)
    Γ_m(a, k) / (1 − d_mk), a ≠ k     ~ Dirichlet(t O(a, k))
    O(·, k)                           ~ Dirichlet(u / (K − 1))

α_m is the skill of annotator m, β_k how easy class k is for all annotators, and O the crowd's
pattern of confusions. The strengths s, t, u and the spreads of α and β are learned by maximum
marginal likelihood of expected counts (empirical Bayes). The prior therefore moves by itself
between one accuracy per annotator (large s and t), one accuracy per annotator and class (small s)
and free matrices (small s and t). Gold labels are not used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln, logit

from blindfuse.kernels.beta_binomial import log_beta_binomial
from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.model.posteriors import safe_log

Floats = NDArray[np.float64]

MIN_STRENGTH, MAX_STRENGTH = 0.1, 1e4
"""Bounds of a learned strength, in pseudo-counts. Beyond them the likelihood is flat."""
STRENGTH_TOLERANCE = 0.02
"""Absolute tolerance of a log strength."""
LEARNING_STEPS = 6
"""Alternations between skills, class effects and the strength of their deviations."""
MAX_LOGIT_STEP = 1.0
"""Largest change of a skill or class effect in one Newton step."""
MAX_SKILL = 6.0
"""Largest skill, in logits, that counts as measured: one wrong response in four hundred."""
SPREAD_STEPS = 20
"""Iterations of EM for the mean and spread of skills."""
MIN_SPREAD = 0.03
"""Smallest standard deviation of skills and of class effects, in logits."""
SPREAD_PRIOR = 2.0
"""Annotators, of a spread of one logit, that the prior of the spread of skills is worth. Few
responses per annotator say little about the spread, and a spread of zero would fit them as well."""
EDGE = 1e-6
"""Smallest distance of an expected accuracy from zero and one."""
MAX_CELLS = 500_000
"""Counts that strengths are learned from; of larger crowds, evenly spaced annotators are used."""


def column_sums(counts: Floats) -> Floats:
    """Sums of ``counts[annotator, reported, true]`` over what was reported, ``[annotator, true]``.

    For few classes, einsum takes a fifth of the time of a sum over the middle axis.
    """
    return np.asarray(np.einsum("mak->mk", counts))


class DiagonalCounts(NamedTuple):
    """Expected numbers of correct and of all responses, ``[annotator, true]`` each."""

    right: Floats
    total: Floats

    @classmethod
    def from_counts(cls, counts: Floats) -> "DiagonalCounts":
        """From expected counts ``[annotator, reported, true]``."""
        return cls(np.einsum("mkk->mk", counts), column_sums(counts))


@dataclass(frozen=True, eq=False)
class SkillPrior:
    """The part of the prior that concerns the diagonal.

    ``mean`` and ``spread`` are α₀ and τ, ``class_effects[true]`` is β and ``strength`` is s.
    """

    mean: float
    spread: float
    class_effects: Floats
    strength: float

    def expected_accuracies(self, skills: Floats) -> Floats:
        """μ ``[annotator, true]``: the accuracies that the skills ``[annotator]`` predict."""
        accuracies = expit(skills[:, None] + self.class_effects)
        return np.asarray(np.clip(accuracies, EDGE, 1 - EDGE))

    def step(self, diagonal: DiagonalCounts, skills: Floats) -> tuple[Floats, Floats]:
        """One Newton step of every skill, and the variances of the skills, ``[annotator]``.

        The quasi-likelihood of beta-binomial counts x_mk of n_mk has the score
        Σ_k w_mk (x_mk − n_mk μ_mk) and the information Σ_k w_mk n_mk μ_mk (1 − μ_mk), where
        w_mk = s / (n_mk + s); the prior adds (α₀ − α_m)/τ² and 1/τ².
        """
        mu = self.expected_accuracies(skills)
        weight = self.strength / (diagonal.total + self.strength)
        precision = 1 / self.spread**2
        expected = diagonal.total * mu
        score = np.einsum("mk,mk->m", weight, diagonal.right - expected)
        information = np.einsum("mk,mk,mk->m", weight, expected, 1 - mu) + precision
        change = (score + precision * (self.mean - skills)) / information
        return skills + np.clip(change, -MAX_LOGIT_STEP, MAX_LOGIT_STEP), 1 / information

    def accuracies(self, diagonal: DiagonalCounts, mu: Floats) -> Floats:
        """Posterior means (x_mk + s μ_mk) / (n_mk + s) of Γ_m(k, k), ``[annotator, true]``."""
        return np.asarray((diagonal.right + self.strength * mu) / (diagonal.total + self.strength))


@dataclass(frozen=True, eq=False)
class AnnotatorPrior:
    """The learned prior: ``skill``, and the Dirichlet prior t O of the columns' other entries.

    ``pattern[reported, true]`` is O, with zeros on the diagonal and columns that sum to one;
    ``pattern_strength`` is t.
    """

    skill: SkillPrior
    pattern: Floats
    pattern_strength: float

    def confusions(self, counts: Floats, diagonal: DiagonalCounts, mu: Floats) -> Floats:
        """Posterior means of the confusion matrices ``[annotator, reported, true]``.

        The diagonal is :meth:`SkillPrior.accuracies`, given the accuracies μ that the skills
        predict; the rest of a column is distributed like n_mak + t O(a, k) over a ≠ k.
        """
        t, accuracies = self.pattern_strength, self.skill.accuracies(diagonal, mu)
        confusions: Floats = counts + t * self.pattern
        confusions *= ((1 - accuracies) / (diagonal.total - diagonal.right + t))[:, None, :]
        classes = np.arange(counts.shape[1])
        confusions[:, classes, classes] = accuracies
        return confusions

    def log_density(self, confusions: Floats, skills: Floats, mu: Floats) -> float:
        """The log density of confusion matrices and skills, up to a constant."""
        s = self.skill.strength
        diagonal = np.einsum("mkk->mk", confusions)
        log_wrong = safe_log(1 - diagonal)
        accuracy = s * (mu * safe_log(diagonal) + (1 - mu) * log_wrong)
        normalizer = gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
        # Not by BLAS, whose threads would busy-wait between iterations.
        others = np.einsum("mak,ak->", safe_log(confusions), self.pattern)
        pattern = self.pattern_strength * (others - log_wrong.sum())
        scaled = (skills - self.skill.mean) / self.skill.spread
        return float((accuracy - normalizer).sum() + pattern - (scaled**2).sum() / 2)


def learn_annotator_prior(counts: Floats) -> tuple[AnnotatorPrior, Floats]:
    """The prior under which expected ``counts[m, reported, true]`` are most likely, and the skills.

    Parameters are learned from at most MAX_CELLS counts; skills are those of all annotators.
    """
    sample = _evenly_spaced(counts)
    pattern = _crowd_pattern(sample)
    skill = _learn_skill_prior(DiagonalCounts.from_counts(sample))
    prior = AnnotatorPrior(skill, pattern, _pattern_strength(sample, pattern))
    diagonal = DiagonalCounts.from_counts(counts)
    skills = _rough_skills(diagonal)
    for _ in range(LEARNING_STEPS):
        skills, _ = skill.step(diagonal, skills)
    return prior, skills


def _evenly_spaced(counts: Floats) -> Floats:
    """The counts in an order of their own, and of a large crowd every n-th annotator.

    Sums then do not depend on the order of annotators. Last digits are dropped, because they depend
    on the order of items.
    """
    M, K, _ = counts.shape
    rounded = np.round(counts, 6)
    diagonal = DiagonalCounts.from_counts(rounded)
    order = np.lexsort((diagonal.right.sum(axis=1), diagonal.total.sum(axis=1)))
    step = -(-M * K * K // MAX_CELLS)
    return np.asarray(rounded[order[::step]])


def _rough_skills(diagonal: DiagonalCounts) -> Floats:
    return np.asarray(logit((diagonal.right.sum(axis=1) + 1) / (diagonal.total.sum(axis=1) + 2)))


def _learn_skill_prior(diagonal: DiagonalCounts) -> SkillPrior:
    """Alternate skills, class effects and strength, each given the others."""
    skills = _rough_skills(diagonal)
    spread = max(float(skills.std()), MIN_SPREAD)
    prior = SkillPrior(float(skills.mean()), spread, np.zeros(diagonal.right.shape[1]), 10.0)
    effect_spread = 0.5
    for _ in range(LEARNING_STEPS):
        for _ in range(2):
            skills, variances = prior.step(diagonal, skills)
        mean, spread = _skill_distribution(prior, skills, variances)
        effects, effect_spread = _effect_step(prior, diagonal, skills, effect_spread)
        prior = SkillPrior(mean, spread, effects, prior.strength)
        prior = SkillPrior(mean, spread, effects, _class_strength(prior, diagonal, skills))
    return prior


def _skill_distribution(
    prior: SkillPrior, skills: Floats, variances: Floats
) -> tuple[float, float]:
    """α₀ and τ of largest likelihood, if each skill is measured with the given variance.

    The measurements are what the skills would be without the prior; EM of a random-effects model.
    """
    precision = 1 / prior.spread**2
    information = np.maximum(1 / variances - precision, 1e-9)
    measured = skills + (skills - prior.mean) * precision / information
    measured = np.clip(measured, -MAX_SKILL, MAX_SKILL)
    mean, spread = prior.mean, prior.spread
    for _ in range(SPREAD_STEPS):
        precision = 1 / spread**2
        expected = (information * measured + precision * mean) / (information + precision)
        mean = float(expected.mean())
        squares = (expected - mean) ** 2 + 1 / (information + precision)
        spread = float(np.sqrt((squares.sum() + SPREAD_PRIOR) / (len(squares) + SPREAD_PRIOR)))
    return mean, spread


def _effect_step(
    prior: SkillPrior, diagonal: DiagonalCounts, skills: Floats, spread: float
) -> tuple[Floats, float]:
    """One Newton step of the class effects ``[true]``, which sum to zero, and their spread."""
    mu = prior.expected_accuracies(skills)
    weight = prior.strength / (diagonal.total + prior.strength)
    score = (weight * (diagonal.right - diagonal.total * mu)).sum(
        axis=0
    ) - prior.class_effects / spread**2
    information = (weight * diagonal.total * mu * (1 - mu)).sum(axis=0) + 1 / spread**2
    change = np.clip(score / information, -MAX_LOGIT_STEP, MAX_LOGIT_STEP)
    effects = prior.class_effects + change
    spread = max(float(np.sqrt(np.mean(effects**2 + 1 / information))), MIN_SPREAD)
    return effects - effects.mean(), spread


def _class_strength(prior: SkillPrior, diagonal: DiagonalCounts, skills: Floats) -> float:
    """s of largest beta-binomial likelihood, with the skills integrated out by Laplace's method."""
    mu, precision = prior.expected_accuracies(skills), 1 / prior.spread**2
    right, total = map(np.ascontiguousarray, diagonal)
    variance = total * mu * (1 - mu)
    log_ratio = _compiled_log_ratio if total.sum() >= MIN_COMPILED else _log_ratio

    def log_likelihood(s: float) -> float:
        information = np.einsum("mk,mk->m", s / (total + s), variance) + precision
        return log_ratio(right, total, mu, s) - 0.5 * float(np.log(information).sum())

    return best_strength(log_likelihood)


def _log_ratio(right: Floats, total: Floats, mu: Floats, s: float) -> float:
    """Σ log B(x + s μ, n − x + s (1 − μ)) / B(s μ, s (1 − μ))."""
    beta = gammaln(right + s * mu) + gammaln(total - right + s * (1 - mu)) - gammaln(total + s)
    normalizer = gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
    return float((beta - normalizer).sum())


def _compiled_log_ratio(right: Floats, total: Floats, mu: Floats, s: float) -> float:
    return float(log_beta_binomial(right.ravel(), total.ravel(), mu.ravel(), s))


def _crowd_pattern(counts: Floats) -> Floats:
    """O ``[reported, true]``: where wrong responses go, shrunk towards evenly by learned u."""
    K = counts.shape[1]
    off_diagonal = 1 - np.eye(K)
    even = off_diagonal / (K - 1)
    pooled = off_diagonal * counts.sum(axis=0)
    u = _dirichlet_strength(pooled[None], even)
    return np.asarray((pooled + u * even) / (pooled.sum(axis=0) + u))


def _pattern_strength(counts: Floats, pattern: Floats) -> float:
    """t of largest likelihood."""
    return _dirichlet_strength(counts * (1 - np.eye(counts.shape[1])), pattern)


def _dirichlet_strength(counts: Floats, pattern: Floats) -> float:
    """The strength of largest Dirichlet-multinomial likelihood of off-diagonal counts.

    With two classes there is only one other class, and the strength does not matter.
    """
    if counts.shape[1] == 2:
        return 1.0
    # Terms of cells and columns without counts are zero; of many classes, most are.
    annotators, reported, true = np.nonzero(counts)
    cells, columns = counts[annotators, reported, true], counts.sum(axis=1)
    columns = columns[columns > 0]
    shares = np.where(pattern > 0, pattern, 1.0)

    def log_likelihood(t: float) -> float:
        prior = t * shares
        entries = gammaln(cells + prior[reported, true]) - gammaln(prior)[reported, true]
        return float(entries.sum() + len(columns) * gammaln(t) - gammaln(columns + t).sum())

    return best_strength(log_likelihood)


def best_strength(log_likelihood: Callable[[float], float]) -> float:
    """Return the strength of largest likelihood between MIN_STRENGTH and MAX_STRENGTH."""
    bounds = np.log(MIN_STRENGTH), np.log(MAX_STRENGTH)
    found = minimize_scalar(
        lambda log_strength: -log_likelihood(float(np.exp(log_strength))),
        bounds=bounds,
        method="bounded",
        options={"xatol": STRENGTH_TOLERANCE},
    )
    return float(np.exp(found.x))
