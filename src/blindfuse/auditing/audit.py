"""`audit`: what a few checked labels say about all of them, with intervals that need no model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.auditing.candidates import FUSION, IS_FUSION, Candidates, fit_candidates
from blindfuse.auditing.corrections import (
    AuditedAnnotators,
    checked_posteriors,
    correct_annotators,
    recalibrated,
)
from blindfuse.auditing.plan import AuditPlan
from blindfuse.auditing.sample import CheckedSample, collect_sample
from blindfuse.auditing.stratified import POWER_OF_GROUPS, intervals_of_shares
from blindfuse.errors import BadParameter, counted, list_names
from blindfuse.metrics.interval import Interval
from blindfuse.parameters import instance_of, optional, positive
from blindfuse.responses.table import check_gold
from blindfuse.result import Paragraph
from blindfuse.typing import Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Errors, class proportions and annotators, measured on checked labels.

    All intervals have a confidence level of 95 %. For a ``plan`` they hold for all items, whatever
    model gave the labels; without one, for items like those of the user's own list. The ``sample``
    are the checked items with the gold items of the fusion, ``candidates`` the methods compared.
    """

    fusion: "Fusion" = field(repr=False)
    plan: AuditPlan | None = field(repr=False)
    sample: CheckedSample = field(repr=False)
    candidates: Candidates = field(repr=False)

    @property
    def n_checked(self) -> int:
        """How many items were checked."""
        return self.sample.n_checked

    @property
    def is_probability_sample(self) -> bool:
        """Whether the intervals hold for all items: they were drawn by a plan, or all checked."""
        return self.plan is not None or self.sample.scale == 1

    @property
    def labels(self) -> dict[Any, Any]:
        """The checked labels, ``{item: label}``."""
        responses, checked = self.fusion.responses, slice(self.n_checked)
        items, truth = self.sample.items[checked], self.sample.truth[checked]
        names, labels = responses.items[items].tolist(), responses.classes[truth].tolist()
        return dict(zip(names, labels, strict=True))

    @property
    def error(self) -> Interval:
        """The share of wrong fused labels among all items."""
        return self.errors[FUSION]

    @property
    def blind_error(self) -> float | None:
        """The expected error of the fusion, estimated without the checked labels, or None."""
        expected = self.fusion.expected_error
        return None if expected is None else expected.value

    @cached_property
    def errors(self) -> dict[str, Interval]:
        """The share of wrong labels of every candidate method; ``fuse`` is the fusion itself."""
        counts = [self.sample.counts(losses) for losses in self._losses.values()]
        return dict(zip(self._losses, intervals_of_shares(counts), strict=True))

    @cached_property
    def differences(self) -> dict[str, Interval]:
        """The error of each other method minus that of the fused labels: negative if better.

        Intervals are paired: only items on which the two disagree count, and how many there are is
        known.
        """
        differences = {}
        for name in [name for name in self._losses if name != FUSION]:
            differ = self.candidates.differ(name, FUSION)
            half = (1 + self._losses[name] - self._losses[FUSION]) / 2
            counts, reach = self.sample.counts_within(half, differ), float(np.mean(differ))
            share = Interval(0.5, 0, 1) if counts is None else intervals_of_shares([counts])[0]
            differences[name] = Interval(*(reach * (2 * x - 1) + 0.0 for x in share))
        return differences

    @cached_property
    def better_method(self) -> str | None:
        """The method with the smallest error of those that are better than the fused labels.

        A method is better if its paired interval is below zero. None if there is none.
        """
        better = [name for name, difference in self.differences.items() if difference.high < 0]
        return min(better, key=lambda name: self.differences[name].value, default=None)

    @cached_property
    def class_shares(self) -> dict[Any, Interval]:
        """The proportion of each class among all items, by prediction-powered inference.

        See :meth:`CheckedSample.counts_by_group`. Values are scaled to add up to one, as far as
        their intervals allow.
        """
        labels, sample = self.candidates.labels[FUSION], self.sample
        names = self.fusion.responses.classes.tolist()
        counts = [
            sample.counts_by_group((sample.truth == k).astype(float), labels == k)
            for k in range(len(names))
        ]
        shares = intervals_of_shares(counts, POWER_OF_GROUPS)
        total = sum(share.value for share in shares)
        return {
            name: Interval(float(np.clip(share.value / total, share.low, share.high)), *share[1:])
            for name, share in zip(names, shares, strict=True)
        }

    @cached_property
    def posteriors(self) -> Floats:
        """Recalibrated posteriors ``[item, class]``; checked items have probability one."""
        return checked_posteriors(self.fusion, recalibrated(self.fusion, self.sample), self.sample)

    @cached_property
    def annotators(self) -> AuditedAnnotators:
        """Accuracy of the annotators."""
        return correct_annotators(self.fusion, self.sample)

    def more_checks(self, points: float) -> int:
        """About how many more checks bring the interval of the error to ± ``points``, a share.

        The variance per check is assumed to stay as it is.
        """
        positive().check("points", points)
        n, n_gold = self.n_checked, len(self.sample.items) - self.n_checked
        n_items = self.sample.scale * (float(self.sample.sizes.sum()) - n_gold)
        left = 1 / n - 1 / n_items
        if self.error.half_width <= points or left <= 0:
            return 0
        # half-width² = z² σ² (1/n − 1/N)
        variance = self.error.half_width**2 / left
        return int(np.ceil(1 / (points**2 / variance + 1 / n_items) - n))

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The result as text under headings."""
        blind, error = self.blind_error, self.error
        contradicted = blind is not None and not error.low <= blind <= error.high
        return (
            Paragraph("Checked", _checked(self), warning=not self.is_probability_sample),
            Paragraph("Error", _error(self), warning=contradicted),
            Paragraph("Methods", _methods(self), warning=self.better_method is not None),
            Paragraph("Class proportions", _classes(self)),
            Paragraph("Annotators", _annotators(self)),
            Paragraph("More checks", _more(self)),
        )

    def summary(self) -> str:
        """All paragraphs, one per line."""
        return "\n".join(f"{each.heading}: {each.text}" for each in self.paragraphs())

    def __repr__(self) -> str:
        return f"AuditResult of {self.n_checked:,} checked items: error {self.error.percent()}"

    @cached_property
    def _losses(self) -> dict[str, Floats]:
        """Whether the label of each checked item is wrong, by method."""
        items, truth = self.sample.items, self.sample.truth
        return {name: self.candidates.losses(name, items, truth) for name in self.candidates.labels}


def audit(fusion: "Fusion", plan: AuditPlan | None, checked: Mapping[Any, Any]) -> AuditResult:
    """Measure the error of the labels, of other methods, of classes and of annotators.

    ``checked`` are the correct labels of checked items, ``{item: label}``, and ``plan`` is what
    :func:`plan_audit` returned; None if they are a list of your own. Items of the plan that are not
    checked are allowed, if their truth had no part in that. The ``fusion`` must be without them.

    Examples
    --------
    >>> from blindfuse import audit, fuse, plan_audit
    >>> fusion = fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> plan = plan_audit(fusion, budget=3)
    >>> audit(fusion, plan, {item: fusion.labels[item] for item in plan.items}).error.value
    0.0
    """
    IS_FUSION.check("fusion", fusion)
    optional(instance_of(AuditPlan, description="an AuditPlan")).check("plan", plan)
    check_gold(checked, "checked labels")
    if not fusion.responses.is_plain:
        raise BadParameter(
            "An audit corrects annotators who report classes, but these report "
            f"{fusion.responses.n_symbols:,} symbols. Pass the checked labels to fuse as gold=, "
            "or fuse with abstentions=False if missing responses are the only symbols."
        )
    sample = collect_sample(fusion, plan, checked or {})
    candidates = None if plan is None else plan.candidates
    if candidates is None or candidates.fusion is not fusion:
        candidates = fit_candidates(fusion)
    return AuditResult(fusion, plan, sample, candidates)


def _checked(result: AuditResult) -> str:
    n_items = result.fusion.responses.n_items
    if not result.is_probability_sample:
        return (
            f"{counted(result.n_checked, 'item')} of your own choice, not a random sample of the "
            f"{n_items:,} items, so all figures are valid for items like those only. Draw them by "
            "`blindfuse audit --budget` (plan_audit in Python) for figures about all items."
        )
    if len(result.sample.items) == n_items:
        return f"All {counted(n_items, 'item')}, so the figures are exact."
    text = f"{result.n_checked:,} of {n_items:,} items, a stratified random sample."
    skipped = 0 if result.plan is None else len(result.plan) - result.n_checked
    if not skipped:
        return text
    return (
        f"{text} {skipped:,} items of the plan have no label; if they were skipped because they "
        "are hard, the error is underestimated."
    )


def _error(result: AuditResult) -> str:
    text, blind = f"{result.error.percent()} of the labels are wrong.", result.blind_error
    if blind is None:
        return f"{text} The responses alone did not say how many."
    verdict = "which the checks do not contradict"
    if not result.error.low <= blind <= result.error.high:
        direction = "low" if blind < result.error.low else "high"
        verdict = f"which is too {direction}: trust the measured error"
    return f"{text} The blind estimate was {100 * blind:.1f} %, {verdict}."


def _methods(result: AuditResult) -> str:
    others = (pair for pair in result.errors.items() if pair[0] != FUSION)
    errors = ", ".join(f"{name} {error.percent()}" for name, error in others)
    verdict = "None of them is better than the fused labels beyond chance."
    if result.better_method is not None:
        gain = -result.differences[result.better_method]
        verdict = (
            f"{result.better_method} makes {100 * gain.value:.1f} points fewer errors than the "
            f"fused labels ({100 * gain.low:.1f} to {100 * gain.high:.1f}): fuse again with the "
            "checked labels to use it."
        )
    return f"Errors of other methods: {errors}. {verdict}"


def _classes(result: AuditResult) -> str:
    shares = sorted(result.class_shares.items(), key=lambda pair: -pair[1].value)
    listed = ", ".join(f"{name} {share.percent()}" for name, share in shares[:10])
    hidden = len(shares) - 10
    more = f" and {counted(hidden, 'more class')}" if hidden > 0 else ""
    return f"{listed}{more} of all items, corrected by the checks."


def _annotators(result: AuditResult) -> str:
    found = result.annotators
    checked = np.flatnonzero(found.n_checked)
    if not len(checked):
        return "No checked item has a response, so nothing is known about the annotators."
    worst = checked[np.argsort(found.high[checked], kind="stable")[:3]].tolist()
    listed = ", ".join(
        f"{list_names(found.names[[m]])} {found.interval(m).percent()}" for m in worst
    )
    return (
        f"{len(checked):,} of {len(found.names):,} have checked responses. Lowest accuracy: "
        f"{listed}."
    )


def _more(result: AuditResult) -> str:
    text = f"The interval of the error is ± {100 * result.error.half_width:.1f} points."
    costs = (
        (precision, result.more_checks(precision)) for precision in (0.05, 0.03, 0.02, 0.01, 0.005)
    )
    precision, more = next((pair for pair in costs if pair[1]), (0.0, 0))
    return f"{text} About {more:,} more checks give ± {100 * precision:g} points." if more else text
