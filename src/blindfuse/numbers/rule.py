"""The rule that fuses numbers: a baseline, and a model where nothing speaks against it.

1. Ratings by annotators on another scale are standardised. The baseline is the mean; or the
   median, or the mean of standardised ratings, if it agrees significantly better with left-out
   ratings.
2. The one-factor model replaces the baseline if its residuals are those of independent normal
   errors (the misfit, one number) and it predicts left-out ratings better.
3. Intervals have the standard errors of independent errors if the model holds. Otherwise errors may
   be shared, and the truth is taken to be as far from the estimate as a further rating would be.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from blindfuse.errors import counted
from blindfuse.kernels.ratings import add_pair_residuals
from blindfuse.metrics import Interval
from blindfuse.numbers.agreement import (
    RestCorrelation,
    intraclass_correlation,
    leave_out,
    predict_left_out,
    rest_correlations,
    rest_means,
    rest_medians,
)
from blindfuse.numbers.factor_model import TOLERANCE, AnnotatorFit, FactorFit, fit_factor
from blindfuse.numbers.scales import Standardizer, scale_ratios
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats

MEAN, MEDIAN, STANDARDIZED, FACTOR = "mean", "median", "standardized mean", "one factor"
SIGNIFICANT_Z = 2.0
"""Standard errors by which another baseline than the mean must agree better with left-out
ratings."""
MAX_MISFIT = 3.0
"""Standard errors up to which residuals are those of independent normal errors."""
MIN_ANNOTATORS = 4
"""Annotators that are needed to test the one-factor model; it fits any covariances of three."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the ratings show about baselines and model.

    Attributes
    ----------
    correlations
        correlation of each method with left-out ratings.
    ratios ``[annotator]``, repair
        how much larger the ratings are than those of others, for annotators on another scale, and
        how these are standardised; 1 for all others, and None if there are no others.
    agreement
        intraclass correlation of standardised ratings.
    signal, misfit
        standard errors by which pairs of annotators deviate from independence without a factor, and
        residuals from independent normal errors with one; None if there are too few annotators.
    fitted
        the one-factor model of all items.
    nothing_to_compare
        why there are no correlations.
    """

    correlations: dict[str, RestCorrelation]
    ratios: Floats
    repair: Standardizer | None = None
    agreement: Interval | None = None
    signal: float | None = None
    misfit: float | None = None
    fitted: FactorFit | None = None
    nothing_to_compare: str = ""

    @property
    def baseline(self) -> str:
        """The mean, or what agrees significantly better with left-out ratings."""
        r = self.correlations
        others = (MEDIAN, STANDARDIZED) if r else ()
        better = [name for name in others if r[name].lead(r[MEAN]) > SIGNIFICANT_Z]
        return max(better, key=lambda name: r[name].value, default=MEAN)

    @property
    def is_independent(self) -> bool:
        """Whether residuals of the one-factor model are those of independent normal errors."""
        return self.misfit is not None and self.misfit <= MAX_MISFIT

    @property
    def is_agreeing(self) -> bool:
        """Whether annotators agree, or contradict each other, beyond chance."""
        if self.agreement is None or (self.signal or 0.0) > MAX_MISFIT:
            return True
        return self.agreement.low > 0


class MethodChoice(NamedTuple):
    """The method, why it is used, and whether errors of annotators look independent."""

    method: str
    why: str
    is_independent: bool


def choose_method(evidence: Evidence) -> MethodChoice:
    """Choose the baseline, or the one-factor model if it holds and predicts ratings better."""
    holds, method = evidence.is_independent and evidence.is_agreeing, evidence.baseline
    if holds and evidence.correlations[FACTOR].value > evidence.correlations[method].value:
        method = FACTOR
    return MethodChoice(method, _why(evidence, method), holds)


def gather_evidence(table: Numbers, sample: Numbers, shift: float = 0.0) -> Evidence:
    """Return what the ratings show, without the truth.

    Methods are compared on a ``sample`` of the items, which may be the table itself. ``shift`` was
    subtracted from the ratings; scales are compared with it added.
    """
    nothing = _nothing_to_compare(sample)
    if nothing:
        return Evidence({}, np.ones(table.n_annotators), nothing_to_compare=nothing)
    medians = rest_medians(sample)
    ratios = scale_ratios(sample, sample.values + shift, medians + shift)
    repair = Standardizer.of(table).restricted_to(ratios != 1) if np.any(ratios != 1) else None
    if repair is not None:
        is_whole, table = sample is table, repair.apply(table)
        sample = table if is_whole else repair.apply(sample)
        medians = rest_medians(sample)
    standardized = Standardizer.of(table).apply(sample)
    rests = {MEAN: rest_means(sample), MEDIAN: medians, STANDARDIZED: rest_means(standardized)}
    correlations = rest_correlations(sample, rests)
    evidence = Evidence(correlations, ratios, repair, intraclass_correlation(standardized))
    if np.count_nonzero(table.responses_per_annotator) < MIN_ANNOTATORS:
        return evidence
    return _with_model(evidence, table, sample)


def _nothing_to_compare(table: Numbers) -> str:
    shared = np.count_nonzero(table.responses_per_item > 1)
    if np.ptp(table.values) == 0:
        return "All ratings are equal"
    if np.count_nonzero(table.responses_per_annotator) < 2:
        return "One annotator gave all ratings"
    return (
        "" if shared > 1 else f"{counted(int(shared), 'item')} with two ratings: too few to compare"
    )


def _with_model(evidence: Evidence, table: Numbers, sample: Numbers) -> Evidence:
    """Add what residuals of the one-factor model show.

    EM goes on to a tenth of the standard error 1/√n of an annotator's parameters.
    """
    per_annotator = sample.n_responses / np.count_nonzero(sample.responses_per_annotator)
    fitted = fit_factor(table, min(TOLERANCE, 0.1 / float(np.sqrt(per_annotator))))
    fit = fitted.annotators
    predictions, residuals = leave_out(sample, fit)
    if sample is table:
        predictions = predict_left_out(table)
    without = replace(fit, scale=np.zeros_like(fit.scale), noise=fit.noise + fit.scale**2)
    return replace(
        evidence,
        correlations=evidence.correlations | rest_correlations(sample, {FACTOR: predictions}),
        signal=_pair_deviation(sample, without),
        misfit=max(_pair_deviation(sample, fit), _tail_deviation(sample, residuals)),
        fitted=fitted,
    )


def _tail_deviation(table: Numbers, residuals: Floats) -> float:
    """Standard errors by which the kurtosis Σ r⁴/n / (Σ r²/n)² of residuals exceeds 3.

    Residuals of the same item may be correlated, so its standard error is that of as many
    independent residuals as there are items with two ratings.
    """
    shared = table.responses_per_item > 1
    squares = np.square(residuals[shared[table.item_of_response()]])
    scale = float(squares.mean())
    kurtosis = float(np.square(squares).mean()) / scale**2 if scale > 0 else 3.0
    return (kurtosis - 3) / float(np.sqrt(24 / np.count_nonzero(shared)))


def _pair_deviation(table: Numbers, fit: AnnotatorFit) -> float:
    """Standard errors by which residuals of pairs of annotators are correlated, on the whole.

    The covariance of two annotators on c common items has a z-score, and z² the mean 1 and the
    variance 2 + 6/c if errors are independent and normal. Only the 300 annotators with most ratings
    are paired, because all pairs of more would take longer than the fusion.
    """
    n, x, _ = table.power_sums.T  # the sums decide between equally busy annotators
    kept = np.sort(np.lexsort((x, -n))[:300])
    place = np.full(table.n_annotators, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    kept_table = table.select_responses(place[table.codes] >= 0)
    starts, codes, values = kept_table.by_item
    sums = np.zeros((len(kept), len(kept), 5))
    parameters = fit.bias[kept], fit.scale[kept], fit.noise[kept]
    add_pair_residuals(starts, place[codes], values, *parameters, sums)
    common, excess, variance, _, _ = sums[sums[:, :, 0] > 0].T
    return float((excess**2 / variance - 1).sum() / np.sqrt((2 + 6 / common).sum() or 1.0))


def _why(evidence: Evidence, method: str) -> str:
    """Why a method is used, in at most three sentences."""
    if evidence.nothing_to_compare:
        return f"{evidence.nothing_to_compare}, so the {method} is used."
    if evidence.agreement is not None and not evidence.is_agreeing:
        value, low, high = evidence.agreement
        return (
            f"{value:.2f} is the intraclass correlation (95 % interval {low:.2f} to {high:.2f}): "
            f"annotators do not agree beyond chance. The values are those of the {method} and "
            "say little about the items."
        )
    values = {name: f"{r.value:.3f}" for name, r in evidence.correlations.items()}
    others = ", ".join(f"{name} {value}" for name, value in values.items() if name != method)
    name = "one-factor model" if method == FACTOR else method
    return (
        f"{values[method]} is the correlation of the {name} with left-out ratings ({others}). "
        f"{_why_model(evidence, method)}"
    )


def _why_model(evidence: Evidence, method: str) -> str:
    """Why the one-factor model is used or not, with the number that decides."""
    if evidence.misfit is None:
        return (
            f"The one-factor model cannot be tested with fewer than {MIN_ANNOTATORS} annotators, "
            "so intervals allow for shared errors."
        )
    if not evidence.is_independent:
        return (
            "Residuals of the one-factor model deviate from independent normal errors by "
            f"{evidence.misfit:,.1f} standard errors (limit {MAX_MISFIT:g}), so it is not used and "
            "intervals allow for shared errors."
        )
    is_used = method == FACTOR
    end = (
        f"so it replaces the {evidence.baseline}"
        if is_used
        else "but it does not predict the ratings better"
    )
    misfit = f"misfit {evidence.misfit:.1f}, limit {MAX_MISFIT:g}"
    return f"The model's residuals look independent ({misfit}), {end}."
