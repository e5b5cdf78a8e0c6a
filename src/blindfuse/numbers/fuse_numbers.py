"""`fuse_numbers`: fuse ratings on a numeric scale, and say how and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.numbers.annotators import rate_annotators
from blindfuse.numbers.canonical import CanonicalNumbers, canonicalize
from blindfuse.numbers.copying import CopiedRatings, find_copies, merge_groups
from blindfuse.numbers.estimate import (
    INTERVAL_Z,
    Estimate,
    local_noise,
    mean,
    median,
    one_factor,
)
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.numbers.rule import (
    FACTOR,
    MEAN,
    MEDIAN,
    STANDARDIZED,
    MethodChoice,
    choose_method,
    gather_evidence,
)
from blindfuse.numbers.scales import (
    MIN_FOR_SLOPE,
    Calibration,
    Standardizer,
    calibrate,
    gold_values,
)
from blindfuse.numbers.table import Numbers, check_numbers
from blindfuse.responses.coding import positions
from blindfuse.typing import Floats

METHODS: dict[str, Callable[[Numbers], Estimate]] = {
    MEAN: mean,
    MEDIAN: median,
    STANDARDIZED: mean,  # of standardised ratings
    FACTOR: one_factor,
}


@dataclass(frozen=True, eq=False)
class FittedNumbers:
    """A method fitted to ratings in canonical order, in units of (x − origin) / unit.

    Copies are merged first, then ratings are standardised (``standardizer``). ``copies`` are those
    of the canonical ratings; None if there are too many pairs to test at once.
    """

    canonical: CanonicalNumbers
    origin: float
    unit: float
    copies: CopiedRatings | None
    standardizer: Standardizer | None
    estimate: Estimate

    def copies_in_input_order(self) -> CopiedRatings:
        """Correlated pairs, with positions in the user's table."""
        copies = self.copies or find_copies(self.canonical.numbers)
        return copies.at(self.canonical.annotators)

    def predict(self, new: Numbers, calibration: Calibration | None) -> Floats:
        """Estimates of new items by the same annotators, on the user's scale."""
        names = self.canonical.numbers.annotators
        places = positions(new.annotators, names)
        unknown = (places < 0) & (new.responses_per_annotator > 0)
        if unknown.any():
            raise BadLabels(
                f"Unknown annotators {list_names(new.annotators[unknown])}: the ratings were by "
                f"{list_names(names)}. Fuse all ratings again, or leave these out."
            )
        table = new.rearranged(new.items, np.arange(new.n_items), names, places)
        scaled = merge_groups(_scaled(table, self.origin, self.unit), self.copies)
        working = scaled if self.standardizer is None else self.standardizer.apply(scaled)
        values = self.origin + self.unit * self.estimate.predict(working)
        return values if calibration is None else calibration.apply(values)


def fuse_numbers(
    items: Any,
    annotators: Any = None,
    values: Any = None,
    *,
    method: str = "auto",
    gold: Mapping[Any, Any] | None = None,
) -> NumberFusion:
    """Fuse ratings into one estimate per item, and rate the annotators.

    Annotator m rates item i by x_im = b_m + a_m z_i + e_im. Without the truth, bias, scale and
    noise follow from how annotators agree. The baseline is the mean; the median or the mean of
    standardised ratings if that agrees better with left-out ratings. The model replaces it where
    its residuals look independent and it predicts left-out ratings better; elsewhere intervals are
    as wide as for a further rating. The result depends neither on the order of the ratings nor on
    names.

    Parameters
    ----------
    items, annotators, values
        three columns with one row per rating; or, as the first argument alone, a frame with the
        columns ``item``, ``annotator`` and ``value``, a matrix ``[item, annotator]`` with NaN for
        missing ratings, or :class:`Numbers`.
    method
        ``"auto"``, ``"mean"``, ``"median"``, ``"standardized mean"`` or ``"one factor"``.
    gold
        known values of some items, ``{item: value}``. They calibrate the scale of the estimates,
        and are held fixed.

    Examples
    --------
    >>> from blindfuse import fuse_numbers
    >>> fuse_numbers([[1, 2, 1], [4, 5, 4], [2, 3, 2]]).values.round(2).tolist()
    [1.33, 4.33, 2.33]
    """
    table = check_numbers(items, annotators, values)
    if method != "auto" and method not in METHODS:
        raise BadParameter(
            f"method={method!r} must be 'auto' or one of {list_names(METHODS, len(METHODS))}."
        )
    gold_at, known = gold_values(table, gold)
    with single_threaded_blas():
        canonical = canonicalize(table)
        fitted, choice, further, ratios = _fit(canonical, method)
        estimate, back = fitted.estimate, np.argsort(canonical.items)
        estimates = fitted.origin + fitted.unit * estimate.values[back]
        variances = fitted.unit**2 * estimate.variances[back]
        if not choice.is_independent and len(known) < MIN_FOR_SLOPE:
            variances += fitted.unit**2 * further[back]
        scaled = fitted.canonical.numbers
        rated = rate_annotators(table, scaled, estimate, fitted.unit, canonical.annotators)
        calibration = None
        if len(known):
            calibration = calibrate(estimates[gold_at], variances[gold_at], known)
            variances = calibration.variances(estimates, variances)
            estimates = calibration.apply(estimates)
            estimates[gold_at], variances[gold_at] = known, 0.0
    errors = np.sqrt(variances)
    half = INTERVAL_Z * errors
    return NumberFusion(
        *(table, estimates, estimates - half, estimates + half, errors, rated, choice),
        *(calibration, ratios[np.argsort(canonical.annotators)], fitted),
    )


def _fit(raw: CanonicalNumbers, method: str) -> tuple[FittedNumbers, MethodChoice, Floats, Floats]:
    """Scale the ratings, merge copies, choose a method and apply it.

    Also returns the variance of a further rating of each item, and the ``ratios`` of the evidence.
    """
    origin, unit = _location_and_spread(raw.sample().values)
    canonical = replace(raw, numbers=_scaled(raw.numbers, origin, unit))
    # Testing all pairs of annotators must take no longer than the fusion itself.
    n_pairs = int((raw.numbers.responses_per_item.astype(np.int64) ** 2).sum())
    is_tested = n_pairs <= 2_000_000 and raw.numbers.n_items > 1
    copies = find_copies(canonical.numbers) if is_tested else None
    merged = merge_groups(canonical.numbers, copies)
    evidence = gather_evidence(merged, replace(canonical, numbers=merged).sample(), origin / unit)
    choice, factor, standardizer = choose_method(evidence), evidence.fitted, evidence.repair
    if method != "auto":
        choice = choice._replace(method=method, why="You named it.")
        factor, standardizer = None, None
    if choice.method == STANDARDIZED:
        standardizer = Standardizer.of(merged)
    working = merged if standardizer is None else standardizer.apply(merged)
    is_fitted = choice.method == FACTOR and factor is not None
    estimate = one_factor(working, factor) if is_fitted else METHODS[choice.method](working)
    fitted = FittedNumbers(canonical, origin, unit, copies, standardizer, estimate)
    return fitted, choice, local_noise(working, estimate.values), evidence.ratios


def _scaled(table: Numbers, origin: float, unit: float) -> Numbers:
    return table.with_values((table.values - origin) / unit)


def _location_and_spread(values: Floats) -> tuple[float, float]:
    """The median, and the median absolute deviation, or the largest one if most ratings agree.

    They keep numbers near 1 in the computation, and change the result by rounding only.
    """
    origin = float(np.median(values))
    deviations = np.abs(values - origin)
    typical, largest = float(np.median(deviations)), float(deviations.max())
    return origin, (typical if typical > 1e-6 * largest else largest) or 1.0
