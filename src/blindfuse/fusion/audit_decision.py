"""What ``fuse`` does with checked labels: take a better method, and hold the labels fixed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blindfuse.diagnostics.calibration import ErrorInterval, Z
from blindfuse.fusion.audit import AuditResult, audit
from blindfuse.fusion.audit_candidates import VOTE, Candidates
from blindfuse.fusion.audit_corrections import recalibrate
from blindfuse.fusion.choice import Choice
from blindfuse.fusion.stratified import CONFIDENCE, Interval
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, most_likely, vote_posteriors
from blindfuse.model.recalibration import mean_error
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.responses.responses import Responses

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion

Floats = NDArray[np.float64]


def apply_checks(fusion: "Fusion", checked: Mapping[Any, Any] | AuditResult) -> "Fusion":
    """Return the fusion with checked labels held fixed, by another method if that is better.

    Confidences are recalibrated on the checked items. Another method is taken if the paired 95 %
    interval of its error minus that of the fused labels is below zero; of several, the one with
    the smallest error.
    """
    if isinstance(checked, AuditResult):
        result = audit(fusion, checked.plan, checked.labels)
    else:
        result = audit(fusion, None, checked)
    choice = _recalibrated(_choose(fusion, result), result)
    labels, posteriors = choice.label_codes(), choice.posteriors.copy()
    known = result.sample.items  # the gold items among them
    posteriors[known] = np.eye(posteriors.shape[1])[result.sample.truth]
    labels[known] = result.sample.truth
    is_gold = np.zeros(fusion.responses.n_items, dtype=bool)
    is_gold[known] = True
    choice = replace(
        choice,
        expected_error=_expected_error(posteriors, result.error),
        n_checked=result.n_checked,
    )
    return replace(
        fusion,
        labels=np.asarray(fusion.responses.classes[labels]),
        posteriors=posteriors,
        choice=choice,
        is_gold=is_gold,
    )


def _expected_error(posteriors: Floats, measured: Interval) -> ErrorInterval:
    """The mean error of the posteriors, with the measured interval reduced from 95 to 80 %."""
    value, ratio = mean_error(posteriors), Z / float(ndtri((1 + CONFIDENCE) / 2))
    low = max(0.0, value - ratio * (measured.value - measured.low))
    return ErrorInterval(value, low, min(1.0, value + ratio * (measured.high - measured.value)))


def _choose(fusion: "Fusion", result: AuditResult) -> Choice:
    """The choice of the blind rule, or that of a method which is better on the checked items."""
    name = result.better_method
    checks = f"{result.n_checked:,} checked items"
    if not result.is_probability_sample:
        checks += " of your own list"
    if name is None:
        why = f"{fusion.why} On {checks}, no other method is better beyond chance."
        return replace(fusion.choice, why=why)
    why = (
        f"On {checks}, its error is {_points(result.differences[name])} that of "
        f"{fusion.method}, which was selected without them."
    )
    return _choice_of(name, result.candidates, why)


def _recalibrated(choice: Choice, result: AuditResult) -> Choice:
    """The choice with the same labels and posteriors that are calibrated on the checked items."""
    items, truth, weights = result.checks()
    correct = recalibrate(choice.posteriors[items], truth, weights)
    posteriors_of = choice.posteriors_of or choice.model.posteriors
    return replace(
        choice,
        posteriors=correct(choice.posteriors),
        labels=choice.label_codes(),
        posteriors_of=lambda new: correct(posteriors_of(new)),
    )


def _points(better: Interval) -> str:
    """``5.1 points below (2.0 to 8.2)``, for a difference that is below zero."""
    value, low, high = -100 * better.value, -100 * better.high, -100 * better.low
    return f"{value:.1f} points below ({low:.1f} to {high:.1f})"


def _choice_of(name: str, candidates: Candidates, why: str) -> Choice:
    """A candidate method as a choice."""
    responses, threads = candidates.responses, candidates.fusion.threads
    if name == VOTE:
        posteriors = _vote_shares(responses)
        counts = count_posteriors(responses, posteriors, threads)
        prior = counts.totals / counts.totals.sum()
        confusions = vote_confusions(counts.counts)
        model = Model(confusions, prior, responses.annotators, responses.classes)
        labels = most_likely(posteriors)
        return Choice(name, why, model, posteriors, np.empty(0), labels, _vote_shares)
    fitted = candidates.fitted[name]
    return Choice(
        name,
        why,
        fitted.model_,  # type: ignore[attr-defined]
        fitted.predict_proba(responses),
        getattr(fitted, "log_likelihoods_", np.empty(0)),
        posteriors_of=fitted.predict_proba,
    )


def _vote_shares(responses: Responses) -> Any:
    """The majority vote as posteriors, uniform for items without responses."""
    votes = vote_posteriors(responses)
    votes[votes.sum(axis=1) == 0] = 1 / responses.n_classes
    return votes
