"""`NumberFusion`: fused ratings, how they were fused, and how far to trust them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.errors import counted, list_names
from blindfuse.metrics import Interval
from blindfuse.numbers.agreement import intraclass_correlation
from blindfuse.numbers.annotators import RatedAnnotators
from blindfuse.numbers.copying import CopiedRatings
from blindfuse.numbers.rule import MethodChoice
from blindfuse.numbers.scales import Calibration, scale_notes
from blindfuse.numbers.table import Numbers, as_numbers
from blindfuse.result import (
    Columns,
    Paragraph,
    json_rows,
    optional_texts,
    sorted_columns,
    summarize,
)
from blindfuse.typing import Array, Floats

if TYPE_CHECKING:
    from blindfuse.numbers.fuse_numbers import FittedNumbers

MAX_AT_ENDS = 0.1
"""Share of ratings at the ends of the scale from which a note says that differences are cut off."""


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
        standard errors of the estimates; zero for gold items. Unless errors look independent, they
        are those of a further rating, because annotators may share errors that no rating shows.
    annotators
        :class:`~blindfuse.numbers.annotators.RatedAnnotators`: ``bias``, ``scale`` and ``noise``.
    choice
        the method, why it was chosen, and whether errors look independent.
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
    _ratios: Floats = field(repr=False)
    _fitted: "FittedNumbers" = field(repr=False)
    kind = "numbers"

    @property
    def items(self) -> Array:
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
        merged = self.copies.groups if self._fitted.copies else ()
        return (
            *self.numbers.notes,
            *scale_notes(self.numbers, self._ratios),
            *(
                f"Annotators {list_names(self.numbers.annotators[list(group)])} give nearly the "
                "same ratings; they count as one annotator"
                for group in merged
            ),
            *self._uncertainty_notes(),
        )

    def _uncertainty_notes(self) -> list[str]:
        values = self.numbers.values
        if len(values) == 1:
            return ["The uncertainty of a single rating cannot be estimated; its interval is empty"]
        if self.numbers.responses_per_item.max() < 2:
            return [
                "No item has two ratings, so the noise of annotators is unknown; intervals have "
                "the width of the spread of all ratings"
            ]
        low, high = values.min(), values.max()
        n_ends = np.count_nonzero((values == low) | (values == high))
        is_calibrated = self.calibration is not None and self.calibration.has_slope
        if (
            n_ends - 2 < MAX_AT_ENDS * len(values)
            or is_calibrated
            or not self.choice.is_independent
        ):
            return []
        return [
            f"{100 * n_ends / len(values):.0f} % of the ratings are {low:g} or {high:g}, the ends "
            "of the scale, beyond which it hides differences: fewer than 95 % of the intervals may "
            "contain the truth. Calibrate them with known values of some items, gold="
        ]

    def predict(self, numbers: Any) -> Floats:
        """Return the estimates ``[item]`` of new items by the same annotators.

        Each item is estimated on its own, by the same method; nothing is learned from new items.
        """
        return self._fitted.predict(as_numbers(numbers), self.calibration)

    def summary(self) -> str:
        """What was fused, by which method and why, and how far to trust it."""
        return summarize(self, self.numbers)

    @property
    def size(self) -> str:
        """What was fused, as a sentence."""
        numbers = self.numbers
        return (
            f"{counted(numbers.n_responses, 'rating')} by "
            f"{counted(numbers.n_annotators, 'annotator')} of {counted(numbers.n_items, 'item')}."
        )

    @cached_property
    def agreement(self) -> dict[str, Interval]:
        """Coefficients of agreement by name; empty if fewer than two items have two ratings."""
        if np.count_nonzero(self.numbers.responses_per_item > 1) < 2:
            return {}
        return {"Intraclass correlation ICC(1)": intraclass_correlation(self.numbers)}

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The agreement, the estimates, the annotators and what limits them, as text."""
        width = float(np.median(self.high - self.low)) / 2
        spread = float(self.values.std())
        estimates = (
            f"The 95 % intervals of {counted(self.numbers.n_items, 'estimate')} are ±{width:.3g} "
            f"(median), {self._interval_meaning()}; the estimates have a standard deviation of "
            f"{spread:.3g}."
        )
        paragraphs = [
            Paragraph("Estimates", estimates),
            Paragraph("Annotators", self.annotators.summary()),
            Paragraph("Dependence", self.copies.summary()),
        ]
        for icc in self.agreement.values():
            text = (
                f"Intraclass correlation {icc.value:.2f} ({icc.low:.2f} to {icc.high:.2f}): the "
                "share of the variance of single ratings that is between items."
            )
            paragraphs.insert(0, Paragraph("Agreement", text))
        if self.calibration is not None:
            text = (
                f"Estimates were multiplied by {self.calibration.slope:.3g} and their mean "
                f"moved from {self.calibration.centre:.4g} to {self.calibration.location:.4g}."
            )
            paragraphs.append(Paragraph("Gold values", text))
        return (*paragraphs, *(Paragraph("Note", f"{note}.") for note in self.notes))

    def item_columns(self) -> Columns:
        """One row per item: the estimate with its interval, and the spread of its ratings."""
        return {
            "item": self.items,
            "estimate": self.values,
            "low": self.low,
            "high": self.high,
            "ratings": self.numbers.responses_per_item,
            "spread": self.numbers.spreads(),
        }

    def annotator_columns(self) -> Columns:
        """One row per annotator, the least reliable first, by column."""
        rated = self.annotators
        columns = {
            "annotator": rated.names,
            "ratings": rated.n_ratings,
            "bias": rated.bias,
            "scale": rated.scale,
            "noise": rated.noise,
            "reliability": rated.reliability,
            "flag": optional_texts(rated.flags),
        }
        return sorted_columns(columns, by="reliability")

    def to_json(self) -> dict[str, Any]:
        """The whole result as one JSON object."""
        copies = self.copies
        return {
            "n_items": self.numbers.n_items,
            "n_annotators": self.numbers.n_annotators,
            "n_ratings": self.numbers.n_responses,
            "method": self.method,
            "why": self.why,
            "notes": list(self.notes),
            "correlated_errors": [
                {"annotators": copies.names[pair].tolist(), "correlation": round(float(value), 4)}
                for pair, value in zip(copies.pairs, copies.correlation, strict=True)
            ],
            "annotators": json_rows(self.annotator_columns()),
            "items": json_rows(self.item_columns()),
        }

    def _interval_meaning(self) -> str:
        if self.calibration is not None and self.calibration.has_slope:
            return "from the distance of the gold values"
        if self.choice.is_independent:
            return "if annotators err independently"
        return "as wide as for a further rating, because annotators may share errors"

    def __repr__(self) -> str:
        return f"NumberFusion of {self.numbers!r}, by {self.method}"
