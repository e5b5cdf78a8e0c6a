"""The expected share of wrong labels, and how many more responses would lower it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.calibration import (
    NO_ERROR,
    ErrorInterval,
    combine,
    probability_of_shared_errors,
)
from blindfuse.diagnostics.fit import Verdict
from blindfuse.diagnostics.visible import observe
from blindfuse.errors import BadParameter
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.model.recalibration import mean_error
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_MORE_RESPONSES = 1000
"""More responses per item than this are not recommended."""
MIN_TARGET = 1e-4
"""Below this error, the summary does not say how to halve it."""
MEASURE_IT = "check 50 items with `blindfuse audit` to measure it."
"""The advice where more responses would not help."""


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """The expected error, and Theorem 2's bound on it for other numbers of responses.

    Attributes
    ----------
    value, low, high
        the expected share of wrong labels, and its 80 % interval.
    responses_per_item
        mean number of responses per item.
    overlaps ``[class, class]``
        mean of log Σ_a √(Γ_m(a, k) Γ_m(a, k')) over annotators, weighted by their numbers of
        responses.
    prior ``[class]``
        class prior π.
    """

    value: float
    low: float
    high: float
    responses_per_item: float
    overlaps: Floats
    prior: Floats

    def bound(self, responses_per_item: float) -> float:
        """Upper bound on the error of MAP with L responses per item from annotators like these.

        Theorem 2: P_e ≤ Σ_{k<k'} √(π_k π_k') exp(L · overlap_kk'), the union of Bhattacharyya
        bounds (45).
        """
        k, other = np.triu_indices(len(self.prior), 1)
        weights = np.sqrt(self.prior[k] * self.prior[other])
        return float(
            min(1.0, np.sum(weights * np.exp(responses_per_item * self.overlaps[k, other])))
        )

    def more_responses(self, target: float) -> int | None:
        """How many more responses per item bring the bound down to ``target``.

        They are assumed to come from conditionally independent annotators like these. None if no
        number suffices, because some classes are never distinguished.
        """
        if not 0 < target < 1:
            raise BadParameter(f"target={target!r} must be between 0 and 1, both excluded.")
        k, other = np.triu_indices(len(self.prior), 1)
        possible = self.prior[k] * self.prior[other] > 0
        if np.any(self.overlaps[k, other][possible] > -1e-9):
            return None
        high = 1
        while self.bound(high) > target:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.bound(middle) > target else (low, middle)
        return max(0, int(np.ceil(high - self.responses_per_item)))

    def summary(self, verdict: Verdict = "fits", n_checked: int = 0) -> str:
        """The expected error with its interval, and what would halve it.

        Only a model that fits pairs of annotators, which ``verdict`` says, tells what more
        responses would do. With ``n_checked`` checked items, the error was measured on those.
        """
        interval = ErrorInterval(self.value, self.low, self.high)
        if n_checked:
            return (
                f"{interval}, calibrated on {n_checked:,} checked items, whose labels are not "
                "counted as errors."
            )
        figure = f"{interval}."
        target = self.value / 2
        if target < MIN_TARGET:
            return figure
        more = self.more_responses(target)
        if more is None or more > MAX_MORE_RESPONSES:
            return (
                f"{figure} The annotators hardly distinguish some classes, so more responses from "
                f"them would not halve it; {MEASURE_IT}"
            )
        if verdict != "fits":
            are, will = ("are", "will") if verdict == "does not fit" else ("may be", "may")
            return (
                f"{figure} Errors {are} correlated, so more annotators of the same kind {will} "
                f"help little; {MEASURE_IT}"
            )
        if more == 0:
            return (
                f"{figure} It allows for errors that annotators share, which are common and cannot "
                f"be seen here; {MEASURE_IT}"
            )
        noun = "response" if more == 1 else "responses"
        return (
            f"{figure} If errors are independent, at most {more:,} more {noun} per item by "
            "annotators like these would halve it."
        )


def estimate_error(
    responses: Responses,
    model: Model,
    posteriors: Floats,
    expected: ErrorInterval | None = None,
) -> ExpectedError:
    """Estimate the error of labels with these posteriors ``[item, class]``.

    ``expected`` is the expected error if it is known already.
    """
    roots = np.sqrt(model.confusions)
    affinities = np.einsum("mak,mal->mkl", roots, roots)
    weights = responses.responses_per_annotator / max(responses.n_responses, 1)
    overlaps = np.tensordot(weights, np.log(np.maximum(affinities, 1e-12)), axes=1)
    interval = expected or expect_error(responses, model, posteriors)
    return ExpectedError(
        value=interval.value,
        low=interval.low,
        high=interval.high,
        responses_per_item=responses.n_responses / responses.n_items,
        overlaps=np.minimum(overlaps, 0.0),
        prior=model.prior,
    )


def expect_error(responses: Responses, model: Model, posteriors: Floats) -> ErrorInterval:
    """The expected share of wrong labels of the most probable classes."""
    observed = observe(responses, model, most_likely(posteriors), posteriors)
    n_items = int(np.count_nonzero(responses.responses_per_item))
    if not n_items:
        return NO_ERROR.scaled(0.0, mean_error(posteriors))
    dependence = probability_of_shared_errors(
        observed.independence(np.arange(responses.n_annotators))
    )
    visible = observed.visible() if dependence > 0 else None
    own, K = mean_error(observed.posteriors), responses.n_classes
    answered = responses.responses_per_item > 0
    rest = float(np.sum(1 - posteriors[~answered].max(axis=1)) / responses.n_items)
    return combine(own, dependence, visible, n_items, K).scaled(n_items / responses.n_items, rest)
