"""`audit`: what a few checked labels say about all of them, with intervals that need no model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.diagnose import Paragraph
from blindfuse.errors import BadParameter, list_names
from blindfuse.fusion.audit_candidates import FUSION, VOTE, Candidates, fit_candidates
from blindfuse.fusion.audit_corrections import (
    AuditedAnnotators,
    correct_annotators,
    recalibrate,
    rogan_gladen,
)
from blindfuse.fusion.audit_plan import AuditPlan
from blindfuse.fusion.audit_sample import CheckedSample, collect_sample
from blindfuse.fusion.choice import check_fusion
from blindfuse.fusion.stratified import (
    POWER_OF_GROUPS,
    Counts,
    Interval,
    intervals_of_shares,
)
from blindfuse.model.recalibration import Recalibration
from blindfuse.parameters import instance_of, optional, positive
from blindfuse.responses.gold import check_gold

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion

Floats = NDArray[np.float64]

MAX_LISTED_CLASSES = 10
"""Classes that the summary lists."""
PRECISIONS = (0.05, 0.03, 0.02, 0.01, 0.005)
"""Half-widths of the interval of the error for which the summary may say what they cost."""


@dataclass(frozen=True, eq=False)
class AuditResult:
    """Errors, class proportions and annotators, measured on checked labels.

    All intervals have a confidence level of 95 %. For a plan they hold for all items, whatever
    model gave the labels; for a list of the user's own they hold for items like those.

    Attributes
    ----------
    fusion, plan
        what was audited; the plan is None for a list of the user's own.
    sample
        the checked items, with the gold items of the fusion.
    candidates
        the labels of the methods that are compared.
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
        responses, (items, truth, _) = self.fusion.responses, self.checks()
        names, labels = responses.items[items].tolist(), responses.classes[truth].tolist()
        return dict(zip(names, labels, strict=True))

    def checks(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Positions, class codes and weights ``[check]`` of the checked items, without gold."""
        sample, checked = self.sample, slice(self.n_checked)
        return sample.items[checked], sample.truth[checked], sample.weights[checked]

    @property
    def error(self) -> Interval:
        """The share of wrong fused labels among all items."""
        return self.errors[FUSION]

    @property
    def vote_error(self) -> Interval:
        """The share of wrong labels of the majority vote; a tie counts in proportion."""
        return self.errors[VOTE]

    @property
    def blind_error(self) -> float:
        """The expected error of the fusion, which was estimated without the checked labels."""
        return float(self.fusion.expected_error.value)

    @cached_property
    def errors(self) -> dict[str, Interval]:
        """The share of wrong labels of every candidate method; ``fuse`` is the fusion itself."""
        counts = [self.sample.counts(losses) for losses in self._losses.values()]
        return dict(zip(self._losses, intervals_of_shares(counts), strict=True))

    @cached_property
    def differences(self) -> dict[str, Interval]:
        """The error of each other method minus that of the fused labels: negative if better."""
        return self.compare_with(FUSION)

    def compare_with(self, reference: str) -> dict[str, Interval]:
        """The error of each other method minus that of a reference, with paired intervals.

        Only items on which the two disagree count, and how many there are is known.
        """
        others = [name for name in self._losses if name != reference]
        found = {name: self._paired_counts(name, reference) for name in others}
        known = [counts for counts in found.values() if counts is not None]
        intervals = iter(intervals_of_shares(known))
        differences = {}
        for name, counts in found.items():
            reach = float(np.mean(self.candidates.differ(name, reference)))
            mean = next(intervals) if counts is not None else Interval(0.5, 0.0, 1.0)
            limits = (reach * (2 * x - 1) + 0.0 for x in (mean.value, mean.low, mean.high))
            differences[name] = Interval(*limits)
        return differences

    def _paired_counts(self, method: str, reference: str) -> Counts | None:
        """Counts of (1 + the difference of losses)/2 where the methods differ."""
        half = (1 + self._losses[method] - self._losses[reference]) / 2
        return self.sample.counts_within(half, self.candidates.differ(method, reference))

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
        found = intervals_of_shares(counts, POWER_OF_GROUPS)
        total = sum(one.value for one in found)
        scaled = (
            Interval(min(max(one.value / total, one.low), one.high), one.low, one.high)
            for one in found
        )
        return dict(zip(names, scaled, strict=True))

    @cached_property
    def rogan_gladen(self) -> dict[Any, Interval]:
        """The proportions of two classes from the labels' sensitivity and specificity.

        Empty for other numbers of classes, and where the checked items do not determine them.
        """
        classes, labels = self.fusion.responses.classes.tolist(), self.candidates.labels[FUSION]
        if len(classes) != 2:
            return {}
        found = {name: rogan_gladen(self.sample, labels, k) for k, name in enumerate(classes)}
        return {name: one for name, one in found.items() if one is not None}

    @cached_property
    def recalibration(self) -> Recalibration:
        """The correction of the posteriors, fitted to the checked items."""
        items, truth, weights = self.checks()
        return recalibrate(self.fusion.posteriors[items], truth, weights)

    @cached_property
    def posteriors(self) -> Floats:
        """Recalibrated posteriors ``[item, class]``; checked items have probability one."""
        posteriors = self.recalibration(self.fusion.posteriors)
        posteriors[self.sample.items] = np.eye(posteriors.shape[1])[self.sample.truth]
        return posteriors

    @cached_property
    def annotators(self) -> AuditedAnnotators:
        """Accuracy and confusion matrices of the annotators, corrected."""
        posteriors = self.recalibration(self.fusion.posteriors)
        return correct_annotators(self.fusion, self.sample, posteriors)

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
        trusted = self.error.low <= self.blind_error <= self.error.high
        return (
            Paragraph("Checked", self._checked_text(), warning=not self.is_probability_sample),
            Paragraph("Error", self._error_text(), warning=not trusted),
            Paragraph("Methods", self._methods_text(), warning=self.better_method is not None),
            Paragraph("Class proportions", self._classes_text(), warning=False),
            Paragraph("Annotators", self._annotators_text(), warning=False),
            Paragraph("More checks", self._more_text(), warning=False),
        )

    def summary(self) -> str:
        """All paragraphs, one per line."""
        return "\n".join(f"{one.heading}: {one.text}" for one in self.paragraphs())

    def __repr__(self) -> str:
        return f"AuditResult of {self.n_checked:,} checked items: error {_percent(self.error)}"

    @cached_property
    def _losses(self) -> dict[str, Floats]:
        """Whether the label of each checked item is wrong, by method."""
        items, truth = self.sample.items, self.sample.truth
        return {name: self.candidates.losses(name, items, truth) for name in self.candidates.labels}

    def _checked_text(self) -> str:
        n_items = self.fusion.responses.n_items
        if len(self.sample.items) == n_items and self.is_probability_sample:
            return f"All {n_items:,} items, so the figures are exact."
        if self.plan is None or not self.is_probability_sample:
            return (
                f"{self.n_checked:,} items of your own choice. They are not a random sample of the "
                f"{n_items:,} items, so all figures are valid for items like those only. Use "
                "`plan_audit` for figures about all items."
            )
        skipped = len(self.plan) - self.n_checked
        left_out = (
            f" {skipped:,} items of the plan have no label; if they were skipped because they are "
            "hard, the error is underestimated."
            if skipped
            else ""
        )
        return f"{self.n_checked:,} of {n_items:,} items, a stratified random sample.{left_out}"

    def _error_text(self) -> str:
        text = f"{_percent(self.error)} of the labels are wrong. The blind estimate was "
        text += f"{100 * self.blind_error:.1f} %"
        if self.blind_error < self.error.low:
            return f"{text}, which is too low: trust the measured error."
        if self.blind_error > self.error.high:
            return f"{text}, which is too high: trust the measured error."
        return f"{text}, which the checks do not contradict."

    def _methods_text(self) -> str:
        errors = ", ".join(
            f"{name} {_percent(one)}" for name, one in self.errors.items() if name != FUSION
        )
        if self.better_method is None:
            verdict = "None of them is better than the fused labels beyond chance."
        else:
            gain = self.differences[self.better_method]
            verdict = (
                f"{self.better_method} makes {-100 * gain.value:.1f} points fewer errors than the "
                f"fused labels ({-100 * gain.high:.1f} to {-100 * gain.low:.1f}): fuse again with "
                "the checked labels to use it."
            )
        return f"Errors of other methods: {errors}. {verdict}"

    def _classes_text(self) -> str:
        shares = list(self.class_shares.items())
        shares.sort(key=lambda one: -one[1].value)
        listed = ", ".join(f"{name} {_percent(one)}" for name, one in shares[:MAX_LISTED_CLASSES])
        hidden = len(shares) - MAX_LISTED_CLASSES
        more = f" and {hidden:,} more classes" if hidden > 0 else ""
        text = f"{listed}{more} of all items, corrected by the checks."
        if self.rogan_gladen:
            name, one = max(self.rogan_gladen.items(), key=lambda pair: pair[1].value)
            text += f" Rogan–Gladen: {name} {_percent(one)}."
        return text

    def _annotators_text(self) -> str:
        found = self.annotators
        checked = np.flatnonzero(found.n_checked)
        if not len(checked):
            return "No checked item has a response, so nothing is known about the annotators."
        worst = checked[np.argsort(found.high[checked], kind="stable")[:3]]
        listed = ", ".join(
            f"{list_names(found.names[[m]])} "
            f"{_percent(Interval(found.accuracy[m], found.low[m], found.high[m]))}"
            for m in worst
        )
        return (
            f"{len(checked):,} of {len(found.names):,} have checked responses. Lowest accuracy: "
            f"{listed}."
        )

    def _more_text(self) -> str:
        reach = f"The interval of the error is ± {100 * self.error.half_width:.1f} points."
        for precision in PRECISIONS:
            more = self.more_checks(precision)
            if more:
                return f"{reach} About {more:,} more checks give ± {100 * precision:g} points."
        return reach


def audit(fusion: "Fusion", plan: AuditPlan | None, checked: Mapping[Any, Any]) -> AuditResult:
    """Measure the error of the labels, of other methods, of classes and of annotators.

    Parameters
    ----------
    fusion
        what ``fuse`` returned, without the checked labels.
    plan
        what :func:`plan_audit` returned; None if the checked items are a list of your own. Items of
        the plan that are not checked are allowed, if their truth had no part in that.
    checked
        the correct labels of checked items, ``{item: label}``.

    Examples
    --------
    >>> from blindfuse import audit, fuse, plan_audit
    >>> fusion = fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> plan = plan_audit(fusion, budget=3)
    >>> audit(fusion, plan, {item: fusion.labels[item] for item in plan.items}).error.value
    0.0
    """
    check_fusion(fusion)
    optional(instance_of(AuditPlan, description="an AuditPlan")).check("plan", plan)
    check_gold(checked, "checked labels")
    if not fusion.responses.is_plain:
        raise BadParameter(
            "An audit corrects annotators who report classes, but these report "
            f"{fusion.responses.n_symbols:,} symbols. Pass the checked labels to fuse as gold=, "
            "or fuse with abstentions=False if missing responses are the only symbols."
        )
    sample = collect_sample(fusion, plan, checked)
    return AuditResult(fusion, plan, sample, _candidates_for(fusion, plan))


def _candidates_for(fusion: "Fusion", plan: AuditPlan | None) -> Candidates:
    """The plan's candidates if they were fitted to this fusion."""
    if plan is not None and plan.candidates.fusion is fusion:
        return plan.candidates
    return fit_candidates(fusion)


def _percent(one: Interval) -> str:
    return f"{100 * one.value:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f} %)"
