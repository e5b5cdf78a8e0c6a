"""`compare` runs every method on the same responses; `check_on_gold` measures one fusion."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError, counted
from blindfuse.estimators.base import Estimator, check_responses, without_warnings
from blindfuse.estimators.registry import METHODS
from blindfuse.fusion.fuse import Fusion, fuse, require_matrices
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.metrics import calibration_error, error_rate, reliability, wilson_interval
from blindfuse.metrics.interval import Interval
from blindfuse.model.posteriors import most_likely, vote_posteriors
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Floats

_ROUNDING = 1e-9
"""Difference of posteriors below which they tie."""


@dataclass(frozen=True)
class Comparison:
    """The result of one method.

    ``error`` is its error rate on the items with known truth, None without a truth. ``differs`` is
    the share of items that it labels differently from ``fuse``; one for which it ties between that
    label and others, or that has no responses, does not differ. ``failed`` is why the method could
    not be used, or None. ``seconds`` is None for a fusion that was passed in.
    """

    method: str
    error: float | None
    differs: float | None
    seconds: float | None
    failed: str | None


def compare(
    responses: Any,
    truth: Mapping[Any, Any] | None = None,
    methods: Mapping[str, Callable[[], Estimator]] = METHODS,
    *,
    fused: Fusion | None = None,
    report: Callable[[str], None] = lambda name: None,
) -> list[Comparison]:
    """Run ``fuse`` and every method; with ``truth``, ``{item: label}``, measure their errors.

    No method is given the truth. ``fused`` is the result of ``fuse``, if there is one already.
    ``report`` is called with the name of each method before it runs.
    """
    table = check_responses(responses)
    if not isinstance(methods, Mapping) or not all(map(callable, methods.values())):
        raise BadParameter("methods= must be a dictionary {name: function that returns a method}.")
    positions, codes = gold_codes(table, truth)
    report("fuse")
    began = perf_counter()
    fusion = fused or fuse(table)
    seconds = None if fused else perf_counter() - began
    labels = most_likely(fusion.posteriors)

    def error(posteriors: Floats) -> float | None:
        return error_rate(posteriors[positions], codes) if len(positions) else None

    rows = [Comparison("fuse", error(fusion.posteriors), 0.0, seconds, None)]
    for name, make in methods.items():
        report(name)
        began = perf_counter()
        try:
            method = make()
            require_matrices(method, table)
            with single_threaded_blas(), without_warnings():
                posteriors = method.fit(table).posteriors_
        except BlindfuseError as reason:
            rows.append(Comparison(name, None, None, perf_counter() - began, str(reason)))
            continue
        seconds = perf_counter() - began
        lead = posteriors.max(axis=1) - posteriors[np.arange(len(labels)), labels]
        differs = float(np.mean((lead > _ROUNDING) & (table.responses_per_item > 0)))
        rows.append(Comparison(name, error(posteriors), differs, seconds, None))
    return rows


@dataclass(frozen=True)
class Bin:
    """Items of similar confidence: their mean confidence and the share of correct labels."""

    items: int
    confidence: float
    accuracy: Interval


@dataclass(frozen=True)
class GoldCheck:
    """The error of a fusion on ``items`` gold items that it was not given.

    ``error`` and ``vote_error`` are the shares of wrong labels of the fusion and of the majority
    vote, in which a tie counts in proportion; ``expected_error`` is what the fusion expected.
    ``bins`` are the reliability diagram that the ``calibration_error`` summarises.
    """

    items: int
    error: Interval
    vote_error: Interval
    expected_error: float
    calibration_error: float
    bins: tuple[Bin, ...]

    def summary(self) -> str:
        """Return the figures as sentences."""
        too_low = self.expected_error < self.error.low
        advice = " The expected error below is too low: trust the measured one." if too_low else ""
        low, high = f"{100 * self.error.low:.1f}", f"{100 * self.error.high:.1f}"
        return (
            f"{100 * self.error.value:.1f} % of the labels are wrong on "
            f"{counted(self.items, 'gold item')} ({low} to {high} %), fused without them; majority "
            f"vote: {100 * self.vote_error.value:.1f} %. Confidences are off by "
            f"{100 * self.calibration_error:.1f} points on average.{advice}"
        )


def check_on_gold(blind: Fusion, gold: Mapping[Any, Any]) -> GoldCheck:
    """Measure a fusion on gold labels ``{item: label}`` that it was not given."""
    items, codes = gold_codes(blind.responses, gold)
    if not len(items):
        raise BadLabels("There are no gold labels to check against. Give at least one.")
    posteriors = blind.posteriors[items]
    votes = vote_posteriors(blind.responses.select_items(items))
    return GoldCheck(
        items=len(items),
        error=_interval(error_rate(posteriors, codes), len(items)),
        vote_error=_interval(error_rate(votes, codes), len(items)),
        expected_error=float(1 - posteriors.max(axis=1).mean()),
        calibration_error=calibration_error(posteriors, codes),
        bins=tuple(
            Bin(int(count), float(confidence), _interval(accuracy, int(count)))
            for count, confidence, accuracy in zip(*reliability(posteriors, codes, 10), strict=True)
        ),
    )


def _interval(share: float, count: int) -> Interval:
    inside = float(np.clip(share, 0, 1))
    return Interval(inside, *wilson_interval(inside, count))
