"""What ``fuse`` does with checked labels: take a better method, and hold the labels fixed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from blindfuse.auditing.audit import AuditResult, audit
from blindfuse.auditing.candidates import FUSION, VOTE
from blindfuse.auditing.corrections import checked_posteriors, recalibrated
from blindfuse.auditing.stratified import CONFIDENCE
from blindfuse.diagnostics.expected_error import ExpectedError, Z
from blindfuse.errors import counted
from blindfuse.metrics.interval import Interval
from blindfuse.model.fused_model import FusedModel, majority_vote, mean_error
from blindfuse.model.posteriors import most_likely, weighted_votes

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


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
    why = _describe_choice(result)
    if result.better_method is not None:
        fusion = _by_candidate(result, result.better_method)
    model = recalibrated(fusion, result.sample)
    posteriors = checked_posteriors(fusion, model, result.sample)
    is_gold = np.zeros(len(posteriors), dtype=bool)
    is_gold[result.sample.items] = True  # the gold items among them
    measured = result.errors[result.better_method or FUSION]
    return replace(
        fusion,
        labels=np.asarray(fusion.responses.classes[most_likely(posteriors)]),
        posteriors=posteriors,
        why=why,
        model=model,
        expected_error=_expected_error(mean_error(posteriors), measured, fusion.expected_error),
        is_gold=is_gold,
        n_checked=result.n_checked,
    )


def _by_candidate(result: AuditResult, name: str) -> "Fusion":
    """The fusion with the model of a candidate method."""
    fusion, responses = result.fusion, result.fusion.responses
    history = np.empty(0)
    if name == VOTE:
        model = majority_vote(responses, weighted_votes(responses), fusion.threads)
    else:
        fitted: Any = result.candidates.fitted[name]
        names = responses.annotators, responses.classes, responses.symbols
        model = FusedModel.of(fitted.model_.for_annotators(*names))
        history = getattr(fitted, "log_likelihoods_", history)
    return replace(fusion, method=name, model=model, history=history, estimator=None)


def _expected_error(value: float, measured: Interval, blind: ExpectedError | None) -> ExpectedError:
    """The mean error of the posteriors, with the measured interval reduced from 95 to 80 %."""
    ratio = Z / float(ndtri((1 + CONFIDENCE) / 2))
    low = max(0.0, value - ratio * (measured.value - measured.low))
    high = min(1.0, value + ratio * (measured.high - measured.value))
    return ExpectedError(value, low, high, value if blind is None else blind.if_independent)


def _describe_choice(result: AuditResult) -> str:
    """Why ``fuse`` keeps its method after the checks, or takes a better one."""
    method, better = result.fusion.method, result.better_method
    checks = counted(result.n_checked, "checked item")
    if not result.is_probability_sample:
        checks += " of your own list"
    if better is None:
        return f"On {checks}, no other method is better beyond chance than {method}."
    gain = (-result.differences[better]).percent(unit="points")
    return (
        f"On {checks}, its error is {gain} below that of {method}, which was selected without them."
    )
