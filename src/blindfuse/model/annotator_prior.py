"""A hierarchical prior for confusion matrices, learned from how annotators differ.

An annotator has a skill, and its confusion matrix varies around what the skill predicts:

    Γ_m(·, k)  ~ Dirichlet(s c_mk),   c_mk(k) = μ_mk,   c_mk(a) = (1 − μ_mk) O(a, k) for a ≠ k
    logit μ_mk = α_m + β_k
    α_m        ~ Normal(α₀, τ²)

α_m is the skill of annotator m, β_k how easy class k is for all annotators, and O the crowd's
pattern of confusions. The strength s and the spreads of α and β are learned by maximum marginal
likelihood of expected counts (empirical Bayes). The prior therefore moves by itself between one
accuracy per annotator (large s) and free matrices (small s). Gold labels are not used.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logit, xlogy

from blindfuse.model.posteriors import safe_log
from blindfuse.model.strengths import (
    MAX_CELLS,
    MIN_STRENGTH,
    STRENGTH_TOLERANCE,
    best_strength,
    column_log_likelihood,
    column_sums,
)
from blindfuse.typing import Floats

LEARNING_STEPS = 6
"""Alternations between skills, class effects and the strength of their deviations."""
MAX_LOGIT_STEP = 1.0
"""Largest change of a skill or class effect in one Newton step."""
MIN_KNOWN = 0.2
"""Smallest share of the information about skills that counts as known."""
MAX_INTEGRATED = 5_000
"""Annotators whose skills are integrated out; of larger crowds, evenly spaced ones are."""
SPREAD_STEPS = 10
"""Iterations of EM for the mean and spread of skills."""
MIN_SPREAD = 0.03
"""Smallest standard deviation of skills and of class effects, in logits."""
SPREAD_PRIOR = 2.0
"""Annotators, of a spread of one logit, that the prior of the spread of skills is worth. Few
responses per annotator say little about the spread, and a spread of zero would fit them as well."""
EDGE = 1e-6
"""Smallest distance of an expected accuracy from zero and one."""
MAX_LOGIT = float(logit(1 - EDGE))
"""The logit of the largest expected accuracy."""
QUADRATURE_NODES, _weights = np.polynomial.hermite_e.hermegauss(9)
"""Nodes of Gauss–Hermite quadrature, in standard deviations."""
QUADRATURE_LOG_WEIGHTS = np.log(_weights) + QUADRATURE_NODES**2 / 2
"""Log weights of the integrand itself, without the factor exp(−x²/2)."""


class DiagonalCounts(NamedTuple):
    """Expected numbers of correct and of all responses, ``[annotator, true]`` each."""

    right: Floats
    total: Floats

    @classmethod
    def from_counts(cls, counts: Floats) -> "DiagonalCounts":
        """From expected counts ``[annotator, reported, true]``."""
        return cls(np.einsum("mkk->mk", counts), column_sums(counts))


@dataclass(frozen=True, eq=False)
class AnnotatorPrior:
    """The learned prior.

    ``mean`` and ``spread`` are α₀ and τ, ``class_effects[true]`` is β and ``strength`` is s.
    ``pattern[reported, true]`` is O, with zeros on the diagonal and columns that sum to one.
    """

    mean: float
    spread: float
    class_effects: Floats
    strength: float
    pattern: Floats

    def expected_accuracies(self, skills: Floats) -> Floats:
        """μ ``[annotator, true]``: the accuracies that the skills ``[annotator]`` predict."""
        logits = np.clip(skills[:, None] + self.class_effects, -MAX_LOGIT, MAX_LOGIT)
        return np.asarray(1 / (1 + np.exp(-logits)))  # a tenth of the time of SciPy's expit

    def centres(self, skills: Floats) -> Floats:
        """c ``[annotator, reported, true]``: the confusion matrices that the skills predict."""
        mu = self.expected_accuracies(skills)
        centres: Floats = (1 - mu)[:, None, :] * self.pattern
        np.einsum("mkk->mk", centres)[:] = mu
        return centres

    def score(self, diagonal: DiagonalCounts, skills: Floats) -> tuple[Floats, Floats]:
        """The score and the information of the skills, ``[annotator]`` each.

        The quasi-likelihood of beta-binomial counts x_mk of n_mk has the score
        Σ_k w_mk (x_mk − n_mk μ_mk) and the information Σ_k w_mk n_mk μ_mk (1 − μ_mk), where
        w_mk = s / (n_mk + s).
        """
        mu = self.expected_accuracies(skills)
        weight = self.strength / (diagonal.total + self.strength)
        expected = diagonal.total * mu
        score = np.einsum("mk,mk->m", weight, diagonal.right - expected)
        return score, np.einsum("mk,mk,mk->m", weight, expected, 1 - mu)

    def step(self, diagonal: DiagonalCounts, skills: Floats) -> Floats:
        """The skills ``[annotator]`` after one Newton step.

        The prior adds (α₀ − α_m)/τ² to the score and 1/τ² to the information.
        """
        precision = 1 / self.spread**2
        score, information = self.score(diagonal, skills)
        change = (score + precision * (self.mean - skills)) / (information + precision)
        return np.asarray(skills + np.clip(change, -MAX_LOGIT_STEP, MAX_LOGIT_STEP))

    def log_quasi_likelihood(self, diagonal: DiagonalCounts, skills: Floats) -> Floats:
        """Σ_k w_mk (x_mk η_mk − n_mk log(1 + exp η_mk)) with η_mk = α_m + β_k.

        ``skills[annotator, candidate]`` are several per annotator, and so is the result.
        """
        weight = self.strength / (diagonal.total + self.strength)
        right, total = weight * diagonal.right, weight * diagonal.total
        result = np.zeros_like(skills)
        for k, effect in enumerate(self.class_effects):
            logits = skills + effect
            result += right[:, k, None] * logits - total[:, k, None] * np.logaddexp(0, logits)
        return result

    def confusions(self, counts: Floats, skills: Floats) -> Floats:
        """Posterior means (n_mak + s c_mak) / (n_mk + s), ``[annotator, reported, true]``."""
        confusions = self.centres(skills)
        confusions *= self.strength
        confusions += counts
        confusions /= (column_sums(counts) + self.strength)[:, None, :]
        return confusions

    def log_density(self, confusions: Floats, skills: Floats) -> float:
        """The log density of confusion matrices and skills, up to a constant.

        That of the columns is −s Σ_a c_mak log(c_mak / Γ_m(a, k)), Stirling's approximation, whose
        derivative by the skill is the score above.
        """
        s, mu = self.strength, self.expected_accuracies(skills)
        # Not by BLAS, whose threads would busy-wait between iterations.
        fit = np.einsum("mak,mak->", self.centres(skills), safe_log(confusions))
        entropy = xlogy(mu, mu) + xlogy(1 - mu, 1 - mu)
        entropy += (1 - mu) * xlogy(self.pattern, self.pattern).sum(axis=0)
        scaled = (skills - self.mean) / self.spread
        return float(s * (fit - entropy.sum()) - (scaled**2).sum() / 2)


def learn_annotator_prior(counts: Floats, known: float = 1.0) -> tuple[AnnotatorPrior, Floats]:
    """The prior under which expected ``counts[m, reported, true]`` are most likely, and skills.

    ``known`` is the share of the information about skills that is known, where classes are not
    (:func:`known_share`). The prior is learned from at most MAX_CELLS counts; the skills
    ``[annotator]`` are those of all annotators. Skills, class effects and strength alternate, each
    given the others.
    """
    sample = _evenly_spaced(counts)
    diagonal = DiagonalCounts.from_counts(sample)
    skills, effect_spread = _rough_skills(diagonal), 0.5
    spread = max(float(skills.std()), MIN_SPREAD)
    effects = np.zeros(counts.shape[1])
    prior = AnnotatorPrior(float(skills.mean()), spread, effects, 10.0, _crowd_pattern(sample))
    for step in range(LEARNING_STEPS):
        for _ in range(2):
            skills = prior.step(diagonal, skills)
        mean, spread = _skill_distribution(prior, diagonal, skills, known)
        effects, effect_spread = _effect_step(prior, diagonal, skills, effect_spread)
        prior = replace(prior, mean=mean, spread=spread, class_effects=effects)
        is_last = step == LEARNING_STEPS - 1
        tolerance = STRENGTH_TOLERANCE if is_last else 10 * STRENGTH_TOLERANCE
        prior = replace(prior, strength=_column_strength(prior, sample, skills, tolerance))
    diagonal = DiagonalCounts.from_counts(counts)
    skills = _rough_skills(diagonal)
    for _ in range(LEARNING_STEPS):
        skills = prior.step(diagonal, skills)
    return prior, skills


def known_share(counts: Floats, entropy_per_item: float) -> float:
    """The share of the information about skills that is known, where the classes are not.

    1 − (entropy of the class of an item given all responses)/(that given one response), with the
    mean over responses of −a log a − (1 − a) log((1 − a)/(K − 1)) in the denominator, where a is
    the accuracy of the annotator by ``counts[m, reported, true]``.
    """
    right, total = np.einsum("mkk->m", counts), counts.sum(axis=(1, 2))
    a = right / np.maximum(total, MIN_STRENGTH)
    by_one = -xlogy(a, a) - xlogy(1 - a, (1 - a) / max(counts.shape[1] - 1, 1))
    given_one = float((total * by_one).sum() / max(total.sum(), MIN_STRENGTH))
    # Last digits depend on the order of items.
    return float(np.clip(np.round(1 - entropy_per_item / max(given_one, EDGE), 6), MIN_KNOWN, 1))


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


def _crowd_pattern(counts: Floats) -> Floats:
    """O ``[reported, true]``: where wrong responses go, shrunk towards evenly."""
    K = counts.shape[1]
    even = (1 - np.eye(K)) / (K - 1)
    pooled = (1 - np.eye(K)) * counts.sum(axis=0)
    strength = best_strength(column_log_likelihood(pooled[None], even))
    return np.asarray((pooled + strength * even) / (pooled.sum(axis=0) + strength))


def _skill_distribution(
    prior: AnnotatorPrior, diagonal: DiagonalCounts, skills: Floats, known: float
) -> tuple[float, float]:
    """α₀ and τ of largest likelihood, by EM with the skills integrated out.

    The likelihood of an annotator with few wrong responses is far from normal around its skill, and
    a normal approximation would take τ for smaller than it is. So skills are integrated by
    Gauss–Hermite quadrature at nodes around ``skills``, with the quasi-likelihood l(α) of
    :meth:`AnnotatorPrior.step`. If only a share κ of its information is ``known``, because the
    counts are expected ones, it is replaced by κ l(α) + (1 − κ) l'(α_m) (α − α_m): the slope at α_m
    is the same (Fisher's identity), and the curvature κ times as large (Louis 1982).
    """
    step = -(-len(skills) // MAX_INTEGRATED)
    sample = DiagonalCounts(diagonal.right[::step], diagonal.total[::step])
    slopes, information = prior.score(sample, skills[::step])
    scales = 1 / np.sqrt(known * information + 1 / prior.spread**2)
    offsets = scales[:, None] * QUADRATURE_NODES
    nodes = skills[::step, None] + offsets
    log_likelihoods = known * prior.log_quasi_likelihood(sample, nodes) + QUADRATURE_LOG_WEIGHTS
    log_likelihoods += (1 - known) * slopes[:, None] * offsets
    mean, spread, M = prior.mean, prior.spread, len(nodes)
    for _ in range(SPREAD_STEPS):
        log_weights = log_likelihoods - ((nodes - mean) / spread) ** 2 / 2
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        weights /= np.einsum("mq->m", weights)[:, None]
        mean = float(np.einsum("mq,mq->", weights, nodes)) / M
        squares = float(np.einsum("mq,mq->", weights, (nodes - mean) ** 2))
        spread = float(np.sqrt((squares + SPREAD_PRIOR) / (M + SPREAD_PRIOR)))
    return mean, spread


def _effect_step(
    prior: AnnotatorPrior, diagonal: DiagonalCounts, skills: Floats, spread: float
) -> tuple[Floats, float]:
    """One Newton step of the class effects ``[true]``, which sum to zero, and their spread."""
    mu = prior.expected_accuracies(skills)
    weight = prior.strength / (diagonal.total + prior.strength)
    score = (weight * (diagonal.right - diagonal.total * mu)).sum(axis=0)
    score -= prior.class_effects / spread**2
    information = (weight * diagonal.total * mu * (1 - mu)).sum(axis=0) + 1 / spread**2
    change = np.clip(score / information, -MAX_LOGIT_STEP, MAX_LOGIT_STEP)
    effects = prior.class_effects + change
    spread = max(float(np.sqrt(np.mean(effects**2 + 1 / information))), MIN_SPREAD)
    return effects - effects.mean(), spread


def _column_strength(
    prior: AnnotatorPrior, counts: Floats, skills: Floats, tolerance: float
) -> float:
    """s of largest likelihood of the counts, with the skills integrated out by Laplace's method."""
    mu, precision = prior.expected_accuracies(skills), 1 / prior.spread**2
    total = column_sums(counts)
    variance = total * mu * (1 - mu)
    given_skills = column_log_likelihood(counts, prior.centres(skills))

    def log_likelihood(s: float) -> float:
        information = np.einsum("mk,mk->m", s / (total + s), variance) + precision
        return given_skills(s) - 0.5 * float(np.log(information).sum())

    return best_strength(log_likelihood, tolerance)
