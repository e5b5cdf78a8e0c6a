"""What checked labels say about posteriors, annotators and class proportions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtri

from blindfuse.fusion.audit_sample import CheckedSample
from blindfuse.fusion.stratified import CONFIDENCE, Interval, stratified_interval
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.recalibration import MIN_POSTERIOR, Recalibration
from blindfuse.responses.coding import positions

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion

Floats = NDArray[np.float64]

PSEUDO_CHECKS = 10.0
"""Checked responses for which the correction of a confusion matrix counts half."""
PARAMETER_BOUNDS = ((-4.0, 4.0), (0.0, 0.99), (0.0, 0.99))
"""Bounds of log power, certain and mixed."""


@dataclass(frozen=True, eq=False)
class AuditedAnnotators:
    """Accuracy and confusion matrices of the annotators, corrected by the checked labels.

    Attributes
    ----------
    names, n_checked ``[annotator]``
        names, and how many of their responses are to checked items.
    accuracy, low, high ``[annotator]``
        share of correct responses among those given, with 95 % intervals. An annotator without a
        checked response has the accuracy of the fusion's model and the interval 0 to 1.
    confusions ``[annotator, reported, true]``
    """

    names: NDArray[Any]
    n_checked: NDArray[np.intp]
    accuracy: Floats
    low: Floats
    high: Floats
    confusions: Floats


def recalibrate(posteriors: Floats, truth: NDArray[np.intp], weights: Floats) -> Recalibration:
    """Fit the parameters to checked items by weighted maximum a posteriori.

    The prior is a standard normal for log power and exp(−certain − mixed): no more than the
    evidence of one check.

    Parameters
    ----------
    posteriors ``[check, class]``
    truth, weights ``[check]``
        class codes, and how many items each checked item stands for.
    """
    checks, shares = np.arange(len(truth)), weights / weights.sum() * len(truth)

    def loss(parameters: Floats) -> float:
        log_power, certain, mixed = parameters
        of_truth = Recalibration(np.exp(log_power), certain, mixed)(posteriors)[checks, truth]
        prior = log_power**2 / 2 + certain + mixed
        return float(-shares @ np.log(np.maximum(of_truth, MIN_POSTERIOR)) + prior)

    starts = (0.0, 0.0, 0.0), (-1.0, 0.2, 0.2), (1.0, 0.2, 0.0)
    fits = (minimize(loss, start, bounds=PARAMETER_BOUNDS) for start in starts)
    log_power, certain, mixed = min(fits, key=lambda one: float(one.fun)).x.tolist()
    return Recalibration(float(np.exp(log_power)), certain, mixed)


def correct_annotators(
    fusion: "Fusion", sample: CheckedSample, posteriors: Floats
) -> AuditedAnnotators:
    """Correct accuracies and confusion matrices; ``posteriors`` are recalibrated.

    The accuracy is post-stratified by agreement with the fused label, with the effective number of
    checks (Σ w)²/Σ w². The confusion matrix comes from the counts
    Σ_all p_k [reports a] + λ Σ_checked w (y_k − p_k) [reports a], with λ = n/(n + 10) for n checked
    responses (a prediction-powered estimate that few checks change little).
    """
    responses = fusion.responses
    labels = positions(fusion.labels, responses.classes)
    M, K = responses.n_annotators, responses.n_classes
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
    accuracy = _model_accuracy(fusion)
    low, high = np.zeros(M), np.ones(M)
    accuracy[some], low[some], high[some] = stratified_interval(
        (right * n_effective)[some], n_effective[some], np.maximum(sizes, n_effective)[some]
    )
    residual = (np.eye(K)[truth] - posteriors[sample.items][of_check]) * weight[:, None]
    correction = np.zeros((M, K, K))
    np.add.at(correction, (annotator, reported), residual)
    strength = n_checked / (n_checked + PSEUDO_CHECKS)
    counts = count_posteriors(responses, posteriors, fusion.threads).counts
    counts = np.maximum(counts + strength[:, None, None] * correction, 0.0)
    return AuditedAnnotators(
        responses.annotators, n_checked, accuracy, low, high, _normalised(counts, fusion)
    )


def _model_accuracy(fusion: "Fusion") -> Floats:
    """Σ_k π_k Γ_m(k, k) per annotator."""
    model = fusion.model.for_annotators(fusion.responses.annotators, fusion.responses.classes)
    return np.asarray(np.einsum("mkk,k->m", model.confusions, model.prior))


def _normalised(counts: Floats, fusion: "Fusion") -> Floats:
    """Columns that sum to one; the model's column and one pseudo-count where there is little."""
    model = fusion.model.for_annotators(fusion.responses.annotators, fusion.responses.classes)
    counts = counts + model.confusions
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def rogan_gladen(sample: CheckedSample, labels: NDArray[np.intp], positive: int) -> Interval | None:
    """The share of class ``positive`` of two, from the sensitivity and specificity of the labels.

    (F + specificity − 1)/J with J = sensitivity + specificity − 1, where F is the share of items
    labelled positive. The interval is that of the delta method with the variance within strata,
    to which one more wrong label is added so that it is never zero, cut to [0, 1]. None where the
    labels carry no information, or where one class was never checked.

    Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    weights, is_positive = sample.weights, sample.truth == positive
    labelled = labels[sample.items] == positive
    if is_positive.all() or not is_positive.any():
        return None
    rates = [
        np.average(labelled[is_positive == x], weights=weights[is_positive == x]) for x in (1, 0)
    ]
    information = float(rates[0] - rates[1])
    if information <= 0:
        return None
    share = float(np.mean(labels == positive))
    value = float(np.clip((share - rates[1]) / information, 0.0, 1.0))
    residuals = (labelled - np.where(is_positive, *rates)) / information
    n, counts = sample.n_checked, np.bincount(sample.strata)
    squares = np.bincount(sample.strata, residuals**2)
    means = np.bincount(sample.strata, residuals) / counts
    # A stratum of one check has the variance of all of them.
    within = np.where(
        counts > 1, (squares - counts * means**2) / np.maximum(counts - 1, 1), residuals.var()
    )
    shares = sample.sizes / sample.sizes.sum()
    left = np.maximum(1 - counts / (sample.scale * sample.sizes), 0.0)
    variance = float(np.sum(shares**2 * left * within / counts))
    if np.any(left > 0):
        variance += 1 / (n * information) ** 2
    reach = float(ndtri(0.5 + CONFIDENCE / 2) * np.sqrt(variance))
    return Interval(value, max(0.0, value - reach), min(1.0, value + reach))
