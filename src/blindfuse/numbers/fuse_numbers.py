"""`fuse_numbers`: fuse ratings on a numeric scale, and say how and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.numbers.annotators import RatedAnnotators, rate_annotators
from blindfuse.numbers.calibration import Calibration, calibrate, gold_values
from blindfuse.numbers.canonical import CanonicalNumbers, canonicalize
from blindfuse.numbers.copying import CopiedRatings, find_copies, merge_groups
from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.held_out import NORMAL_MAD, sample_items
from blindfuse.numbers.registry import METHODS
from blindfuse.numbers.scales import scale_notes
from blindfuse.numbers.selection import MethodChoice, choose_method
from blindfuse.numbers.table import Numbers, as_numbers, check_numbers
from blindfuse.responses.coding import positions
from blindfuse.responses.gold import check_gold

Floats = NDArray[np.float64]

AUTO = "auto"
CONFIDENCE = 0.95
MIN_ROBUST_SHARE = 1e-9
"""Robust standard deviation below which values agree, relative to the usual one."""
MAX_PAIR_RATINGS = 2_000_000
"""Pairs of ratings of the same item up to which copies are merged before the ratings are fused."""


@dataclass(frozen=True, eq=False)
class NumberFusion:
    """One estimate per item with its interval, and bias, scale and noise of the annotators.

    Attributes
    ----------
    numbers
        the ratings that were fused.
    values, low, high ``[item]``
        estimates and their 95 % intervals, in the order of ``numbers.items``. Without gold values
        they are on the scale that the annotators share.
    standard_errors ``[item]``
        standard errors of the estimates; zero for gold items.
    annotators
        :class:`~blindfuse.numbers.annotators.RatedAnnotators`: ``bias``, ``scale`` and ``noise``.
    choice
        the method, and why it was chosen; ``method`` and ``why`` are its fields.
    calibration
        the line from estimates to gold values; None without gold values.
    """

    numbers: Numbers
    values: Floats
    low: Floats
    high: Floats
    standard_errors: Floats
    annotators: RatedAnnotators
    choice: MethodChoice = field(repr=False)
    calibration: Calibration | None = field(repr=False)
    _fitted: "FittedNumbers" = field(repr=False)

    @property
    def items(self) -> NDArray[Any]:
        """Names of the items ``[item]``."""
        return self.numbers.items

    @property
    def method(self) -> str:
        """The name of the method that was used."""
        return self.choice.method

    @property
    def why(self) -> str:
        """Why the method was used, in sentences."""
        return self.choice.why

    @cached_property
    def copies(self) -> CopiedRatings:
        """Pairs of annotators with correlated errors; computed when first used."""
        return self._fitted.copies_in_input_order()

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the ratings that limit what the estimates mean."""
        merged = [
            f"Annotators {list_names(self.numbers.annotators[list(group)])} give nearly the same "
            "ratings; they count as one annotator"
            for group in self._fitted.groups_in_input_order()
        ]
        notes = *self.numbers.notes, *scale_notes(self.numbers)
        found = [*notes, *merged, self._uncertainty_note()]
        return tuple(note for note in found if note)

    def _uncertainty_note(self) -> str | None:
        if self.numbers.n_ratings == 1:
            return "the uncertainty of a single rating cannot be estimated; its interval is empty"
        if self.numbers.ratings_per_item.max() > 1:
            return None
        return (
            "no item has two ratings, so the noise of annotators is unknown; intervals have the "
            "width of the spread of all ratings"
        )

    def predict(self, numbers: Any) -> Floats:
        """Return the estimates ``[item]`` of new items by the same annotators.

        Each item is estimated on its own, by the same method; nothing is learned from new items.
        """
        return self._fitted.predict(as_numbers(numbers), self.calibration)

    def summary(self) -> str:
        """What was fused, by which method and why, and how far to trust it."""
        return "\n".join(
            [
                repr(self.numbers),
                f"Method: {self.method}. {self.why}",
                *(f"{heading}: {text}" for heading, text in self.paragraphs()),
            ]
        )

    def paragraphs(self) -> list[tuple[str, str]]:
        """Headings and texts about the estimates, the annotators and what limits them."""
        width = float(np.median(self.high - self.low)) / 2
        spread = float(self.values.std())
        estimates = (
            f"The 95 % intervals of {self.numbers.n_items:,} estimates are ±{width:.3g} (median), "
            f"if the model holds; the estimates have a standard deviation of {spread:.3g}."
        )
        paragraphs = [
            ("Estimates", estimates),
            ("Annotators", self.annotators.summary()),
            ("Dependence", self.copies.summary()),
        ]
        if self.calibration is not None:
            paragraphs.append(
                (
                    "Gold values",
                    f"Estimates were multiplied by {self.calibration.slope:.3g} and their mean "
                    f"moved from {self.calibration.centre:.4g} to {self.calibration.location:.4g}.",
                )
            )
        return [*paragraphs, *(("Note", f"{note}.") for note in self.notes)]

    def __repr__(self) -> str:
        return f"NumberFusion of {self.numbers!r}, by {self.method}"


@dataclass(frozen=True, eq=False)
class FittedNumbers:
    """A method fitted to ratings in canonical order and standardised: (x − origin) / unit."""

    canonical: CanonicalNumbers
    estimate: Estimate
    origin: float
    unit: float
    groups: tuple[tuple[int, ...], ...]
    copies: CopiedRatings | None

    def groups_in_input_order(self) -> list[list[int]]:
        """Positions of merged annotators in the user's table."""
        place = self.canonical.annotators
        return sorted(sorted(place[list(group)].tolist()) for group in self.groups)

    def copies_in_input_order(self) -> CopiedRatings:
        """Correlated pairs, with positions in the user's table."""
        table = self.canonical.numbers
        copies = self.copies or find_copies(table)
        names = np.empty_like(copies.names)
        names[self.canonical.annotators] = copies.names
        pairs = np.sort(self.canonical.annotators[copies.pairs], axis=1)
        return replace(copies, names=names, pairs=pairs)

    def predict(self, new: Numbers, calibration: Calibration | None) -> Floats:
        """Estimates of new items by the same annotators, on the user's scale."""
        names = self.canonical.numbers.annotators
        places = positions(new.annotators, names)
        unknown = (places < 0) & (new.ratings_per_annotator > 0)
        if unknown.any():
            raise BadLabels(
                f"Unknown annotators {list_names(new.annotators[unknown])}: the ratings were by "
                f"{list_names(names)}. Fuse all ratings again, or leave these out."
            )
        scaled = (new.values - self.origin) / self.unit
        table = Numbers(new.items, names, new.starts, places[new.codes].astype(np.int32), scaled)
        if self.groups:
            table = merge_groups(table, self.groups)
        values = self.origin + self.unit * self.estimate.predict(table)
        return values if calibration is None else calibration.apply(values)


def fuse_numbers(
    items: Any,
    annotators: Any = None,
    values: Any = None,
    *,
    method: str = AUTO,
    gold: Mapping[Any, Any] | None = None,
) -> NumberFusion:
    """Fuse ratings into one estimate per item, and rate the annotators.

    Annotator m rates item i by x_im = b_m + a_m z_i + e_im. Without the truth, bias, scale and
    noise follow from how annotators agree. The method is the simplest that predicts held-out
    ratings as well as any: often the mean, and a model of annotators where they differ. The result
    depends neither on the order of the ratings nor on names.

    Parameters
    ----------
    items, annotators, values
        three columns with one row per rating; or, as the first argument alone, a frame with the
        columns ``item``, ``annotator`` and ``value``, a matrix ``[item, annotator]`` with NaN for
        missing ratings, or :class:`Numbers`.
    method
        ``"auto"``, or the name of a method in ``blindfuse.numbers.registry.METHODS``.
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
    if method != AUTO and method not in METHODS:
        raise BadParameter(
            f"method={method!r} must be {AUTO!r} or one of {list_names(METHODS, len(METHODS))}."
        )
    check_gold(gold, "gold values")
    gold_at, known = gold_values(table, gold or {})
    with single_threaded_blas():
        fitted, choice = _fit(table, method)
        estimates, variances = _in_input_order(fitted)
        rated = rate_annotators(table, fitted)
        calibration = None
        if len(known):
            calibration = calibrate(estimates[gold_at], variances[gold_at], known)
            variances = calibration.variances(estimates, variances)
            estimates = calibration.apply(estimates)
            estimates[gold_at], variances[gold_at] = known, 0.0
    errors = np.sqrt(variances)
    half = float(ndtri((1 + CONFIDENCE) / 2)) * errors
    return NumberFusion(
        *(table, estimates, estimates - half, estimates + half, errors),
        *(rated, choice, calibration, fitted),
    )


def _fit(table: Numbers, method: str) -> tuple[FittedNumbers, MethodChoice]:
    """Standardise the ratings in canonical order, merge copies, choose a method and apply it."""
    canonical = canonicalize(table)
    sample = sample_items(canonical)
    origin, unit = _location_and_spread(sample.values)
    working = _standardized(canonical.numbers, origin, unit)
    sampled = working if sample is canonical.numbers else _standardized(sample, origin, unit)
    canonical = replace(canonical, numbers=working, sample=sampled)
    copies, groups = _find_groups(working)
    merged = canonical
    if groups:
        merged = replace(canonical, numbers=merge_groups(working, groups), sample=None)
    choice = choose_method(merged) if method == AUTO else MethodChoice(method, "You named it.")
    estimate = METHODS[choice.method](merged.numbers)
    return FittedNumbers(canonical, estimate, origin, unit, groups, copies), choice


def _standardized(table: Numbers, origin: float, unit: float) -> Numbers:
    return table.with_values((table.values - origin) / unit)


def _location_and_spread(values: Floats) -> tuple[float, float]:
    """The median and the robust standard deviation; the usual one if half of the values agree."""
    origin = float(np.median(values))
    deviations = np.abs(values - origin)
    usual = float(np.sqrt((deviations**2).mean()))
    robust = NORMAL_MAD * float(np.median(deviations))
    return origin, (robust if robust > MIN_ROBUST_SHARE * usual else usual) or 1.0


def _find_groups(table: Numbers) -> tuple[CopiedRatings | None, tuple[tuple[int, ...], ...]]:
    """Copies and their groups, where testing them takes no longer than the fusion itself."""
    n_pairs = int((table.ratings_per_item.astype(np.int64) ** 2).sum())
    if n_pairs > MAX_PAIR_RATINGS or table.n_items < 2:
        return None, ()
    copies = find_copies(table)
    return copies, copies.groups


def _in_input_order(fitted: FittedNumbers) -> tuple[Floats, Floats]:
    """Estimates and variances of the items, on the user's scale and in the user's order."""
    estimates, variances = (np.empty(fitted.canonical.numbers.n_items) for _ in range(2))
    estimates[fitted.canonical.items] = fitted.origin + fitted.unit * fitted.estimate.values
    variances[fitted.canonical.items] = fitted.unit**2 * fitted.estimate.variances
    return estimates, variances
