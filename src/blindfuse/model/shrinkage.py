"""Shrinkage of confusion matrices: towards what an annotator's skill predicts, or by pseudo-counts.

An annotator with three responses has mostly zeros in the estimated confusion matrix, and a zero
excludes a class. Shrinkage adds pseudo-counts, a Dirichlet prior of every column:

    Γ_m(·, k)  ~ Dirichlet(s c_mk),   c_mk(k) = μ_mk,   c_mk(a) ∝ P(a, k) for a ≠ k
    logit μ_mk = logit P(k, k) + α_m
    a_m        ~ Beta(t e_m, t (1 − e_m)),   α_m = logit a_m − logit e_m

P is the confusion matrix of the crowd, e_m the accuracy that P predicts on the annotator's items,
a_m its own accuracy and α_m its skill. P, the strengths s and t and the skills are learned from
expected counts by their marginal likelihood (empirical Bayes), so the prior moves by itself
between one accuracy per annotator (large s) and free matrices (small s), and between one skill
(large t) and free ones. Gold labels are not used.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array
from scipy.special import expit, logit, polygamma

from blindfuse.kernels.dirichlet import log_rising_factorials
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, safe_log
from blindfuse.responses.alphabet import IDENTITY, Anchor
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

ShrinkageOption = Literal["learned"] | float | None
"""How to shrink: ``"learned"``, pseudo-counts per class, or None for not at all."""

DEFAULT_PSEUDO_COUNT = 3.0
"""Pseudo-counts per class, distributed like the responses of all annotators, if not learned."""
VOTE_PSEUDO_COUNT = 1.0
"""The same for confusion matrices against the majority vote: enough to fill empty columns."""
SYMBOL_COUNT = 0.5
"""Pseudo-count of a symbol in a centre: no symbol is impossible for the whole crowd (Jeffreys)."""
MIN_STRENGTH, MAX_STRENGTH = 0.1, 1e4
"""Bounds of a learned strength, in pseudo-counts. Beyond them the likelihood is flat."""
STRENGTH_TOLERANCE = 0.02
"""Absolute tolerance of the logarithm of a strength."""
MAX_CELLS = 200_000
"""Counts that strengths are learned from; of larger crowds, evenly spaced annotators are used."""
LEARNING_STEPS = 3
"""Alternations between the confusion matrix of the crowd, the skills and the strengths."""
MIN_KNOWN = 0.2
"""Smallest share of the information about skills that counts as known."""
MAX_ENTRIES_PER_RESPONSE = 1_000
"""Entries of all confusion matrices, per response, up to which every annotator has its own; with
more, hardly any of them is determined, and their memory would not follow that of the responses."""
EDGE = 1e-6
"""Smallest distance of an expected accuracy from zero and one."""


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """Pseudo-counts that are added to the counts; their axes are those of the counts, or fewer."""

    pseudo_counts: Floats

    def shrink(self, counts: Floats) -> Floats:
        """Confusion matrices from ``counts[annotator, reported, true]`` and the pseudo-counts."""
        return normalize_columns(counts + self.pseudo_counts)

    def log_density(self, confusions: Floats) -> float:
        """The log density of confusion matrices under the prior, up to a constant."""
        # Not by BLAS, whose threads would busy-wait between iterations.
        return float((self.pseudo_counts * safe_log(confusions)).sum())


def make_shrinkage(
    option: ShrinkageOption, counts: Floats, anchor: Anchor = IDENTITY
) -> PseudoCounts:
    """Return the prior that ``option`` asks for, learned from or distributed like the counts.

    Where symbols are not classes, there is no skill to learn: columns are shrunk towards the
    crowd's (:func:`symbol_centres`) with a learned strength.
    """
    is_learned = isinstance(option, str)
    if anchor.kind == "identity":
        if is_learned:
            return learn_annotator_prior(counts).shrinkage(counts)
        return PseudoCounts(pooled_pseudo_counts(counts, float(option or 0.0)))
    centres = symbol_centres(counts, anchor)
    if is_learned:
        step = -(-counts.size // MAX_CELLS)
        strength = learn_strength(counts[::step], np.broadcast_to(centres, counts.shape)[::step])
    else:
        strength = float(option or 0.0)
    return PseudoCounts(strength * centres)


def has_own_matrices(responses: Responses) -> bool:
    """Whether there are enough responses for one confusion matrix per annotator."""
    entries = responses.n_annotators * responses.n_symbols * responses.n_classes
    return entries <= MAX_ENTRIES_PER_RESPONSE * responses.n_responses


def implied_model(responses: Responses, posteriors: Floats, threads: int | None) -> Model:
    """The model that posteriors ``[item, class]`` imply, with learned shrinkage.

    If there are too few responses for matrices of their own, all annotators share that of the
    crowd: a view, which takes the memory of one.
    """
    if has_own_matrices(responses):
        expected = count_posteriors(responses, posteriors, threads)
        counts, totals = expected.counts, expected.totals
    else:
        symbols, items = responses.by_item.symbols, responses.item_of_response()
        shape = responses.n_symbols, responses.n_items
        reported = coo_array((np.ones(len(items)), (symbols, items)), shape=shape).tocsr()
        counts, totals = (reported @ posteriors)[None], posteriors.sum(axis=0)
    confusions = make_shrinkage("learned", counts, responses.anchor).shrink(counts)
    if len(confusions) != responses.n_annotators:
        confusions = np.broadcast_to(confusions, (responses.n_annotators, *confusions.shape[1:]))
    names = responses.annotators, responses.classes, None, responses.symbols
    return Model(confusions, totals / totals.sum(), *names)


@dataclass(frozen=True, eq=False)
class AnnotatorPrior:
    """The learned prior: P ``crowd[reported, true]``, t ``skill_strength`` and s ``strength``.

    The strengths are those that learning starts from.
    """

    crowd: Floats
    skill_strength: float = MAX_STRENGTH
    strength: float = 10.0

    @property
    def spread(self) -> float:
        """The standard deviation of skills, in logits: that of a Beta(t e, t (1 − e)) variable."""
        accuracy = float(np.clip(np.diag(self.crowd).mean(), EDGE, 1 - EDGE))
        shapes = self.skill_strength * np.array([accuracy, 1 - accuracy])
        return float(np.sqrt(polygamma(1, shapes).sum()))

    def weights(self, counts: Floats) -> Floats:
        """Weights s / (n_mk + s) ``[annotator, true]`` of the n_mk responses of a column.

        Responses of one annotator to items of one class are correlated, so that many of them say
        as much about skills and the crowd as s independent ones.
        """
        return np.asarray(self.strength / (column_sums(counts) + self.strength))

    def agreement(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Weighted numbers of correct and of all responses, and e, ``[annotator]`` each."""
        weights, recalls = self.weights(counts), np.diag(self.crowd)
        responses = weights * column_sums(counts)
        right, total = (weights * np.einsum("mkk->mk", counts)).sum(axis=1), responses.sum(axis=1)
        expected = (responses @ recalls + EDGE * recalls.mean()) / (total + EDGE)
        return right, total, np.clip(expected, EDGE, 1 - EDGE)

    def skills(self, counts: Floats) -> Floats:
        """α ``[annotator]``: the posterior mean of a_m, as log odds over those of e_m."""
        right, total, expected = self.agreement(counts)
        accuracy = (right + self.skill_strength * expected) / (total + self.skill_strength)
        return np.asarray(logit(np.clip(accuracy, EDGE, 1 - EDGE)) - logit(expected))

    def expected_accuracies(self, skills: Floats) -> Floats:
        """μ ``[annotator, true]``: the accuracies that the skills ``[annotator]`` predict."""
        recalls = np.clip(np.diag(self.crowd), EDGE, 1 - EDGE)
        return np.asarray(np.clip(expit(skills[:, None] + logit(recalls)), EDGE, 1 - EDGE))

    def centres(self, counts: Floats) -> Floats:
        """c ``[annotator, reported, true]``: the confusion matrices that the skills predict."""
        mu = self.expected_accuracies(self.skills(counts))
        wrong = self.crowd * (1 - np.eye(len(self.crowd)))
        centres: Floats = (1 - mu)[:, None, :] * (wrong / wrong.sum(axis=0))
        np.einsum("mkk->mk", centres)[:] = mu
        return centres

    def shrinkage(self, counts: Floats) -> PseudoCounts:
        """The pseudo-counts s c of the annotators with these counts."""
        return PseudoCounts(self.strength * self.centres(counts))


def learn_annotator_prior(counts: Floats, known_share: float = 1.0) -> AnnotatorPrior:
    """Return the prior under which expected ``counts[annotator, reported, true]`` are most likely.

    It is learned from at most MAX_CELLS counts. Skills vary less by expected counts than by those
    of known classes: t is multiplied by the ``known_share`` of the information about skills.
    """
    sample = _evenly_spaced(counts)
    prior = AnnotatorPrior(_crowd_confusions(sample))
    for _ in range(LEARNING_STEPS):
        weights = prior.weights(sample)
        prior = replace(prior, crowd=_crowd_confusions(sample * weights[:, None, :]))
        right, total, expected = prior.agreement(sample)
        binary = np.stack([right, np.maximum(total - right, 0.0)], axis=1)[:, :, None]
        t = learn_strength(binary, np.stack([expected, 1 - expected], axis=1)[:, :, None])
        prior = replace(prior, skill_strength=known_share * t)
        prior = replace(prior, strength=learn_strength(sample, prior.centres(sample)))
    return prior


def _crowd_confusions(counts: Floats) -> Floats:
    """P ``[reported, true]``: the pooled counts, shrunk towards one accuracy for all classes."""
    pooled = counts.sum(axis=0)
    K = len(pooled)
    accuracy = (np.trace(pooled) + 0.5) / (pooled.sum() + 1)
    centre = np.where(np.eye(K, dtype=bool), accuracy, (1 - accuracy) / (K - 1))
    pseudo_counts = learn_strength(pooled[None], centre[None]) * centre
    return np.asarray(normalize_columns((pooled + pseudo_counts)[None])[0])


def _evenly_spaced(counts: Floats) -> Floats:
    """The counts in an order of their own, and of a large crowd every n-th annotator.

    Sums then do not depend on the order of annotators. Last digits are dropped, because they depend
    on the order of items.
    """
    rounded = np.round(counts, 6)
    order = np.lexsort((np.einsum("mkk->m", rounded), rounded.sum(axis=(1, 2))))
    return np.asarray(rounded[order[:: -(-counts.size // MAX_CELLS)]])


def learn_strength(counts: Floats, centres: Floats, uniform_spread: bool = True) -> float:
    """Return the most probable s, if columns Γ_m(·, k) ~ Dirichlet(s c_mk).

    A spread 1/√s of zero fits few counts as well as any. With ``uniform_spread``, all spreads are
    equally probable a priori (Gelman 2006), which adds −½ log s to the log-likelihood. Axes of
    ``counts`` and of the centres c are ``[annotator, reported, true]``.
    """
    log_likelihood, power = column_log_likelihood(counts, centres), 0.5 * uniform_spread

    def negative_log_posterior(log_strength: float) -> float:
        value = log_likelihood(float(np.exp(log_strength))) - power * log_strength
        # Last digits depend on the order of annotators and would change the way of the search.
        return -round(value, 7)

    result = minimize_scalar(
        negative_log_posterior,
        bounds=(np.log(MIN_STRENGTH), np.log(MAX_STRENGTH)),
        method="bounded",
        options={"xatol": STRENGTH_TOLERANCE},
    )
    return float(np.exp(result.x))


def learn_class_pseudo_count(totals: Floats) -> float:
    """Return c/K from expected numbers of items ``totals[class]``, where π ~ Dirichlet(c/K, …).

    Where few items per class show no difference between classes, π is then nearly uniform; where
    classes differ, it is what the items say.
    """
    K = len(totals)
    counts = np.round(totals, 6)[None, :, None]  # last digits depend on the order of items
    return learn_strength(counts, np.full((1, K, 1), 1 / K), uniform_spread=False) / K


def column_log_likelihood(counts: Floats, centres: Floats) -> Callable[[float], float]:
    """Return log P(counts | s), where columns Γ_m(·, k) ~ Dirichlet(s c_mk) are integrated out.

    Axes of ``counts`` and of the centres c are ``[annotator, reported, true]``.
    """
    # Terms of cells and columns without counts are zero; of many classes, most are.
    used = np.nonzero(counts)
    cells, shares = counts[used], np.broadcast_to(centres, counts.shape)[used]
    columns = column_sums(counts)
    columns = columns[columns > 0]
    ones = np.ones_like(columns)
    return lambda s: float(
        log_rising_factorials(cells, shares, s) - log_rising_factorials(columns, ones, s)
    )


def column_sums(counts: Floats) -> Floats:
    """Sums of ``counts[annotator, reported, true]`` over what was reported, ``[annotator, true]``.

    For few classes, einsum takes a fifth of the time of a sum over the middle axis.
    """
    return np.asarray(np.einsum("mak->mk", counts))


def symbol_centres(counts: Floats, anchor: Anchor) -> Floats:
    """Return centres of the columns where symbols are not classes; they sum to one.

    Column k is centred at what the crowd reports for class k or, where every annotator has symbols
    of its own, at what the annotator reports for all items. ``counts[annotator, reported, true]``
    are expected ones. The result has one row of annotators, or one per annotator with symbols of
    its own; symbols that such an annotator never reports stay impossible.
    """
    if anchor.kind == "none":
        reported = counts.sum(axis=2, keepdims=True)
        smoothed = reported + SYMBOL_COUNT * (reported > 0)
        total = np.maximum(smoothed.sum(axis=1, keepdims=True), SYMBOL_COUNT)
        return np.asarray(np.broadcast_to(smoothed / total, counts.shape))
    pooled = counts.sum(axis=0, keepdims=True)
    # Of a symbol that is rare for one class, the crowd's share among all classes is the best guess.
    overall = pooled.sum(axis=2, keepdims=True) + SYMBOL_COUNT
    smoothed = pooled + overall / overall.sum(axis=1, keepdims=True)
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


def normalize_columns(counts: Floats) -> Floats:
    """Return confusion matrices from ``counts[m, reported, true]``; an empty column is uniform."""
    sums = column_sums(counts)[:, None]
    if sums.all():
        return np.asarray(counts / sums)
    uniform = np.full_like(counts, 1 / counts.shape[1])
    return np.asarray(np.divide(counts, sums, out=uniform, where=sums > 0))


def pooled_pseudo_counts(counts: Floats, strength: float) -> Floats:
    """Return ``strength`` pseudo-counts per class, distributed like all annotators' responses."""
    K = counts.shape[1]
    # One count per class, half of it correct and half spread evenly, for an empty table.
    pooled = counts.sum(axis=0) + 0.5 * np.eye(K) + 0.5 / K
    pseudo_counts: Floats = strength * pooled / pooled.sum(axis=0)
    return pseudo_counts


def vote_confusions(counts: Floats, anchor: Anchor = IDENTITY) -> Floats:
    """Return confusion matrices that take the majority vote for the truth.

    ``counts[m, reported, true]`` are those of :func:`~blindfuse.model.posteriors.count_votes`.
    """
    if anchor.kind != "identity":
        return normalize_columns(counts + VOTE_PSEUDO_COUNT * symbol_centres(counts, anchor))
    return normalize_columns(counts + pooled_pseudo_counts(counts, VOTE_PSEUDO_COUNT))
