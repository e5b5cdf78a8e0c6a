"""How far labels and models are from a known truth, and how far annotators agree with each other.

Coefficients of agreement are computed here, and by libraries only in the tests: their sums add up
over items, so that items with the same votes are one row and a resample is only a weight a row.
"""

from collections.abc import Callable
from reprlib import repr as short
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from blindfuse.errors import BadLabels, BadParameter, naming
from blindfuse.model.model import Model
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.coding import smallest_integer
from blindfuse.responses.responses import Responses, as_responses

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
Level = Literal["nominal", "ordinal", "interval"]

_LEAST_POSTERIOR = float(np.finfo(np.float64).eps)


class Agreement(NamedTuple):
    """A coefficient of agreement: 1 is perfect, 0 is what chance gives; and its interval.

    ``low`` and ``high`` hold the middle ``confidence`` of the coefficients of ``resamples`` sets of
    as many items, drawn with replacement by ``seed`` (percentile bootstrap). Where all answers are
    of one class nobody disagrees, and the coefficient is 1.
    """

    value: float
    low: float
    high: float


class Reliability(NamedTuple):
    """Items by how sure their label is, in bins that hold any.

    ``items[bin]`` counts them, ``confidence[bin]`` is the mean of their largest posteriors and
    ``accuracy[bin]`` the share of them that is right.
    """

    items: NDArray[np.intp]
    confidence: Floats
    accuracy: Floats


def error_rate(beliefs: Floats, truth: Integers) -> float:
    """The share of items labelled wrongly; classes that tie for an item share its credit.

    Parameters
    ----------
    beliefs ``[item, class]``
        votes, shares or posteriors: the largest wins.
    truth ``[item]``
        class codes; items of code −1 have no known truth and are left out.
    """
    return float(1 - _credit(*_known(beliefs, truth)).mean())


def log_loss(posteriors: Floats, truth: Integers) -> float:
    """The mean of −log of the posterior of the true class, over the items of known truth.

    A posterior below 2⁻⁵² counts as that much: certain and wrong costs 36, not infinity.

    Parameters
    ----------
    posteriors ``[item, class]``
    truth ``[item]``
        class codes, −1 where it is not known.
    """
    chosen, true = _known(posteriors, truth)
    of_true = chosen[np.arange(len(true)), true]
    return float(-np.log(np.maximum(of_true, _LEAST_POSTERIOR)).mean())


def calibration_error(posteriors: Floats, truth: Integers, bins: int = 15) -> float:
    """Expected calibration error of the top label (Guo et al. 2017, Section 2).

    Σ_b n_b/n · |accuracy of b − mean confidence of b|, where the confidence of an item is its
    largest posterior and bin b of equal width holds those in ((b − 1)/bins, b/bins]. Classes that
    tie share the credit, as in :func:`error_rate`.

    Parameters
    ----------
    posteriors ``[item, class]``
    truth ``[item]``
        class codes, −1 where it is not known.
    """
    items, confidence, accuracy = reliability(posteriors, truth, bins)
    return float(np.average(np.abs(accuracy - confidence), weights=items))


def reliability(posteriors: Floats, truth: Integers, bins: int = 15) -> Reliability:
    """What :func:`calibration_error` adds up, bin by bin, as reliability diagrams show it."""
    if bins < 1:
        raise BadParameter(f"bins={bins!r} must be at least 1.")
    chosen, true = _known(posteriors, truth)
    confidence = chosen.max(axis=1)
    bin_of = np.digitize(confidence, np.linspace(0, 1, bins + 1)[1:-1], right=True)
    items = np.bincount(bin_of)
    held = items > 0
    sums = [np.bincount(bin_of, what)[held] for what in (confidence, _credit(chosen, true))]
    return Reliability(items[held], *(total / items[held] for total in sums))


def share_interval(share: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval (1927) of a share that was seen among ``count`` items."""
    if not 0 <= share <= 1 or count < 1 or not 0 < confidence < 1:
        raise BadParameter(
            f"share={share!r} and confidence={confidence!r} must be between 0 and 1, and "
            f"count={count!r} at least 1."
        )
    z = ndtri(0.5 + confidence / 2)
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    width = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z**2 / count)
    low, high = float(middle - width), float(middle + width)
    return max(0.0, min(low, share)), min(1.0, max(high, share))  # rounding apart, they hold it


def confusion_error(estimate: Model, truth: Model) -> float:
    """ε_CM of Section V: the mean over annotators of ‖Γ_m − Γ̂_m‖₁, the largest column sum."""
    distance = np.abs(estimate.confusions - truth.confusions).sum(axis=1).max(axis=1)
    return float(distance.mean())


def prior_error(estimate: Model, truth: Model) -> float:
    """ε_π of Section V: ‖π − π̂‖₁."""
    return float(np.abs(estimate.prior - truth.prior).sum())


def cohen_kappa(
    one: ArrayLike,
    other: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Agreement:
    """Cohen's κ = 1 − (1 − Σ_k p_kk) / (1 − Σ_k p_k· p_·k) of two annotators, or of any two labels.

    Parameters
    ----------
    one, other ``[item]``
        class codes; items where either is −1 are left out.
    resamples, confidence, seed
        as in :class:`Agreement`.
    """
    first, second = _codes(one), _codes(other)
    if first.shape != second.shape:
        raise BadLabels(
            f"The two have labels of shape {first.shape} and {second.shape}. "
            "Pass one code an item each, −1 where there is none."
        )
    both = (first >= 0) & (second >= 0)
    if not both.any():
        raise BadLabels("No item has a label of both: agreement needs items that both labelled.")
    used, codes = np.unique(np.stack([first[both], second[both]]), return_inverse=True)
    K = len(used)

    def kappa(weights: Integers) -> float:
        n, table = weights.sum(), weights.reshape(K, K)
        by_chance = 1 - table.sum(axis=0) @ table.sum(axis=1) / n**2
        return _beyond_chance((n - np.trace(table)) / n, by_chance)

    pairs = np.bincount(codes[0] * K + codes[1], minlength=K * K)
    return _with_interval(kappa, pairs, resamples, confidence, seed)


def fleiss_kappa(
    responses: Any,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Agreement:
    """Fleiss' κ = 1 − D / (1 − Σ_k p_k²), for any number of answers an item.

    D is the mean over items of the share of an item's pairs of answers that differ, and p_k the
    mean over items of the share of its answers that are k: Gwet's generalisation (2014), which is
    Fleiss (1971) where all items have equally many answers. It departs from Gwet in that items
    with one answer do not enter p_k either.

    Parameters
    ----------
    responses
        Responses, or whatever ``fit`` takes; items with fewer than two answers are left out.
    resamples, confidence, seed
        as in :class:`Agreement`.
    """
    votes, repeats = _distinct_votes(as_responses(responses))
    differences, shares = _difference(votes), votes / votes.sum(axis=1, keepdims=True)

    def kappa(weights: Integers) -> float:
        n = weights.sum()
        p = weights @ shares / n
        return _beyond_chance(weights @ differences / n, 1 - p @ p)

    return _with_interval(kappa, repeats, resamples, confidence, seed)


def krippendorff_alpha(
    responses: Any,
    level: Level = "nominal",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int | None = 0,
) -> Agreement:
    """Krippendorff's α = 1 − D_o / D_e (2018, chapter 12), for any number of answers an item.

    D_o is the mean δ² of two answers to the same item, where an item weighs as many as it has
    answers, and D_e that of any two answers. The interval is over items, which are independent;
    Krippendorff's own draws pairs of answers as if they were.

    Parameters
    ----------
    responses
        Responses, or whatever ``fit`` takes; items with fewer than two answers are left out.
    level
        what two classes differ by, δ: ``"nominal"``, 0 or 1; ``"ordinal"``, how many answers lie
        between them in the order of ``responses.classes``; ``"interval"``, their numbers, which are
        their names if these are numbers and 0, 1, … in the order of ``responses.classes`` if not.
    resamples, confidence, seed
        as in :class:`Agreement`.
    """
    if level not in get_args(Level):
        raise BadParameter(f"level={level!r} is none of {naming(get_args(Level))}.")
    labelled = as_responses(responses)
    votes, repeats = _distinct_votes(labelled)
    answers, numbers = votes.sum(axis=1), _numbers(labelled.classes)

    def alpha(weights: Integers) -> float:
        totals = weights @ votes
        values = _values(level, totals, numbers)
        within = (weights * answers) @ _difference(votes, values) / totals.sum()
        return _beyond_chance(within, _difference(totals, values))

    return _with_interval(alpha, repeats, resamples, confidence, seed)


def _known(beliefs: Floats, truth: Integers) -> tuple[Floats, Integers]:
    """Beliefs ``[item, class]`` and truth ``[item]`` of the items whose truth is known."""
    truth = _codes(truth)
    if len(beliefs) != len(truth):
        raise BadLabels(
            f"There are beliefs about {len(beliefs):,} items, but the truth of {len(truth):,}. "
            "Pass one code an item, −1 where it is not known."
        )
    known = truth >= 0
    if not known.any():
        raise BadLabels("The truth of no item is known (all −1): there is nothing to compare with.")
    chosen, true = beliefs[known], truth[known]
    outside = np.unique(true[true >= chosen.shape[1]])
    if outside.size:
        raise BadLabels(
            f"The truth has the codes {naming(outside)}, but the beliefs have {chosen.shape[1]} "
            "classes. Count from zero, in the order of classes."
        )
    return chosen, true


def _codes(values: ArrayLike) -> Integers:
    """Class codes ``[item]`` as an array; anything but whole numbers is refused."""
    codes = np.asarray(values)
    if codes.size and codes.dtype.kind not in "iub":
        raise BadLabels(
            f"{short(values)} holds no class codes. Pass one whole number an item: the position of "
            "its label in classes, −1 where there is none."
        )
    return codes.astype(np.int64)


def _credit(beliefs: Floats, truth: Integers) -> Floats:
    """The share ``[item]`` that the truth has in the classes of the largest belief."""
    winners = beliefs == beliefs.max(axis=1, keepdims=True)
    return np.asarray(winners[np.arange(len(truth)), truth] / winners.sum(axis=1))


def _distinct_votes(responses: Responses) -> tuple[Floats, Integers]:
    """Distinct votes ``[row, class]`` of items with two answers or more; items ``[row]`` of each.

    Rows are in an order of their own, whatever the order of the items.
    """
    votes = weighted_votes(responses)[responses.responses_per_item >= 2]
    if not len(votes):
        raise BadLabels(
            "No item has two answers: agreement needs items that several annotators labelled."
        )
    # Small integers are sorted by radix: np.unique of the rows takes fifty times as long.
    small = votes.astype(smallest_integer(int(votes.max()), np.int16, np.int32))
    order = np.lexsort(small.T)
    ordered = small[order]
    starts = np.flatnonzero(np.append(True, np.any(ordered[1:] != ordered[:-1], axis=1)))
    return votes[order[starts]], np.diff(starts, append=len(votes))


def _difference(votes: Floats, values: Floats | None = None) -> Any:
    """The mean δ² ``[…]`` of two different votes out of ``votes[…, class]``.

    δ is the difference of the classes' values ``[class]``; without values, 1 where classes differ.
    """
    n = votes.sum(axis=-1)
    if values is None:
        total = n**2 - np.einsum("...k,...k", votes, votes)
    else:
        # Not below zero, as rounding may have it where values are far apart.
        total = np.maximum(2 * (n * (votes @ values**2) - (votes @ values) ** 2), 0.0)
    return total / (n * (n - 1))


def _values(level: Level, totals: Floats, numbers: Floats) -> Floats | None:
    """Numbers ``[class]`` whose differences are Krippendorff's δ; None for nominal classes.

    The ordinal δ of k and l, Σ_{g=k..l} n_g − (n_k + n_l)/2, is the difference of their mean ranks.
    """
    if level == "nominal":
        return None
    values = np.cumsum(totals) - totals / 2 if level == "ordinal" else numbers
    # From the commonest class, so that answers of one class only differ by zero, not by rounding.
    return np.asarray(values - values[totals.argmax()])


def _numbers(classes: NDArray[Any]) -> Floats:
    """The classes' names if they are numbers, else their codes."""
    return (classes if classes.dtype.kind in "iuf" else np.arange(len(classes))).astype(float)


def _beyond_chance(observed: float, by_chance: float) -> float:
    """1 − observed / by_chance disagreement; 1 where there is nothing to disagree about."""
    return float(1 - observed / by_chance) if by_chance > 0 else 1.0


def _with_interval(
    coefficient: Callable[[Integers], float],
    repeats: Integers,
    resamples: int,
    confidence: float,
    seed: int | None,
) -> Agreement:
    """The coefficient of items that come ``repeats[row]`` times, and its bootstrap interval.

    One resample is held at a time, as rows may be as many as items.
    """
    if resamples < 1:
        raise BadParameter(f"resamples={resamples!r} must be at least 1.")
    if not 0 < confidence < 1:
        raise BadParameter(f"confidence={confidence!r} must be between 0 and 1.")
    rng = np.random.default_rng(seed)
    N = repeats.sum()
    shares = repeats / N
    drawn = [coefficient(rng.multinomial(N, shares)) for _ in range(resamples)]
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Agreement(coefficient(repeats), float(low), float(high))
