"""Accuracy of each annotator with an interval, and flags for adversaries and spammers.

Intervals are those of the hierarchical prior of :mod:`blindfuse.model.shrinkage`, with the
information of the responses reduced by how uncertain it is whether they are correct, and with the
uncertainty of the prior itself. They are sampling intervals: what all annotators may share is said
once, by the expected error.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaincinv, chdtri, ndtri

from blindfuse.diagnostics.pairs import MAX_SAMPLED
from blindfuse.errors import list_names
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, most_likely, safe_log
from blindfuse.model.shrinkage import MIN_KNOWN, AnnotatorPrior, learn_annotator_prior
from blindfuse.responses.notes import percent_range
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Flags, Floats, Integers

INTERVAL_LEVEL = 0.95
"""Confidence level of the accuracy intervals."""
INDEPENDENCE_LEVEL = 0.05
"""Significance level of the test that an annotator's responses depend on the class."""
MIN_GUESSES = 10
"""Responses that do not make a guesser, whatever they are."""
BLOCK_CELLS = 1_000_000
"""Cells of confusion matrices, or responses times classes, that are worked on at once."""
MIN_COMPLETE = 1e-9
"""Smallest information and probability that is divided by."""

FLAGS = {
    "adversary": "worse than chance",
    "spammer": "no better than chance",
    "constant": "always the same response",
}
"""Flag to description, most serious first; each flag is a field of :class:`Annotators`."""


@dataclass(frozen=True, eq=False)
class Annotators:
    """Ratings per annotator, in the order of ``names``.

    Attributes
    ----------
    accuracy, low, high ``[annotator]``
        estimated accuracy Σ_k π_k Γ_m(k, k), and its 95 % sampling interval. Where symbols are not
        classes, each symbol counts as the class that it speaks for.
    worst_class, confused_with ``[annotator]``
        code of the class with the lowest recall, and of what is reported most often instead.
    bias ``[annotator, class]``
        share of responses with this class, minus the mean posterior of this class over the same
        items.
    adversary, spammer, constant ``[annotator]``
        flags: the whole interval lies below chance, unless all responses are the same; responses do
        not depend significantly on the class, and are less accurate than most or better explained
        by guessing; all responses are the same.
    by_labels
        whether accuracies are those of the fused labels, and not of a model.
    roc_area ``[annotator]``
        area under the ROC curve of symbols that are not classes, for two classes; None otherwise.
    """

    names: Array
    classes: Array
    n_responses: Integers
    accuracy: Floats
    low: Floats
    high: Floats
    worst_class: Codes
    confused_with: Codes
    bias: Floats
    constant: Flags
    spammer: Flags
    adversary: Flags
    by_labels: bool = False
    roc_area: Floats | None = None

    def flags_of(self, m: int) -> list[str]:
        """The flags of annotator m, most serious first."""
        return [flag for flag in FLAGS if getattr(self, flag)[m]]

    def summary(self) -> str:
        """The range of accuracies, and the flagged annotators."""
        responding = self.n_responses > 0
        low, high = np.quantile(self.accuracy[responding], [0.25, 0.75])
        sentences = [
            f"Estimated accuracy: {percent_range(low, high)} for most "
            f"(interquartile range){', if the fused labels are right' if self.by_labels else ''}."
        ]
        if self.roc_area is not None:
            low, high = np.quantile(self.roc_area[responding], [0.25, 0.75])
            sentences.append(f"Area under the ROC curve: {low:.2f} to {high:.2f} for most.")
        for flag, description in FLAGS.items():
            flagged = self.names[getattr(self, flag)]
            if len(flagged):
                sentences.append(f"{description.capitalize()}: {list_names(flagged)}.")
        if 2 * np.count_nonzero(self.constant) > np.count_nonzero(responding):
            sentences.append(
                "Their accuracy is the share of that class, as is normal for labelling functions."
            )
        if self.adversary.any():
            sentences.append(
                "Check whether those worse than chance swapped classes; if most annotators did, "
                "no method could detect it."
            )
        return " ".join(sentences)


def rate_by_labels(responses: Responses, model: Model, posteriors: Floats) -> Annotators:
    """Rate annotators who share one confusion matrix by how often they report the fused labels.

    The accuracy of the crowd counts as one more response. Nobody is flagged as guessing.
    """
    items, (_, codes, symbols) = responses.item_of_response(), responses.by_item
    M, n = responses.n_annotators, responses.responses_per_annotator
    right = np.bincount(codes, symbols == most_likely(posteriors)[items], M)
    accuracy = (right + right.sum() / max(n.sum(), 1)) / (n + 1)
    low, high = _intervals(accuracy, accuracy * (1 - accuracy) / (n + 1))
    given = csr_array((np.ones(len(items)), (codes, items)), shape=(M, responses.n_items))
    reported, nobody = symbol_counts(responses), np.zeros(M, dtype=bool)
    worst_class, confused_with = _worst_confusions(model.confusions[:1])
    return Annotators(
        names=responses.annotators,
        classes=responses.classes,
        n_responses=n,
        accuracy=accuracy,
        low=low,
        high=high,
        worst_class=np.repeat(worst_class, M),
        confused_with=np.repeat(confused_with, M),
        bias=(reported - given @ posteriors) / np.maximum(n, 1)[:, None],
        constant=(np.count_nonzero(reported, axis=1) == 1) & (n > responses.n_classes),
        spammer=nobody,
        adversary=nobody,
        by_labels=True,
    )


def rate_annotators(responses: Responses, model: Model, by_labels: bool = False) -> Annotators:
    """Rate annotators: accuracies with intervals, worst confusions, biases and flags.

    ``by_labels`` says that the model describes the fused labels, and did not choose them.
    """
    posteriors = model.posteriors(responses)
    counts = count_posteriors(responses, posteriors).counts
    squares = count_posteriors(responses, posteriors**2).counts
    accuracy, shares = model.accuracies, _known_shares(counts, squares)
    low, high = _intervals(accuracy, _variances(model, counts, shares, responses.n_items))
    worst_class, confused_with = _worst_confusions(model.confusions)
    reported, true = counts.sum(axis=2), counts.sum(axis=1)
    totals = np.maximum(reported.sum(axis=1), 1.0)
    responding = responses.responses_per_annotator > 0
    constant = (
        responding & (np.count_nonzero(reported, axis=1) == 1) & (totals > responses.n_classes)
    )
    # Who always reports one class may abstain elsewhere, and cannot have swapped classes.
    adversary = responding & ~constant & (high < _chance(model))
    below_most = high < accuracy[responding].mean()
    by_others = _count_by_others(responses, model, posteriors)
    guesses = _are_guesses(by_others, below_most) & (totals > MIN_GUESSES)
    return Annotators(
        names=responses.annotators,
        classes=responses.classes,
        n_responses=responses.responses_per_annotator,
        accuracy=accuracy,
        low=low,
        high=high,
        worst_class=worst_class,
        confused_with=confused_with,
        bias=(reported - true) / totals[:, None],
        constant=constant,
        spammer=responding & ~constant & ~adversary & guesses,
        adversary=adversary,
        by_labels=by_labels,
    )


def _known_shares(counts: Floats, squares: Floats) -> Floats:
    """The share ``[annotator]`` of the information in its responses that is observed.

    A response of known class has the information d (1 − d) about the logit of the accuracy d. If it
    is correct with probability w, w (1 − w) of that is missing (Louis 1982). ``counts`` and
    ``squares`` are sums of posteriors w and w², ``[annotator, reported, true]``.
    """
    right, n = np.einsum("mkk->m", counts), counts.sum(axis=(1, 2))
    complete = np.maximum(right * (1 - right / np.maximum(n, 1.0)), MIN_COMPLETE)
    return np.asarray(np.clip(1 - (right - np.einsum("mkk->m", squares)) / complete, 0, 1))


def _count_by_others(responses: Responses, model: Model, posteriors: Floats) -> Floats:
    """Responses ``[annotator, reported, true]`` by what all others say of the item.

    That is the posterior w without the annotator's own response f, w_k / Γ_m(f, k), rescaled. Of
    annotators with more than MAX_SAMPLED responses, about as many are counted.
    """
    M, K = responses.n_annotators, responses.n_classes
    rng = np.random.default_rng(0)
    share = np.minimum(MAX_SAMPLED / np.maximum(responses.responses_per_annotator, 1), 1)
    items = np.flatnonzero(rng.random(responses.n_items) < share.max())
    sample = responses.select_items(items)
    annotators, symbols = sample.by_item.codes, sample.by_item.symbols
    counted = rng.random(len(annotators)) < (share / share.max())[annotators]
    items = items[sample.item_of_response()[counted]]
    annotators, symbols = annotators[counted], symbols[counted]
    cells = annotators.astype(np.intp) * K + symbols
    confusions = np.maximum(model.confusions, 1e-10).reshape(M * K, K)
    counts = np.zeros((K, M * K))
    step = max(BLOCK_CELLS, counts.size) // K
    for begin in range(0, len(cells), step):
        block = slice(begin, begin + step)
        left = posteriors[items[block]] / confusions[cells[block]]
        left /= left.sum(axis=1, keepdims=True)
        for k, column in enumerate(left.T):
            counts[k] += np.bincount(cells[block], column, minlength=M * K)
    return counts.T.reshape(M, K, K)


def _intervals(accuracy: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Limits ``[annotator]`` of the interval: quantiles of a beta distribution of these moments."""
    inside = np.clip(accuracy, 1e-3, 1 - 1e-3)
    size = np.maximum(inside * (1 - inside) / variances - 1, 2.0)  # 2: the uniform distribution
    tail = (1 - INTERVAL_LEVEL) / 2
    shape = inside * size, (1 - inside) * size
    low, high = betaincinv(*shape, tail), betaincinv(*shape, 1 - tail)
    return np.minimum(low, accuracy), np.maximum(high, accuracy)


def _chance(model: Model) -> Floats:
    """Accuracies ``[annotator]`` if the same reports did not depend on the class.

    Σ_k π_k P(m reports k), where the model says how often m reports k: shares of a few responses
    would vary by chance.
    """
    reported = np.einsum("mak,k->ma", model.confusions, model.prior)
    return np.asarray(np.einsum("ma,a->m", reported, model.prior))


def _worst_confusions(confusions: Floats) -> tuple[Codes, Codes]:
    """The class with the lowest recall, and the most frequent wrong report of it."""
    annotators = np.arange(len(confusions))
    worst = np.einsum("mkk->mk", confusions).argmin(axis=1)
    columns = confusions[annotators, :, worst].copy()
    columns[annotators, worst] = -1.0
    return worst, columns.argmax(axis=1)


def _variances(model: Model, counts: Floats, shares: Floats, n_items: int) -> Floats:
    """Variance of each accuracy Σ_k π_k d_k, ``[annotator]``.

    Given the skill, d_k = Γ(k, k) varies as a beta distribution with n_k + s responses. The skill
    varies as :func:`_skill_variances` says and moves d_k by s / (n_k + s) μ_k (1 − μ_k). n_k are
    numbers of responses times the ``shares[annotator]`` that are known. The class prior adds
    Σ_k π_k (d_k − accuracy)²/N.
    """
    reported, share = counts.sum(axis=1), shares[:, None]
    known = float((reported * share).sum() / max(reported.sum(), MIN_COMPLETE))
    skill = learn_annotator_prior(counts, max(known, MIN_KNOWN))
    skills = skill.skills(counts)
    recalls = np.einsum("mkk->mk", model.confusions)
    mu = skill.expected_accuracies(skills)
    n = reported * share
    slope = skill.strength / (n + skill.strength) * mu * (1 - mu)
    complete = skill.strength / (reported + skill.strength) * mu * (1 - mu) * reported
    information = (n * slope).sum(axis=1), complete.sum(axis=1)
    skill_variances = _skill_variances(skill, skills, *information)
    given_skill = (model.prior**2 * recalls * (1 - recalls) / (n + skill.strength + 1)).sum(axis=1)
    by_skill = (model.prior * slope).sum(axis=1) ** 2 * skill_variances
    by_prior = (recalls - model.accuracies[:, None]) ** 2 @ model.prior / n_items
    return np.asarray(given_skill + by_skill + by_prior)


def _skill_variances(
    prior: AnnotatorPrior, skills: Floats, information: Floats, complete: Floats
) -> Floats:
    """Expected squared error of the skills, ``[annotator]``.

    With the information I of the responses and p = 1/τ² of the prior, the skill is a weighted mean
    of what the responses say, with weight r = I / (I + p), and of the crowd's mean, with B = 1 − r.
    Its variance is I / (I + p)² and its bias B δ, if δ is the distance of the annotator from the
    mean. On average over the crowd both add up to the posterior variance 1 / (I + p), but guessers
    and experts are further away; for these, δ² is what their own responses say, less the noise 1/I.
    Skills were estimated as if all information ``complete`` were observed. The crowd's mean and
    spread are uncertain as well (Kass and Steffey 1989): B² (1/Σ p r + α² 2/(Σ r² + 2)).
    """
    p = 1 / prior.spread**2
    total = information + p
    r, B = information / total, p / total
    own_distance = skills * (1 + p / np.maximum(complete, MIN_COMPLETE))
    squared_bias = p**2 * (own_distance**2 - 1 / np.maximum(information, MIN_COMPLETE))
    given_crowd = np.maximum(total, information + squared_bias) / total**2
    of_mean = 1 / np.maximum((p * r).sum(), p)
    of_spread = 2 * skills**2 / ((r**2).sum() + 2)
    return np.asarray(given_crowd + B**2 * (of_mean + of_spread))


def _are_guesses(counts: Floats, below_most: Flags) -> Flags:
    """Whether responses are guesses, ``[annotator]``.

    ``counts[m, reported, true]`` are by what all other annotators say, so that an annotator who
    guesses does not agree with itself. Few responses do not depend significantly on the class for
    anyone. Guesses must also be less accurate than most, which ``below_most`` says, or be explained
    by guessing better than by the confusions of the crowd: where a class is rare, annotators who
    never report it are as accurate as others.
    """
    M, K, _ = counts.shape
    step = max(1, BLOCK_CELLS // K**2)
    blocks = [counts[begin : begin + step] for begin in range(0, M, step)]
    crowd = counts.sum(axis=0)
    informative = np.concatenate([_is_informative(block) for block in blocks])
    like_guesses = np.concatenate([_favours_guessing(block, crowd) for block in blocks])
    return np.asarray(~informative & (below_most | like_guesses))


def _favours_guessing(counts: Floats, crowd: Floats) -> Flags:
    """Whether guessing is three times as likely as the crowd's confusions.

    Either hypothesis has the annotator's own report rates: P_m(a) whatever the class, or
    P(a | k) c_ma/Σ_a P(a | k) c_ma with the confusions P(a | k) of the ``crowd[reported, true]``,
    and with c_ma the number of reports a divided by the number that P predicts.
    """
    reported, true = counts.sum(axis=2), counts.sum(axis=1)
    confusions = crowd / np.maximum(crowd.sum(axis=0), MIN_COMPLETE)
    expected = np.einsum("ak,mk->ma", confusions, true)
    tilted = confusions * (reported / np.maximum(expected, MIN_COMPLETE))[:, :, None]
    tilted /= np.maximum(tilted.sum(axis=1, keepdims=True), MIN_COMPLETE)
    shares = reported / np.maximum(reported.sum(axis=1, keepdims=True), MIN_COMPLETE)
    by_crowd = np.einsum("mak,mak->m", counts, safe_log(tilted))
    by_guessing = np.einsum("ma,ma->m", reported, safe_log(shares))
    return np.asarray(by_guessing - by_crowd > np.log(3))


def _is_informative(counts: Floats) -> Flags:
    """Whether responses depend on the class, ``[annotator]``, by one of two tests of independence.

    χ² finds any dependence. With many classes it has little power, and the number of agreements,
    which by chance has about the variance of its mean, has more.
    """
    reported, true = counts.sum(axis=2), counts.sum(axis=1)
    total = np.maximum(reported.sum(axis=1)[:, None, None], 1e-9)
    expected = reported[:, :, None] * true[:, None, :] / total
    terms = np.divide(
        (counts - expected) ** 2, expected, out=np.zeros_like(counts), where=expected > 0
    )
    rows = np.count_nonzero(reported > 0, axis=1) - 1
    columns = np.count_nonzero(true > 1e-9, axis=1) - 1
    freedom = np.maximum(rows * columns, 1)
    depends = terms.sum(axis=(1, 2)) > chdtri(freedom, INDEPENDENCE_LEVEL)
    agreed, by_chance = np.einsum("mkk->m", counts), np.einsum("mkk->m", expected)
    agrees = agreed - by_chance > -ndtri(INDEPENDENCE_LEVEL) * np.sqrt(by_chance)
    return np.asarray(depends | agrees)
