"""The expected share of wrong labels: if errors are independent, and as similar tables turned out.

If annotators are conditionally independent, the model's own posteriors state the error. Errors that
annotators share cannot be seen in one table. How large they usually are was learned from many
tables with a truth (``make calibration``); the coefficients are in ``expected_error.json`` beside
this module. The formula is in docs/method.md.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from scipy.special import expit, logit, ndtri

from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.model.posteriors import weighted_votes
from blindfuse.model.shrinkage import implied_model
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

LEVEL = 0.8
"""Probability that the interval contains the share of wrong labels."""
Z = float(ndtri((1 + LEVEL) / 2))
"""Half the width of the interval in standard deviations."""
BASE_RATE = 0.8
"""The probability of shared errors if the responses do not tell."""
INDEPENDENT_SPREAD = 0.15
"""Standard deviation of the logit of the error if annotators are conditionally independent."""
MISFIT_ITEMS = 2_000
"""Items for which the misfit is taken as it is; it grows with the root of their number."""


@dataclass(frozen=True)
class ExpectedError:
    """The expected share of wrong labels, ``value``, and its 80 % interval, ``low`` to ``high``.

    ``if_independent`` is the share if errors are independent given the class.
    """

    value: float
    low: float
    high: float
    if_independent: float

    def __str__(self) -> str:
        return (
            f"{as_percent(self.if_independent)} % if errors are independent; {self.interval()} as "
            "tables like this turned out"
        )

    def interval(self) -> str:
        """The value and its interval in percent, as ``9.1 % (5.0 to 18 %)``."""
        return f"{as_percent(self.value)} % ({as_percent(self.low)} to {as_percent(self.high)} %)"

    def scaled(self, share: float, added: float = 0.0) -> "ExpectedError":
        """The interval of ``share`` · error + ``added``."""
        numbers = self.value, self.low, self.high, self.if_independent
        return ExpectedError(*(share * x + added for x in numbers))


@dataclass(frozen=True)
class Relation:
    """logit(error) = intercept + Σ slope · feature, with a standard deviation of ``spread``.

    ``slopes`` belong to :meth:`Features.values`, in their order.
    """

    intercept: float
    slopes: tuple[float, ...]
    spread: float

    def log_odds(self, features: "Features") -> float:
        """The expected logit of the error."""
        pairs = zip(self.slopes, features.values(), strict=True)
        return self.intercept + sum(slope * value for slope, value in pairs)


@cache
def fitted_relation() -> Relation:
    """The relation that was fitted to public and generated tables."""
    text = (files("blindfuse.diagnostics") / "expected_error.json").read_text(encoding="utf-8")
    stored = json.loads(text)
    return Relation(stored["intercept"], tuple(stored["slopes"].values()), stored["spread"])


@dataclass(frozen=True)
class Features:
    """What a table shows of the error of its labels.

    Attributes
    ----------
    independent_error, mace_error, near_error
        mean of 1 − the posterior of the label if annotators are conditionally independent, under
        :class:`MACE`, and after one iteration of EM from the vote.
    margin
        mean lead of the class with most votes over the second, as a share of the item's votes.
    misfit
        misfit of the pairwise agreement (:class:`Fit`) under the confusion matrices of the labels.
    score
        z of the gain of a second subtype.
    one_sided
        whether most responses come from one-sided sources.
    """

    independent_error: float
    mace_error: float
    near_error: float
    margin: float
    misfit: float
    score: float
    one_sided: bool
    n_items: int
    n_classes: int

    def values(self) -> tuple[float, ...]:
        """The four features of the relation.

        Half an item is added to either side of the shares, which matters for small tables only.
        """
        n = self.n_items
        shares = self.mace_error, self.near_error, self.margin
        misfit = float(np.clip(self.misfit, 0.3, 100))
        return (
            *(_logit((n * share + 0.5) / (n + 1)) for share in shares),
            float(np.log(misfit) - np.log(n / MISFIT_ITEMS) / 2),
        )

    def dependence(self) -> float:
        """The probability u = σ(log 4 + z) that labels are wrong in ways the model does not know.

        It is 0.8 where a second subtype says nothing, z = 0. Conditionally independent annotators
        have a z far below zero, because a subtype that explains nothing predicts worse. One-sided
        sources determine no model, so u is one.
        """
        return 1.0 if self.one_sided else float(expit(logit(BASE_RATE) + self.score))

    def expect(self, n_items: int, relation: Relation | None = None) -> ExpectedError:
        """The expected error of ``n_items`` labels.

        The logit of the error has the mean and the variance of a mixture: with probability u it is
        that of the relation, otherwise that of the model. The variance includes the sampling noise
        of the share of wrong labels, and the limits are rounded outwards to whole labels. What
        annotators share only adds errors, so ``if_independent`` is at most the value.
        """
        own, limit = _logit(self.independent_error), 1 - 1 / self.n_classes
        known = relation or fitted_relation()
        u, related, spread = self.dependence(), known.log_odds(self), known.spread
        mean = (1 - u) * own + u * related
        value = float(expit(mean))
        variance = (
            (1 - u) * INDEPENDENT_SPREAD**2 + u * spread**2 + u * (1 - u) * (own - related) ** 2
        )
        variance += 1 / (n_items * max(value * (1 - value), 0.5 / n_items))
        half = Z * np.sqrt(variance)
        low, high = np.floor(n_items * expit(mean - half)), np.ceil(n_items * expit(mean + half))
        independent = min(self.independent_error, value)
        shares = value, low / n_items, high / n_items, independent
        return ExpectedError(*(min(float(share), limit) for share in shares))


def measure_features(
    responses: Responses,
    labels: Codes,
    posteriors: Sequence[Floats],
    score: float,
    one_sided: bool,
) -> Features:
    """Measure the features of labels ``[item]`` of plain responses, all of which have some.

    ``posteriors[item, class]`` are those of the model, of MACE and of one EM iteration.
    """
    independent, mace, near = (error_at(each, labels) for each in posteriors)
    votes = weighted_votes(responses)
    model = implied_model(responses, np.eye(responses.n_classes)[labels], 1)
    pairs = count_pairs(responses).compare_with(model)
    return Features(
        independent,
        mace,
        near,
        margin=float(np.mean(vote_margins(votes) / votes.sum(axis=1))),
        misfit=measure_fit(pairs, responses.n_annotators).misfit,
        score=score,
        one_sided=one_sided,
        n_items=responses.n_items,
        n_classes=responses.n_classes,
    )


def error_at(posteriors: Floats, labels: Codes) -> float:
    """The mean of 1 − the posterior of the label."""
    return float(1 - posteriors[np.arange(len(labels)), labels].mean())


def share_error(votes: Floats, labels: Codes) -> float:
    """The mean of 1 − the label's share of ``votes[item, class]``, to which one vote is added."""
    shares = (votes + votes.sum(axis=0) / votes.sum()) / (votes.sum(axis=1, keepdims=True) + 1)
    return error_at(shares, labels)


def vote_margins(votes: Floats) -> Floats:
    """Lead of the class with most votes over the second, ``[item]``; of one class, all votes."""
    ordered = np.sort(np.column_stack([np.zeros(len(votes)), votes]), axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _logit(share: float) -> float:
    return float(logit(np.clip(share, 1e-4, 1 - 1e-4)))


def as_percent(share: float) -> str:
    """A share in percent, with a decimal below ten."""
    percent = 100 * share
    return f"{percent:.1f}" if percent < 9.95 else f"{percent:.0f}"
