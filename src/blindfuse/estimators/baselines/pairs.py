"""Methods from products of pairs of annotators: eigenvectors, triangles and robust ratios."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from blindfuse.errors import BadLabels, NotIdentifiable, list_names
from blindfuse.estimators.base import CombinationRule, Iterations, ModelEstimator, NonNegative
from blindfuse.estimators.voting import VotingEstimator
from blindfuse.model.model import Model
from blindfuse.parameters import between
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Flags, Floats

MIN_SKILL, MAX_SKILL = 1e-3, 0.999
"""Bounds of |θ|, |s|, accuracies and |imbalance|, which keep ratios and weights finite."""
MIN_EIGENVALUE = 1e-12
"""Below this, covariances count as zero."""


class EigenRatio(VotingEstimator):
    """A two-class vote with weights from leading eigenvectors of the agreement of pairs.

    The weights are v₁/v₂, entry by entry: v₁ is the leading eigenvector of the mean products of the
    responses (±1) of each pair, and v₂ that of the 0/1 matrix of pairs that share items. The sign
    is the one that agrees with the majority vote. Reference: Dalvi, Dasgupta, Kumar and Rastogi
    (2013), "Aggregating Crowdsourced Binary Ratings".
    """

    def _fit(self, table: Responses) -> None:
        signs = binary_signs(table, "EigenRatio")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "EigenRatio")
        _, skill = leading_eigenpair(means)
        _, overlap = leading_eigenpair((common > 0).astype(float))
        is_used = np.abs(overlap) >= 1e-9
        weights = np.divide(skill, overlap, out=np.zeros_like(skill), where=is_used)
        self._store(table, orient_to_majority(signs, weights))


class TriangularEstimation(VotingEstimator):
    """A two-class vote with each annotator's skill estimated from three annotators at a time.

    The skill is θ_k = E[response × truth], with classes as ±1. |θ_k| = √|C_ik C_jk / C_ij| for the
    pair (i, j) with the largest |C_ij| of which both share items with k, where C are mean products
    of responses. Signs follow the annotator whose own sign is clearest. Votes are weighted by
    log((1 + θ)/(1 − θ)). Reference: Bonald and Combes (2017), "A Minimax Optimal Algorithm for
    Crowdsourcing".

    Attributes
    ----------
    skills_ ``[annotator]``
        θ: 1 for always correct, 0 for guessing, below 0 for an adversary.
    """

    def _fit(self, table: Responses) -> None:
        signs = binary_signs(table, "TriangularEstimation")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "TriangularEstimation")
        np.fill_diagonal(means, 0.0)
        np.fill_diagonal(common, 0.0)
        sizes = np.array([_skill_size(k, means, common) for k in range(table.n_annotators)])
        self.skills_ = np.clip(sizes * _skill_signs(sizes, means), -MAX_SKILL, MAX_SKILL)
        self._store(table, np.log((1 + self.skills_) / (1 - self.skills_)))


def _skill_size(k: int, means: Floats, common: Floats) -> float:
    """Return |θ_k| from the pair with the largest |C_ij| that overlaps k; zero without one."""
    partners = np.flatnonzero(common[k])
    strength = np.abs(means[np.ix_(partners, partners)])
    if not strength.size or strength.max() == 0:
        return 0.0
    i, j = partners[list(np.unravel_index(strength.argmax(), strength.shape))]
    return float(np.sqrt(np.abs(means[i, k] * means[j, k] / means[i, j])))


def _skill_signs(sizes: Floats, means: Floats) -> Floats:
    """Return the signs of θ from agreement with the annotator whose sign is clearest.

    Its own sign follows from the assumption that annotators are better than random on average.
    """
    evidence = sizes**2 + means.sum(axis=0)
    clearest = np.abs(evidence).argmax()
    signs = np.sign(means[clearest] * np.sign(evidence[clearest]))
    signs[clearest] = np.sign(evidence[clearest])
    return np.asarray(signs)


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralMetaLearner(ModelEstimator):
    """Two-class confusion matrices from covariances, and the prior from third moments.

    With classes as ±1, covariances Q_ij = λ v_i v_j for i ≠ j give v. The third central moments are
    τ v_i v_j v_k, and with β = τ/λ and s = ½√(β² + 4λ) the class imbalance is b = −β/(2s). An
    annotator with mean response μ has sensitivity ½(1 + μ + s v (1 − b)) and specificity
    ½(1 − μ + s v (1 + b)). With missing responses, moments are over common items and each triple is
    weighted by their number. References: Parisi, Strino, Nadler and Kluger (2014), "Ranking and
    Combining Multiple Predictors Without Labeled Data"; Jaffe, Nadler and Kluger (2015),
    "Estimating the Accuracies of Multiple Classifiers Without Labeled Data".

    Parameters
    ----------
    rule
        ``"ml"``, as in the references, ignores the class prior; or ``"map"``.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    imbalance_
        b, the prior of the second class minus that of the first.
    """

    rule: CombinationRule = "ml"

    def _fit(self, table: Responses) -> None:
        signs = binary_signs(table, "SpectralMetaLearner")
        means, common = mean_pair_products(signs)
        require_three_overlapping(common, "SpectralMetaLearner")
        counts = np.maximum(table.responses_per_annotator, 1)
        mu = np.asarray(signs.sum(axis=0)) / counts
        covariance = np.where(common > 0, means - np.outer(mu, mu), 0.0)
        size, direction = _fit_rank_one(covariance)
        beta = _third_moment(signs, mu, direction) / size
        scale = 0.5 * np.sqrt(beta**2 + 4 * size)
        self.imbalance_ = float(np.clip(-beta / (2 * scale), -MAX_SKILL, MAX_SKILL))
        sensitivity = 0.5 * (1 + mu + scale * direction * (1 - self.imbalance_))
        specificity = 0.5 * (1 - mu + scale * direction * (1 + self.imbalance_))
        accuracies = np.clip(np.column_stack([specificity, sensitivity]), 1 - MAX_SKILL, MAX_SKILL)
        if size <= MIN_EIGENVALUE:  # all responses agree and count as correct
            accuracies[:] = MAX_SKILL
        confusions = np.array([[[tn, 1 - tp], [1 - tn, tp]] for tn, tp in accuracies])
        prior = np.array([1 - self.imbalance_, 1 + self.imbalance_]) / 2
        self._store(Model(confusions, prior, table.annotators, table.classes), table)


def _fit_rank_one(covariance: Floats) -> tuple[float, Floats]:
    """Return λ and v with Q_ij ≈ λ v_i v_j off the diagonal, most of v positive."""
    size, direction = 0.0, np.zeros(len(covariance))
    off_diagonal = covariance - np.diag(np.diag(covariance))
    for _ in range(100):
        last = size
        size, direction = leading_eigenpair(off_diagonal + np.diag(size * direction**2))
        if abs(size - last) <= 1e-9 * abs(size):
            break
    mostly_negative = np.sum(direction > 0) * 2 < len(direction)
    return max(size, MIN_EIGENVALUE), -direction if mostly_negative else direction


def _third_moment(signs: csr_array, mu: Floats, direction: Floats) -> float:
    """Return τ by least squares over all triples, each weighted by its common items.

    No triple is formed: Σ_{i<j<k} y_i y_j y_k of an item is (p₁³ − 3 p₁ p₂ + 2 p₃)/6, where p are
    the power sums of its y.
    """
    centred = signs.copy()
    centred.data = direction[signs.indices] * (signs.data - mu[signs.indices])
    squares = signs.copy()
    squares.data = direction[signs.indices] ** 2
    weight = _sum_triple_products(squares)
    return _sum_triple_products(centred) / weight if weight > MIN_EIGENVALUE else 0.0


def _sum_triple_products(table: csr_array) -> float:
    p1, p2, p3 = (np.asarray((table**power).sum(axis=1)) for power in (1, 2, 3))
    return float(np.sum(p1**3 - 3 * p1 * p2 + 2 * p3) / 6)


def binary_signs(responses: Responses, method: str) -> csr_array:
    """Return two-class responses as signs ``[item, annotator]``: −1, +1, and 0 for missing."""
    if responses.n_classes != 2:
        raise BadLabels(
            f"{method} needs two classes, not {responses.n_classes} "
            f"({list_names(responses.classes)}). "
            "Use BlindEnsemble or DawidSkene, which accept any number of classes."
        )
    return to_signs(responses, responses.by_item.symbols == 1)


def to_signs(responses: Responses, is_positive: Flags) -> csr_array:
    """Return +1 where ``is_positive[response]`` and −1 elsewhere, sparse ``[item, annotator]``."""
    starts, annotators, _ = responses.by_item
    shape = (responses.n_items, responses.n_annotators)
    return csr_array((2.0 * is_positive - 1.0, annotators, starts), shape=shape)


def gram_matrix(table: csr_array) -> Floats:
    """Return AᵀA of a table ``[item, annotator]``."""
    return np.asarray((table.T @ table).toarray())


def leading_eigenpair(matrix: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of a symmetric matrix and its eigenvector."""
    last = len(matrix) - 1
    values, vectors = eigh(matrix, subset_by_index=(last, last))
    return float(values[0]), np.asarray(vectors[:, 0])


def mean_pair_products(signs: csr_array) -> tuple[Floats, Floats]:
    """Return the mean products of signs over common items, and the numbers of common items.

    Both have shape ``[annotator, annotator]``; the mean is zero for pairs without common items.
    """
    common, products = gram_matrix(abs(signs)), gram_matrix(signs)
    means = np.divide(products, common, out=np.zeros_like(products), where=common > 0)
    return means, common


def require_three_overlapping(common: Floats, method: str) -> None:
    """Raise NotIdentifiable unless three annotators share items with two others each."""
    partners = np.count_nonzero(common - np.diag(np.diag(common)), axis=1)
    if np.count_nonzero(partners >= 2) < 3:
        raise NotIdentifiable(
            f"{method} needs three annotators who share items with two others each.",
            "Use MajorityVote, which needs only one response per item.",
        )


def orient_to_majority(signs: csr_array, weights: Floats) -> Floats:
    """Return the weights or their negatives, whichever agree with more majority votes."""
    agreement = np.sign(signs @ weights) @ np.sign(signs.sum(axis=1))
    return -weights if agreement < 0 else weights


@dataclass(kw_only=True, eq=False, repr=False)
class MMSR(VotingEstimator):
    """A vote weighted by skill, from a robust rank-one fit of the agreement of pairs.

    If annotator m is correct with probability p_m and otherwise reports any other class with equal
    probability, the agreement a_ij over common items gives C_ij = (K a_ij − 1)/(K − 1) with mean
    s_i s_j, where s = (K p − 1)/(K − 1). Each iteration sets |s_j| to the mean of C_ij/s_i over its
    partners i, without the extreme ratios above and below the last |s_j|. The sign of s is that of
    the agreement with the other annotators. Votes are weighted by log((K − 1) p/(1 − p)).

    Reference: Ma and Olshevsky (2020), "Adversarial Crowdsourcing Through Robust Rank-One Matrix
    Completion". Where the paper alternates between two vectors, this implementation takes the
    geometric mean of the last and the new |s|, which has the same fixed points.

    Parameters
    ----------
    trim
        maximum share of an annotator's partners that is left out at either end.
    max_iter, tolerance
        maximum number of iterations, and the largest change of a skill at which they stop.

    Attributes
    ----------
    skills_ ``[annotator]``
        s: 1 for always correct, 0 for guessing, below 0 for an adversary.
    """

    trim: Annotated[float, between(0, 0.5)] = 0.25
    max_iter: Iterations = 200
    tolerance: NonNegative = 1e-6

    def _fit(self, table: Responses) -> None:
        products, common = _skill_products(table)
        require_three_overlapping(common, "MMSR")
        signs = _agreeing_signs(products * common)
        sizes = self._skill_sizes(products * np.outer(signs, signs), common > 0)
        self.skills_ = signs * sizes
        K = table.n_classes
        accuracy = np.maximum(((K - 1) * self.skills_ + 1) / K, MIN_SKILL)
        self._store(table, np.log((K - 1) * accuracy / (1 - accuracy)))

    def _skill_sizes(self, products: Floats, is_partner: Flags) -> Floats:
        """Return |s| that fits the trimmed products of pairs; 1/2 without partners."""
        sizes = np.full(len(products), 0.5)
        n_partners = is_partner.sum(axis=0)
        max_trimmed = np.floor(self.trim * n_partners).astype(int)
        for _ in range(self.max_iter):
            ratios = np.where(is_partner, products / sizes[:, None], np.inf)
            first = np.minimum(max_trimmed, (ratios < sizes).sum(axis=0))
            n_above = ((ratios > sizes) & is_partner).sum(axis=0)
            last = n_partners - np.minimum(max_trimmed, n_above)
            means = _means_between(np.sort(ratios, axis=0), first, last)
            new = np.sqrt(sizes * np.clip(means, MIN_SKILL, MAX_SKILL))
            new[n_partners == 0] = 0.5
            change = np.abs(new - sizes).max()
            sizes = new
            if change <= self.tolerance:
                break
        return sizes


def _skill_products(responses: Responses) -> tuple[Floats, Floats]:
    """Return C and the numbers of common items ``[annotator, annotator]``, with zero diagonals."""
    starts, annotators, symbols = responses.by_item
    K, M = responses.n_classes, responses.n_annotators

    def count_pairs(is_chosen: Flags) -> Floats:
        chosen = is_chosen.astype(float)
        counts = gram_matrix(csr_array((chosen, annotators, starts), shape=(responses.n_items, M)))
        np.fill_diagonal(counts, 0.0)
        return counts

    common = count_pairs(np.ones(len(symbols), dtype=bool))
    agreed = sum((count_pairs(symbols == k) for k in range(K)), np.zeros((M, M)))
    products = (K * agreed - common) / (K - 1)
    return products / np.maximum(common, 1.0), common


def _agreeing_signs(evidence: Floats) -> Floats:
    """Return +1 for annotators who agree with the others and −1 for those who do not.

    Most annotators are assumed to be better than random.
    """
    signs = np.ones(len(evidence))
    for _ in range(len(evidence)):
        new = np.where(evidence @ signs < 0, -1.0, 1.0)
        if np.array_equal(new, signs):
            break
        signs = new
    return signs


def _means_between(columns: Floats, first: Codes, last: Codes) -> Floats:
    """Return the mean of ``columns[first[j]:last[j], j]`` for each column j; zero if empty."""
    rows = np.arange(len(columns))[:, None]
    is_kept = (rows >= first) & (rows < last)
    total = np.where(is_kept, columns, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(last - first, 1))
