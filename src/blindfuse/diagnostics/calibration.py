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

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from blindfuse.diagnostics.visible import Independence, Visible

LEVEL = 0.8
"""Probability that the interval contains the share of wrong labels."""
Z = float(ndtri((1 + LEVEL) / 2))
"""Half the width of the interval in standard deviations."""
MIN_SHARE = 1e-4
"""Shares are kept this far from 0 and 1 before the logit."""
MISFIT_LIMITS = 0.3, 300.0
"""Limits of the misfit before the logarithm."""
MISFIT_ITEMS = 2_000
"""Items for which the misfit is taken as it is; it grows with the number of items."""
AGREEMENT_LIMITS = 0.05, 0.95
"""Limits of the chance-corrected agreement before the logit."""
MIN_ONE_SIDED = 0.5
"""Share of one-sided responses from which on confusion matrices are not determined."""
ONE_SIDED_SPREAD = 0.8
"""Standard deviation of the logit of the error where annotators are one-sided."""
TYPICAL_SCORE = 0.02, 1.7, 0.2
"""Correlated errors of public tables have scores z/√N of about 0.02 (n − 2)^1.7 with n responses
per item, and at most 0.2."""
SIGNIFICANT_SCORE = 4.0
"""The size of the score z at which dependence is as probable as independence, whatever is typical.
A score far below zero is as improbable for independent annotators as one far above: a model that
takes shared errors for a class of their own leaves too few errors that coincide."""
SIGNIFICANT_MISFIT = 1.5
"""The misfit of pairs of annotators, as a multiple of what chance explains, at which dependence is
as probable as independence."""
STEEPNESS = 8
"""How fast the probability of dependence rises with the score."""
BASE_RATE = 0.8
"""The probability of dependence where a table is too small to show it. An 80 % interval then still
contains what the model itself expects."""
MERGED_RATE = 0.2
"""The least weight of the relation in the interval where groups of annotators were merged: a table
that shows some dependence may have more of it. So the interval ends about where the relation is."""
DEPENDENT_SCORE = 0.4
"""The score, relative to a typical one, at which dependence is half as probable as that."""
MIN_SCORE = 0.8
"""A score that differs from zero by no more than noise still leaves this much dependence open."""
FEW_ANNOTATORS = 8.0
"""With M annotators the model absorbs most of the dependence: the typical score is divided by
1 + 8/(M − 2)²."""
INDEPENDENT_SPREAD = 0.05
"""Standard deviation of the logit of the error where annotators are conditionally independent."""
EXPLAINED_SPREAD = 0.35
"""The same where the method models the correlated errors: the root mean square over tables whose
labels come from latent subtypes."""
QUANTILE_REACH, QUANTILE_STEPS = 8.0, 60
"""Standard deviations within which quantiles are searched, and bisections."""
NEGLIGIBLE = 0.05
"""Probability of dependence that counts as none."""


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

    The logits of the error under conditional independence, of the error under mixed membership and
    of the agreement, and the log misfit, less half the log number of items. Half an error among one
    more item is added to the errors, which matters for small tables only.
    """
    n = visible.n_items
    misfit = float(np.clip(visible.misfit, *MISFIT_LIMITS))
    return (
        _logit((n * visible.independent_error + 0.5) / (n + 1)),
        _logit((n * visible.mixed_error + 0.5) / (n + 1)),
        float(logit(np.clip(visible.agreement, *AGREEMENT_LIMITS))),
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

    The largest of 0.8/(1 + (0.4/u)⁸), 1/(1 + (4/|z|)⁸) and 1/(1 + (1.5/f)⁸), with
    u = max(z − 1, 0.8)/z', where z' is the score that a table of this size with the dependence of
    public tables typically has; one is the noise of z. f is the excess misfit.
    """
    factor, power, largest = TYPICAL_SCORE
    more = max(evidence.responses_per_item - 2, 0.1)
    absorbed = 1 + FEW_ANNOTATORS / max(evidence.n_annotators - 2, 0.5) ** 2
    slope = min(factor * more**power, largest)
    typical = slope * float(np.sqrt(max(evidence.n_items, 1))) / absorbed
    score = max(evidence.z - 1, MIN_SCORE) / typical
    probability = max(
        BASE_RATE * _rise(score, DEPENDENT_SCORE),
        probability_by_score(evidence.z),
        _rise(evidence.excess_misfit, SIGNIFICANT_MISFIT),
    )
    return probability if probability > NEGLIGIBLE else 0.0


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

    With probability ``dependence`` it follows the relation, otherwise it is ``own_error``, the mean
    of 1 − the confidence, whose logit has a standard deviation of ``own_spread``. The interval is
    that of the mixture of both, so it contains both where neither is improbable. ``visible`` may be
    None if ``dependence`` is zero and no groups were ``merged``. The sampling noise of the share of
    wrong labels among the items is part of the interval.
    """
    own = _logit(own_error)
    related, spread = own, own_spread
    weight = max(dependence, MERGED_RATE if merged else 0.0)
    if visible is not None and weight > 0:
        related, spread = _related(visible, relation or fitted_relation())
    limit = 1 - 1 / n_classes
    log_odds = (1 - dependence) * own + dependence * related
    value = min(float(expit(log_odds)), limit) if own_error > 0 or dependence > 0 else 0.0
    sampling = 1 / (max(n_items, 1) * max(value * (1 - value), 0.5 / max(n_items, 1)))
    mixture = _Mixture(
        (1 - weight, weight),
        (own, related),
        (np.sqrt(own_spread**2 + sampling), np.sqrt(spread**2 + sampling)),
    )
    low, high = (float(expit(mixture.quantile(q))) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    noise = Z * float(np.sqrt(limit * (1 - limit) / max(n_items, 1)))
    none_wrong = (1 - weight) * expit(-own) ** n_items + weight * expit(-related) ** n_items
    if none_wrong > (1 - LEVEL) / 2:
        low = 0.0
    return ErrorInterval(value, min(low, value), max(min(high, limit + noise), value))


@dataclass(frozen=True)
class _Mixture:
    """Two normal distributions of the logit of the error, with weights that sum to one."""

    weights: tuple[float, float]
    means: tuple[float, float]
    deviations: tuple[float, float]

    def quantile(self, probability: float) -> float:
        """The logit below which the error lies with this probability, by bisection."""
        ends = [
            mean + sign * QUANTILE_REACH * deviation
            for mean, deviation in zip(self.means, self.deviations, strict=True)
            for sign in (-1, 1)
        ]
        low, high = min(ends), max(ends)
        for _ in range(QUANTILE_STEPS):
            middle = (low + high) / 2
            below = sum(
                weight * ndtr((middle - mean) / deviation)
                for weight, mean, deviation in zip(
                    self.weights, self.means, self.deviations, strict=True
                )
            )
            low, high = (middle, high) if below < probability else (low, middle)
        return float((low + high) / 2)


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
