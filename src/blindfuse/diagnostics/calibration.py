"""The relation between what is visible of a table and the error of its labels.

Errors that all annotators share cannot be seen in one table. How large they usually are was learned
from many tables with a truth (``make calibration``), with few parameters, which
are in ``calibration.json`` beside this module. The formula is in docs/method.md.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from blindfuse.diagnostics.visible import Independence, Visible

LEVEL = 0.8
"""Probability that the interval contains the share of wrong labels."""
Z = float(ndtri((1 + LEVEL) / 2))
"""Half the width of the interval in standard deviations."""
MIN_SHARE = 1e-4
"""Shares are kept this far from 0 and 1 before the logit."""
MISFIT_LIMITS = 0.3, 100.0
"""Limits of the misfit before the logarithm."""
MISFIT_ITEMS = 2_000
"""Items for which the misfit is taken as it is; it grows with the number of items."""
MIN_ONE_SIDED = 0.5
"""Share of one-sided responses from which on confusion matrices are not determined."""
ONE_SIDED_SPREAD = 0.8
"""Standard deviation of the logit of the error where annotators are one-sided."""
TYPICAL_SCORE = 0.02, 1.7, 0.2
"""Correlated errors of public tables have scores z/√N of about 0.02 (n − 2)^1.7 with n responses
per item, and at most 0.2."""
SCORE_SPREAD = 0.5
"""Standard deviation of the logarithm of the score among tables with correlated errors."""
FEW_ANNOTATORS = 8.0
"""With M annotators the model absorbs most of the dependence: the typical score is divided by
1 + 8/(M − 2)²."""
HIDDEN_SCORE = 3.0, 5
"""With n responses per item, a share (3/n)⁵ of tables with correlated errors has no score: three
responses just determine latent classes, which absorb the errors that few responses share. Of public
tables and their variants for which a score above 2 is typical, a third has none with four
responses, a tenth with five to nine, and one in twenty with ten or more."""
SCORE_REACH, SCORE_STEPS = 6.0, 601
"""Standard deviations over which that distribution is integrated, and steps."""
BASE_RATE = 0.8
"""The probability of dependence where a table is too small to show it. An 80 % interval then still
contains what the model itself expects."""
SIGNIFICANT_SCORE = 4.0
"""The size of the score z at which dependence is as probable as independence, whatever is typical.
A score far below zero is as improbable for independent annotators as one far above: a model that
takes shared errors for a class of their own leaves too few errors that coincide."""
SIGNIFICANT_MISFIT = 1.5
"""The misfit of pairs of annotators, as a multiple of what chance explains, at which dependence is
as probable as independence."""
STEEPNESS = 8
"""How fast the probability of dependence rises with either of them."""
WEAK_NAMING = 0.05
"""How far the share of a class among the responses that report it or its strongest rival, on its
items, is above one half where it is as probable as not that the table cannot tell."""
INDEPENDENT_SPREAD = 0.05
"""Standard deviation of the logit of the error where annotators are conditionally independent."""
EXPLAINED_SPREAD = 0.35
"""The same where the method models the correlated errors: the root mean square over tables whose
labels come from latent subtypes."""
EXPLAINED_DEPENDENCE = 0.5
"""The probability of further dependence there: the model and the relation count the same."""
NEGLIGIBLE = 0.05
"""Probability of dependence that counts as none."""
QUANTILE_REACH, BISECTIONS = 8.0, 60
"""Standard deviations within which quantiles are searched, and halvings."""


@dataclass(frozen=True)
class ErrorInterval:
    """The expected share of wrong labels, ``value``, and its 80 % interval, ``low`` to ``high``."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_percent(self.value)} % (80 % interval {self.interval()} %)"

    def interval(self) -> str:
        """The limits in percent, as ``5 to 18``."""
        return f"{_percent(self.low)} to {_percent(self.high)}"

    def scaled(self, share: float, added: float = 0.0) -> "ErrorInterval":
        """The interval of ``share`` · error + ``added``."""
        limits = (share * x + added for x in (self.value, self.low, self.high))
        return ErrorInterval(*limits)

    def widened_to(self, shares: Sequence[float]) -> "ErrorInterval":
        """At least the mean of these shares, which are equally plausible, in an interval of all."""
        if not shares:
            return self
        limits = self.low, self.high, *shares
        value = max(self.value, sum(shares) / len(shares))
        return ErrorInterval(value, min(limits), max(limits))

    def raised_to(self, share: float) -> "ErrorInterval":
        """The same value, in an interval that contains this share."""
        return ErrorInterval(self.value, self.low, max(self.high, share))

    def moved_to(self, value: float) -> "ErrorInterval":
        """The same interval, with another value and widened where that lies outside."""
        return ErrorInterval(value, min(self.low, value), max(self.high, value))


NO_ERROR = ErrorInterval(0.0, 0.0, 0.0)
"""The expected error if every label is a gold label."""


@dataclass(frozen=True)
class Relation:
    """logit(error) = intercept + Σ slope · feature, with a standard deviation of ``spread``.

    ``slopes`` belong to :func:`features`, in their order.
    """

    intercept: float
    slopes: tuple[float, ...]
    spread: float

    def log_odds(self, visible: Visible) -> float:
        """The expected logit of the error."""
        pairs = zip(self.slopes, features(visible), strict=True)
        return self.intercept + sum(slope * value for slope, value in pairs)


def features(visible: Visible) -> tuple[float, ...]:
    """The four features of the relation.

    The logits of the errors under mixed membership and under MACE and of the margin of the vote,
    and the log misfit, less half the log number of items. Half an item is added to either side of
    the shares, which matters for small tables only.
    """
    n = visible.n_items
    misfit = float(np.clip(visible.misfit, *MISFIT_LIMITS))
    shares = visible.mixed_error, visible.mace_error, visible.margin
    return (
        *(_logit((n * share + 0.5) / (n + 1)) for share in shares),
        float(np.log(misfit) - np.log(n / MISFIT_ITEMS) / 2),
    )


@cache
def fitted_relation() -> Relation:
    """The relation that was fitted to public and generated tables."""
    text = (files("blindfuse.diagnostics") / "calibration.json").read_text(encoding="utf-8")
    stored = json.loads(text)
    return Relation(stored["intercept"], tuple(stored["slopes"].values()), stored["spread"])


def probability_of_dependence(evidence: Independence) -> float:
    """How probable it is that errors are correlated in a way that the model does not explain.

    By Bayes' rule from the score z, with probability 0.8 before it is seen: z ~ N(0, 1) without
    dependence, z ~ N(ζ, 1) with it, where log ζ has a standard deviation of 0.5 around the score
    that public tables of this size typically have. With n responses per item, a share (3/n)⁵ of
    dependent tables has ζ = 0. The probability is at least 1/(1 + (4/|z|)⁸) and 1/(1 + (1.5/f)⁸)
    with the excess misfit f.
    """
    z = evidence.z
    without_score = float(_normal_density(z))
    hidden = hidden_share(evidence)
    independent = (1 - BASE_RATE) * without_score
    with_score = _density_of_scores(z, typical_score(evidence))
    dependent = BASE_RATE * ((1 - hidden) * with_score + hidden * without_score)
    probability = max(
        dependent / max(dependent + independent, 1e-300),
        probability_by_score(z),
        _rise(evidence.excess_misfit, SIGNIFICANT_MISFIT),
    )
    return probability if probability > NEGLIGIBLE else 0.0


def probability_of_shared_errors(evidence: Independence) -> float:
    """How probable it is that labels are wrong in a way that the model does not know.

    That of dependence, and at least 0.8/(1 + (v/0.05)⁸) with v, how far ``naming`` is above ½:
    where annotators agree little more than by chance, a model may hold for latent classes that are
    not the true ones, and the table cannot tell.
    """
    weak = BASE_RATE * (1 - _rise(evidence.naming - 0.5, WEAK_NAMING))
    return max(probability_of_dependence(evidence), weak if weak > NEGLIGIBLE else 0.0)


def typical_score(evidence: Independence) -> float:
    """The score that a table of this size with the dependence of public tables typically has."""
    factor, power, largest = TYPICAL_SCORE
    more = max(evidence.responses_per_item - 2, 0.1)
    absorbed = 1 + FEW_ANNOTATORS / max(evidence.n_annotators - 2, 0.5) ** 2
    slope = min(factor * more**power, largest)
    return float(slope * np.sqrt(max(evidence.n_items, 1)) / absorbed)


def hidden_share(evidence: Independence) -> float:
    """The share of tables with correlated errors that have no score, (3/n)⁵.

    Symbols that are not classes determine a model with fewer responses, and test it with the rest.
    """
    if evidence.of_symbols:
        return 0.0
    few, power = HIDDEN_SCORE
    return float(min(few / max(evidence.responses_per_item, few), 1.0) ** power)


def _density_of_scores(z: float, typical: float) -> float:
    """The density of z ~ N(ζ, 1), averaged over log ζ ~ N(log typical, 0.5²)."""
    deviations = np.linspace(-SCORE_REACH, SCORE_REACH, SCORE_STEPS)
    means = typical * np.exp(SCORE_SPREAD * deviations)
    density = _normal_density(deviations) * _normal_density(z - means)
    return float(np.trapezoid(density, deviations))


def _normal_density(x: Any) -> Any:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def probability_by_score(z: float) -> float:
    """How probable correlated errors are by their score alone, 1/(1 + (4/|z|)⁸)."""
    return _rise(abs(z), SIGNIFICANT_SCORE)


def _rise(value: float, middle: float) -> float:
    """From 0 to 1 as a positive value rises, steeply around ``middle``, where it is ½."""
    return float(1 / (1 + (middle / max(value, 1e-3)) ** STEEPNESS))


def combine(
    own_error: float,
    dependence: float,
    visible: Visible | None,
    n_items: int,
    n_classes: int,
    relation: Relation | None = None,
    own_spread: float = INDEPENDENT_SPREAD,
    merged: bool = False,
) -> ErrorInterval:
    """The expected error of labels of ``n_items`` items.

    With probability ``dependence`` its logit is normal around the relation, otherwise around that
    of ``own_error``, the mean of 1 − the confidence, with a standard deviation of ``own_spread``.
    The value is the median of this mixture, and the upper limit its 90 % quantile, or that of the
    relation where groups were ``merged``: a table that shows some dependence may have more of it.
    The lower limit is the 10 % quantile of the model itself unless that is improbable, so that the
    interval contains what it says. ``visible`` may be None if ``dependence`` is zero and nothing
    was merged. The limits include the sampling noise of the share of wrong labels among the items.
    """
    own = _logit(own_error)
    related, spread = own, own_spread
    if visible is not None:
        related, spread = _related(visible, relation or fitted_relation())
    limit, improbable = 1 - 1 / n_classes, (1 - LEVEL) / 2
    by_model = _Case(1 - dependence, own, _with_sampling(own, own_spread, n_items))
    by_relation = _Case(dependence, related, _with_sampling(related, spread, n_items))
    probable = [case for case in (by_model, by_relation) if case.probability > improbable]
    without_noise = _Case(1 - dependence, own, own_spread), _Case(dependence, related, spread)
    value = min(float(expit(_quantile(0.5, *without_noise))), limit)
    low = float(expit(min(case.mean - Z * case.deviation for case in probable)))
    highest = _quantile(1 - improbable, by_model, by_relation)
    if merged:
        highest = max(highest, by_relation.mean + Z * by_relation.deviation)
    high = float(expit(highest))
    noise = Z * float(np.sqrt(limit * (1 - limit) / max(n_items, 1)))
    none_wrong = sum(case.probability * expit(-case.mean) ** n_items for case in probable)
    if own_error == 0 and dependence == 0:
        value = 0.0
    if none_wrong > improbable:
        low = 0.0
    return ErrorInterval(value, min(low, value), max(min(high, limit + noise), value))


@dataclass(frozen=True)
class _Case:
    """A normal distribution of the logit of the error, and the probability that it is the case."""

    probability: float
    mean: float
    deviation: float

    def share_below(self, log_odds: float) -> float:
        """The probability of this case and a logit below this one."""
        return self.probability * float(ndtr((log_odds - self.mean) / self.deviation))


def _with_sampling(log_odds: float, spread: float, n_items: int) -> float:
    """The standard deviation of the logit of the share of wrong labels among ``n_items``."""
    n, error = max(n_items, 1), float(expit(log_odds))
    return float(np.sqrt(spread**2 + 1 / (n * max(error * (1 - error), 0.5 / n))))


def _quantile(level: float, one: _Case, other: _Case) -> float:
    """The logit that the mixture of two cases is below with probability ``level``."""
    low = min(case.mean - QUANTILE_REACH * case.deviation for case in (one, other))
    high = max(case.mean + QUANTILE_REACH * case.deviation for case in (one, other))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if one.share_below(middle) + other.share_below(middle) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _related(visible: Visible, relation: Relation) -> tuple[float, float]:
    """The expected logit of the error and its standard deviation.

    Where most responses come from one-sided annotators, no model is determined, and the shares of
    votes are all there is.
    """
    if visible.one_sided >= MIN_ONE_SIDED:
        return _logit(visible.share_error), ONE_SIDED_SPREAD
    return relation.log_odds(visible), relation.spread


def _logit(share: float) -> float:
    return float(logit(np.clip(share, MIN_SHARE, 1 - MIN_SHARE)))


def _percent(share: float) -> str:
    """A share in percent, with a decimal below ten."""
    percent = 100 * share
    return f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"
