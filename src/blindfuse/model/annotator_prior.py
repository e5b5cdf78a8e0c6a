"""A hierarchical prior for confusion matrices, learned from how annotators differ.

An annotator has a skill, and its confusion matrix varies around what the skill predicts:

    d_mk = Γ_m(k, k)                  ~ Beta(s μ_mk, s (1 − μ_mk)),   logit μ_mk = α_m + β_k
    α_m                               ~ Normal(α₀, τ²)
    Γ_m(a, k) / (1 − d_mk), a ≠ k     ~ Dirichlet(t O_m(a, k)),   O_m(a, k) ∝ O(a, k) ρ_ma
    ρ_ma                              ~ Gamma(r, r)
    O(·, k)                           ~ Dirichlet(u / (K − 1))

α_m is the skill of annotator m, β_k how easy class k is for all annotators, and O the crowd's
pattern of confusions. ρ_ma is the preference of annotator m for class a: how many times as often as
the crowd it reports a where that is wrong, for example because a is its favourite when unsure. The
strengths r, s, t, u and the spreads of α and β are learned by maximum marginal likelihood of
expected counts (empirical Bayes). The prior therefore moves by itself between one accuracy per
annotator (large r, s and t), one accuracy per annotator and class (small s), favourite classes
(small r) and free matrices (small s and t). Gold labels are not used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logit, xlogy

from blindfuse.kernels.beta_binomial import log_beta_binomial, log_rising_factorials
from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.model.posteriors import safe_log
from blindfuse.typing import Floats

MIN_STRENGTH, MAX_STRENGTH = 0.1, 1e4
"""Bounds of a learned strength, in pseudo-counts. Beyond them the likelihood is flat."""
FLAT_STRENGTH = 1e3
"""Preferences of larger strength make no difference, and are not learned."""
STRENGTH_TOLERANCE, ROUGH_STRENGTH_TOLERANCE = 0.02, 0.2
"""Absolute tolerances of a log strength, and of one that hardly matters or is learned again."""
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
MIN_CELLS = 2_000
"""Counts of wrong responses from which a kernel sums their likelihood."""
MAX_LOGIT = float(logit(1 - EDGE))
"""The logit of the largest expected accuracy."""
MAX_CELLS, MAX_ROUGH_CELLS = 500_000, 20_000
"""Counts that strengths are learned from, and counts of wrong responses that the rough one is;
of larger crowds, evenly spaced annotators are used."""
PATTERN_STEPS = 2
"""Alternations between the strengths of the pattern and of preferences."""
QUADRATURE_NODES, _weights = np.polynomial.hermite_e.hermegauss(9)
"""Nodes of Gauss–Hermite quadrature, in standard deviations."""
QUADRATURE_LOG_WEIGHTS = np.log(_weights) + QUADRATURE_NODES**2 / 2
"""Log weights of the integrand itself, without the factor exp(−x²/2)."""


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
        logits = np.clip(skills[:, None] + self.class_effects, -MAX_LOGIT, MAX_LOGIT)
        return np.asarray(1 / (1 + np.exp(-logits)))  # a tenth of the time of SciPy's expit

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
        found = np.zeros_like(skills)
        for k, effect in enumerate(self.class_effects):
            logits = skills + effect
            found += right[:, k, None] * logits - total[:, k, None] * np.logaddexp(0, logits)
        return found

    def accuracies(self, diagonal: DiagonalCounts, mu: Floats) -> Floats:
        """Posterior means (x_mk + s μ_mk) / (n_mk + s) of Γ_m(k, k), ``[annotator, true]``."""
        return np.asarray((diagonal.right + self.strength * mu) / (diagonal.total + self.strength))


class AnnotatorEffects(NamedTuple):
    """Skills α ``[annotator]`` and preferences ρ ``[annotator, reported]``."""

    skills: Floats
    preferences: Floats


@dataclass(frozen=True, eq=False)
class AnnotatorPrior:
    """The learned prior: ``skill``, and the Dirichlet priors t O_m of the columns' other entries.

    ``pattern[reported, true]`` is O, with zeros on the diagonal and columns that sum to one;
    ``pattern_strength`` is t and ``preference_strength`` is r.
    """

    skill: SkillPrior
    pattern: Floats
    pattern_strength: float
    preference_strength: float

    def preferences(self, counts: Floats) -> Floats:
        """Posterior means (w_ma + r) / (e_ma + r) of ρ, ``[annotator, reported]``.

        w_ma is the number of wrong responses a, and e_ma the number that the pattern O predicts.
        """
        wrong = WrongResponses.from_counts(counts, self.pattern)
        r = self.preference_strength
        return np.asarray((wrong.reported + r) / (wrong.expected + r))

    def own_patterns(self, preferences: Floats) -> Floats:
        """O_m ``[annotator, reported, true]`` of annotators with these preferences."""
        # Not by BLAS, whose threads would busy-wait between iterations.
        sums = np.einsum("ma,ak->mk", preferences, self.pattern)
        patterns: Floats = self.pattern * preferences[:, :, None]
        patterns /= sums[:, None]
        return patterns

    def confusions(self, counts: Floats, skills: Floats, patterns: Floats) -> Floats:
        """Posterior means of the confusion matrices ``[annotator, reported, true]``.

        The diagonal is :meth:`SkillPrior.accuracies`; the rest of a column is distributed like
        n_mak + t O_m(a, k) over a ≠ k. ``patterns`` are those of :meth:`own_patterns`.
        """
        diagonal, t = DiagonalCounts.from_counts(counts), self.pattern_strength
        mu = self.skill.expected_accuracies(skills)
        accuracies = self.skill.accuracies(diagonal, mu)
        confusions: Floats = t * patterns
        confusions += counts
        confusions *= ((1 - accuracies) / (diagonal.total - diagonal.right + t))[:, None, :]
        classes = np.arange(counts.shape[1])
        confusions[:, classes, classes] = accuracies
        return confusions

    def log_density(self, confusions: Floats, skills: Floats, patterns: Floats) -> float:
        """The log density of confusion matrices and skills given ρ, up to a constant."""
        s, mu = self.skill.strength, self.skill.expected_accuracies(skills)
        diagonal = np.einsum("mkk->mk", confusions)
        log_wrong = safe_log(1 - diagonal)
        accuracy = s * (mu * safe_log(diagonal) + (1 - mu) * log_wrong)
        normalizer = gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
        others = np.einsum("mak,mak->mk", safe_log(confusions), patterns)
        pattern = self.pattern_strength * (others - log_wrong)
        scaled = (skills - self.skill.mean) / self.skill.spread
        return float((accuracy - normalizer + pattern).sum() - (scaled**2).sum() / 2)


class WrongResponses(NamedTuple):
    """Numbers of wrong responses.

    ``cells[annotator, reported, true]`` has zeros on the diagonal. ``reported`` is w_ma, their sum
    over true classes, and ``true[annotator, true]`` their sum over reports. ``expected`` is e_ma:
    what w_ma would be if those of each true class were distributed like the pattern O.
    """

    cells: Floats
    reported: Floats
    true: Floats
    expected: Floats

    @classmethod
    def from_counts(cls, counts: Floats, pattern: Floats) -> "WrongResponses":
        """From expected counts ``[annotator, reported, true]``."""
        cells = counts * (1 - np.eye(counts.shape[1]))
        true, reported = column_sums(cells), np.einsum("mak->ma", cells)
        return cls(cells, reported, true, np.einsum("mk,ak->ma", true, pattern))

    def patterns_elsewhere(self, pattern: Floats, r: float) -> Floats:
        """O_m of each column with the preferences that the annotator's other columns imply.

        Those of all columns would explain the counts of a column too well, and small t would be
        taken for preferences.
        """
        preferences = self.reported[:, :, None] - self.cells + r
        preferences /= self.expected[:, :, None] - self.true[:, None, :] * pattern + r
        preferences *= pattern
        preferences /= column_sums(preferences)[:, None]
        return preferences


def learn_annotator_prior(
    counts: Floats, known: float = 1.0
) -> tuple[AnnotatorPrior, AnnotatorEffects]:
    """The prior under which expected ``counts[m, reported, true]`` are most likely, and effects.

    ``known`` is the share of the information about skills that is known, where classes are not
    (:func:`known_share`). Parameters are learned from at most MAX_CELLS counts; the effects are
    those of all annotators.
    """
    sample = _evenly_spaced(counts)
    pattern = _crowd_pattern(sample)
    skill = _learn_skill_prior(DiagonalCounts.from_counts(sample), known)
    prior = AnnotatorPrior(skill, pattern, *_pattern_strengths(sample, pattern))
    diagonal = DiagonalCounts.from_counts(counts)
    skills = _rough_skills(diagonal)
    for _ in range(LEARNING_STEPS):
        skills = skill.step(diagonal, skills)
    return prior, AnnotatorEffects(skills, prior.preferences(counts))


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


def _learn_skill_prior(diagonal: DiagonalCounts, known: float) -> SkillPrior:
    """Alternate skills, class effects and strength, each given the others."""
    skills = _rough_skills(diagonal)
    spread = max(float(skills.std()), MIN_SPREAD)
    prior = SkillPrior(float(skills.mean()), spread, np.zeros(diagonal.right.shape[1]), 10.0)
    effect_spread = 0.5
    for step in range(1, LEARNING_STEPS + 1):
        tolerance = ROUGH_STRENGTH_TOLERANCE if step < LEARNING_STEPS else STRENGTH_TOLERANCE
        for _ in range(2):
            skills = prior.step(diagonal, skills)
        mean, spread = _skill_distribution(prior, diagonal, skills, known)
        effects, effect_spread = _effect_step(prior, diagonal, skills, effect_spread)
        prior = SkillPrior(mean, spread, effects, prior.strength)
        strength = _class_strength(prior, diagonal, skills, tolerance)
        prior = SkillPrior(mean, spread, effects, strength)
    return prior


def _skill_distribution(
    prior: SkillPrior, diagonal: DiagonalCounts, skills: Floats, known: float
) -> tuple[float, float]:
    """α₀ and τ of largest likelihood, by EM with the skills integrated out.

    The likelihood of an annotator with few wrong responses is far from normal around its skill, and
    a normal approximation would take τ for smaller than it is. So skills are integrated by
    Gauss–Hermite quadrature at nodes around ``skills``, with the quasi-likelihood l(α) of
    :meth:`SkillPrior.step`. If only a share κ of its information is ``known``, because the counts
    are expected ones, it is replaced by κ l(α) + (1 − κ) l'(α_m) (α − α_m): the slope at α_m is the
    same (Fisher's identity), and the curvature κ times as large (Louis 1982).
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


def _class_strength(
    prior: SkillPrior, diagonal: DiagonalCounts, skills: Floats, tolerance: float
) -> float:
    """s of largest beta-binomial likelihood, with the skills integrated out by Laplace's method."""
    mu, precision = prior.expected_accuracies(skills), 1 / prior.spread**2
    total = np.ascontiguousarray(diagonal.total)
    variance = total * mu * (1 - mu)
    log_ratio = log_beta_binomial if total.sum() >= MIN_COMPILED else _log_ratio
    used = np.nonzero(total)  # terms of classes without responses are zero
    cells = diagonal.right[used], total[used], mu[used]

    def log_likelihood(s: float) -> float:
        information = np.einsum("mk,mk->m", s / (total + s), variance) + precision
        return float(log_ratio(*cells, s)) - 0.5 * float(np.log(information).sum())

    return best_strength(log_likelihood, tolerance)


def _log_ratio(right: Floats, total: Floats, mu: Floats, s: float) -> float:
    """Σ log B(x + s μ, n − x + s (1 − μ)) / B(s μ, s (1 − μ))."""
    beta = gammaln(right + s * mu) + gammaln(total - right + s * (1 - mu)) - gammaln(total + s)
    normalizer = gammaln(s * mu) + gammaln(s * (1 - mu)) - gammaln(s)
    return float((beta - normalizer).sum())


def _crowd_pattern(counts: Floats) -> Floats:
    """O ``[reported, true]``: where wrong responses go, shrunk towards evenly by learned u."""
    K = counts.shape[1]
    off_diagonal = 1 - np.eye(K)
    even = off_diagonal / (K - 1)
    pooled = off_diagonal * counts.sum(axis=0)
    u = _dirichlet_strength(pooled[None], even[None])
    return np.asarray((pooled + u * even) / (pooled.sum(axis=0) + u))


def _pattern_strengths(counts: Floats, pattern: Floats) -> tuple[float, float]:
    """t and r of largest likelihood, alternately given each other.

    Small t makes reports vary as well, so r is at least :func:`_least_preference_strength`. It
    needs no precision, and is learned from at most MAX_ROUGH_CELLS counts.
    """
    if len(pattern) == 2:  # wrong responses have one class to go to, and strengths do not matter
        return 1.0, MAX_STRENGTH
    wrong = WrongResponses.from_counts(counts, pattern)
    step = 1 + np.count_nonzero(wrong.cells) // MAX_ROUGH_CELLS
    sample = WrongResponses(*(numbers[::step] for numbers in wrong))
    used, r = np.nonzero(sample.cells), MAX_STRENGTH
    cells = sample.cells[used]
    least = _least_preference_strength(wrong)
    for _ in range(PATTERN_STEPS if least < FLAT_STRENGTH else 0):
        patterns = sample.patterns_elsewhere(pattern, r)
        t = _dirichlet_strength(sample.cells, patterns, ROUGH_STRENGTH_TOLERANCE)

        def log_likelihood(r: float, t: float = t) -> float:
            shares = sample.patterns_elsewhere(pattern, r)[used]
            return _log_rising(cells, shares, t)

        r = best_strength(log_likelihood, ROUGH_STRENGTH_TOLERANCE, least)
    return _dirichlet_strength(wrong.cells, wrong.patterns_elsewhere(pattern, r)), r


def _least_preference_strength(wrong: WrongResponses) -> float:
    """r of largest gamma-Poisson likelihood of w_ma, if the mean of each is ρ_ma e_ma exactly."""
    w, e = wrong.reported, wrong.expected

    def log_likelihood(r: float) -> float:
        terms = gammaln(w + r) - (w + r) * np.log(e + r)
        return float(terms.sum() + w.size * (r * np.log(r) - gammaln(r)))

    return best_strength(log_likelihood, ROUGH_STRENGTH_TOLERANCE)


def _dirichlet_strength(
    counts: Floats, patterns: Floats, tolerance: float = STRENGTH_TOLERANCE
) -> float:
    """The strength of largest Dirichlet-multinomial likelihood of off-diagonal counts.

    Axes of both are ``[annotator, reported, true]``.
    """
    # Terms of cells and columns without counts are zero; of many classes, most are.
    used = np.nonzero(counts)
    cells, shares, columns = counts[used], patterns[used], column_sums(counts)
    columns = columns[columns > 0]
    ones = np.ones_like(columns)

    def log_likelihood(t: float) -> float:
        return _log_rising(cells, shares, t) - _log_rising(columns, ones, t)

    return best_strength(log_likelihood, tolerance)


def _log_rising(counts: Floats, shares: Floats, strength: float) -> float:
    """Σ log Γ(n + t p) / Γ(t p) over counts n with shares p of the strength t."""
    if counts.size >= MIN_CELLS:
        return float(log_rising_factorials(counts, shares, strength))
    return float((gammaln(counts + strength * shares) - gammaln(strength * shares)).sum())


def best_strength(
    log_likelihood: Callable[[float], float],
    tolerance: float = STRENGTH_TOLERANCE,
    minimum: float = MIN_STRENGTH,
) -> float:
    """Return the strength of largest likelihood between ``minimum`` and MAX_STRENGTH.

    Last digits of the likelihood depend on the order of annotators and would change the way of the
    search, so they are dropped.
    """
    bounds = np.log(minimum), np.log(MAX_STRENGTH)
    found = minimize_scalar(
        lambda log_strength: -round(log_likelihood(float(np.exp(log_strength))), 7),
        bounds=bounds,
        method="bounded",
        options={"xatol": tolerance},
    )
    return float(np.exp(found.x))
