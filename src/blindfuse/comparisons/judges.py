"""``RatedJudges``: slope, position bias and tie rate of each judge, with intervals and flags."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from blindfuse.comparisons.model import POSITION, SLOPE, TIE, Fit, judge_step
from blindfuse.comparisons.table import Comparisons
from blindfuse.comparisons.uncertainty import Z
from blindfuse.errors import capitalize, list_names
from blindfuse.result import Columns, counts, optional_texts, sorted_columns
from blindfuse.typing import Array, Floats

FLAGS = {
    "always left": "nearly always prefers the left item",
    "always right": "nearly always prefers the right item",
    "always tie": "nearly always says tie",
    "reversed": "prefers the weaker item",
    "random": "responds at random",
}
"""Reasons to check a judge."""


@dataclass(frozen=True, eq=False)
class RatedJudges:
    """Judges in the order of ``Comparisons.annotators``.

    Attributes
    ----------
    n_comparisons ``[judge]``
        number of comparisons.
    slope ``[(estimate, low, high), judge]``
        how much the judge's log odds grow per unit of strength, with its 95 % interval: 1 as the
        typical judge, 0 at random, negative if in reverse.
    position ``[(estimate, low, high), judge]``
        log odds of the left item where both are equally strong.
    tie_rate ``[(estimate, low, high), judge]``
        probability of a tie where both items are equally strong.
    flags ``[judge]``
        keys of ``FLAGS``; empty where there is no reason to check the judge.
    """

    names: Array
    n_comparisons: Floats
    slope: Floats
    position: Floats
    tie_rate: Floats
    flags: Array

    def summary(self) -> str:
        """The usual slopes, and the judges to check."""
        low, high = np.quantile(self.slope[0, self.n_comparisons > 0], [0.25, 0.75])
        text = f"Slopes of {low:.2f} to {high:.2f} for half of the judges (interquartile range)."
        for flag, meaning in FLAGS.items():
            named = self.names[self.flags == flag]
            text += f" {capitalize(meaning)}: {list_names(named)}." if len(named) else ""
        if np.any(self.flags == "reversed"):
            text += " If they are right and the others wrong, the ranking is the reverse."
        return text

    def columns(self) -> Columns:
        """One row per judge, the least reliable first."""
        columns: Columns = {"annotator": self.names, "comparisons": counts(self.n_comparisons)}
        for name in ("slope", "position", "tie_rate"):
            names = (name, f"{name}_low", f"{name}_high")
            columns |= dict(zip(names, getattr(self, name), strict=True))
        return sorted_columns(columns | {"flag": optional_texts(self.flags.tolist())}, by="slope")


def rate_judges(fitted: Fit, table: Comparisons) -> RatedJudges:
    """Return each judge's effects, given the strengths.

    They are shrunk by the learned spread; where it is zero, by a standard deviation of 1, so that
    intervals show what the judge's own comparisons say.
    """
    cells = table.cells
    variances = np.where(fitted.variances > 0, fitted.variances, 1.0)
    rated = replace(fitted, variances=variances * [1, table.has_sides, cells.has_ties])
    for _ in range(50):
        before, rated = rated, judge_step(rated, cells)
        if rated.is_close(before, tolerance=1e-6):
            break
    errors = Z * np.sqrt(np.einsum("kaa->ak", rated.covariances))
    effects = np.stack([rated.effects.T + shift for shift in (0.0, -errors, errors)], axis=1)
    slope, position = 1 + effects[SLOPE], effects[POSITION]
    tie_rate = expit(rated.tie - np.log(2) + effects[TIE])
    n_comparisons, flags = table.rows.per_judge, _flags(table, slope)
    return RatedJudges(table.annotators, n_comparisons, slope, position, tie_rate, flags)


def _flags(table: Comparisons, slope: Floats) -> Array:
    """Flag judges who say nearly always (95 % of 10 or more) the same, or whose slope is low."""
    sums = [table.rows.by_judge @ column for column in table.rows.counts.T]
    always = [column >= np.maximum(0.95 * np.sum(sums, axis=0), 10) for column in sums]
    _, low, high = slope
    conditions = {
        "always left": always[0] & table.has_sides,
        "always right": always[2] & table.has_sides,
        "always tie": always[1],
        "reversed": high < 0,
        "random": (low <= 0) & (high < 0.5),
    }
    return np.select(list(conditions.values()), list(conditions), "")
