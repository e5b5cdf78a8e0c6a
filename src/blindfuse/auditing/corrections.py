"""What checked labels say about posteriors and annotators."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from blindfuse.auditing.sample import CheckedSample
from blindfuse.auditing.stratified import stratified_interval
from blindfuse.metrics.interval import Interval
from blindfuse.model.fused_model import MIN_POSTERIOR, FusedModel, Recalibration
from blindfuse.responses.coding import positions
from blindfuse.typing import Array, Codes, Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


@dataclass(frozen=True, eq=False)
class AuditedAnnotators:
    """Accuracy of the annotators, corrected by the checked labels.

    ``n_checked`` of their responses are to checked items. ``accuracy``, ``low`` and ``high`` are
    shares of correct responses among those given, with 95 % intervals. An annotator without a
    checked response has the accuracy of the fusion's model and the interval 0 to 1.
    """

    names: Array
    n_checked: Codes
    accuracy: Floats
    low: Floats
    high: Floats

    def interval(self, m: int) -> Interval:
        """The accuracy of annotator m."""
        return Interval(float(self.accuracy[m]), float(self.low[m]), float(self.high[m]))


def unrecalibrated_posteriors(fusion: "Fusion") -> Floats:
    """The posteriors ``[item, class]`` of a fusion before the last step of its model."""
    if fusion.estimator is not None:
        return fusion.posteriors
    return fusion.model.combined(fusion.responses, threads=fusion.threads)


def recalibrated(fusion: "Fusion", sample: CheckedSample) -> FusedModel:
    """The model of a fusion with confidences that are calibrated on the checked items."""
    checked = slice(sample.n_checked)  # without gold items
    items, truth = sample.items[checked], sample.truth[checked]
    found = recalibrate(
        unrecalibrated_posteriors(fusion)[items],
        truth,
        sample.weights[checked],
        fusion.model.recalibration.power,
    )
    return replace(fusion.model, recalibration=found)


def checked_posteriors(fusion: "Fusion", model: FusedModel, sample: CheckedSample) -> Floats:
    """The posteriors ``[item, class]`` of a recalibrated model, with known labels held fixed."""
    responded = fusion.responses.responses_per_item > 0
    posteriors = model.recalibrate(unrecalibrated_posteriors(fusion).copy(), responded)
    posteriors[sample.items] = np.eye(posteriors.shape[1])[sample.truth]
    return posteriors


def recalibrate(
    posteriors: Floats, truth: Codes, weights: Floats, usual_power: float = 1.0
) -> Recalibration:
    """Fit the parameters to checked items by weighted maximum a posteriori.

    The prior is exp(−certain − mixed) and a normal distribution of log power around the usual one
    with standard deviation one: no more than the evidence of one check. ``truth`` and ``weights``
    ``[check]`` are class codes, and how many items each check stands for.
    """
    checks, shares = np.arange(len(truth)), weights / weights.sum() * len(truth)

    def loss(parameters: Floats) -> float:
        change, certain, mixed = parameters
        correct = Recalibration(usual_power * np.exp(change), certain, mixed)
        of_truth = correct(posteriors)[checks, truth]
        prior = change**2 / 2 + certain + mixed
        return float(-shares @ np.log(np.maximum(of_truth, MIN_POSTERIOR)) + prior)

    starts = (0.0, 0.0, 0.0), (-1.0, 0.2, 0.2), (1.0, 0.2, 0.0)
    bounds = (-4.0, 4.0), (0.0, 0.99), (0.0, 0.99)
    fits = (minimize(loss, start, bounds=bounds) for start in starts)
    change, certain, mixed = min(fits, key=lambda fit: float(fit.fun)).x.tolist()
    return Recalibration(float(usual_power * np.exp(change)), certain, mixed)


def correct_annotators(fusion: "Fusion", sample: CheckedSample) -> AuditedAnnotators:
    """Accuracies, post-stratified by agreement with the fused label.

    The effective number of checks is (Σ w)²/Σ w².
    """
    responses = fusion.responses
    labels = positions(fusion.labels, responses.classes)
    M = responses.n_annotators
    agrees = responses.by_item.symbols == np.repeat(labels, responses.responses_per_item)
    cells = 2 * responses.by_item.codes.astype(np.intp) + agrees
    sizes = np.bincount(cells, minlength=2 * M).reshape(M, 2).astype(float)

    checked = responses.select_items(sample.items)
    of_check = checked.item_of_response()
    annotator, reported = checked.by_item.codes.astype(np.intp), checked.by_item.symbols
    truth, weight = sample.truth[of_check], sample.weights[of_check]
    cell = 2 * annotator + (reported == labels[sample.items][of_check])

    def sums(values: Floats) -> Floats:
        return np.asarray(np.bincount(cell, values, minlength=2 * M).reshape(M, 2), dtype=float)

    total = sums(weight)
    n_effective = np.divide(total**2, sums(weight**2), out=np.zeros((M, 2)), where=total > 0)
    right = np.divide(sums(weight * (reported == truth)), total, out=total * 0, where=total > 0)
    n_checked = np.bincount(annotator, minlength=M)
    # A cell without checks counts as part of the other one.
    filled = n_effective > 0
    sizes = np.where(filled, sizes + np.where(filled[:, ::-1], 0.0, sizes[:, ::-1]), 0.0)
    some = n_checked > 0
    accuracy = np.einsum("mkk,k->m", fusion.model.confusions, fusion.model.prior)
    low, high = np.zeros(M), np.ones(M)
    accuracy[some], low[some], high[some] = stratified_interval(
        (right * n_effective)[some], n_effective[some], np.maximum(sizes, n_effective)[some]
    )
    return AuditedAnnotators(responses.annotators, n_checked, accuracy, low, high)
