"""The rule: plain Bradley–Terry, or judge effects where they predict held-out comparisons better.

Judge effects are used if they lower the mean loss of held-out comparisons by more than
``SIGNIFICANT_Z`` standard errors.
"""

from dataclasses import dataclass

import numpy as np

from blindfuse.comparisons.fitting import Fit, SlopeErrors, fit
from blindfuse.comparisons.likelihood import Cells
from blindfuse.comparisons.spreads import fit_with_spreads
from blindfuse.typing import Floats

SIGNIFICANT_Z, FOLDS = 2.0, 5
"""Standard errors by which judge effects must predict better, and folds of the comparisons."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Both models, and how well they predict held-out comparisons.

    Attributes
    ----------
    plain, judges
        the fits with learned spreads; ``judges`` is None if judges do not differ.
    plain_loss, judge_loss
        mean −log P of held-out comparisons, in nats.
    error
        standard error of the difference.
    """

    plain: Fit
    judges: Fit | None
    plain_loss: float
    n_judges: int
    judge_loss: float = np.nan
    error: float = np.nan

    @property
    def uses_judges(self) -> bool:
        """Whether judge effects predict held-out comparisons better, beyond chance."""
        return self.plain_loss - self.judge_loss > SIGNIFICANT_Z * self.error

    @property
    def chosen(self) -> Fit:
        """The fit that is used."""
        return self.judges if self.uses_judges and self.judges is not None else self.plain

    @property
    def method(self) -> str:
        """The name of the model that is used."""
        return "Bradley–Terry with judge effects" if self.uses_judges else "Bradley–Terry"

    @property
    def why(self) -> str:
        """Why the model is used, in a sentence."""
        if self.n_judges < 2:
            return "There is one judge, so there is nothing to weight."
        if self.judges is None:
            return "Judges do not differ beyond chance, so all count alike."
        text = (
            f"The mean loss of held-out comparisons is {self.judge_loss:.4f} with judge effects "
            f"and {self.plain_loss:.4f} without (standard error of the difference "
            f"{self.error:.4f})"
        )
        if self.uses_judges:
            return f"{text}, so reliable judges count more."
        return f"{text}, which is not better beyond chance, so all judges count alike."


def gather_evidence(cells: Cells, has_sides: bool = True) -> Evidence:
    """Fit both models and compare how they predict held-out comparisons."""
    n_judges, none = int(np.count_nonzero(cells.per_judge)), np.zeros(3, dtype=bool)
    plain = fit_with_spreads(cells.pooled(), none)
    judges = fit_with_spreads(cells, np.array([True, has_sides, cells.has_ties]), plain)
    total, held_out = cells.counts.sum(), fold_counts(cells, plain.parameters.strengths)
    plain_losses = held_out_losses(plain, cells.with_one_judge(), held_out)
    plain_loss = float((held_out * plain_losses).sum() / total)
    if not judges.active.any():
        return Evidence(plain, None, plain_loss, n_judges)
    gains = plain_losses - held_out_losses(judges, cells, held_out)
    mean = float((held_out * gains).sum() / total)
    error = float(np.sqrt((held_out * (gains - mean) ** 2).sum()) / total)
    return Evidence(plain, judges, plain_loss, n_judges, plain_loss - mean, error)


def fold_counts(cells: Cells, strengths: Floats) -> Floats:
    """Divide the comparisons into folds, ``[fold, cell, outcome]``, by their content only.

    Equal comparisons are spread evenly over the folds. Others are dealt out in the order of their
    judge, and of the strengths of their items; neither names nor the order of rows matter.
    """
    left, right = strengths[cells.left], strengths[cells.right]
    content = cells.counts @ [1.0, 2.0, 4.0] * (1 + np.cos(left + 2 * right))
    judges = np.bincount(cells.judge, content, cells.n_judges).round(6)[cells.judge]
    order = np.lexsort([right.round(9), left.round(9), judges])
    counts = cells.counts[order]
    each = np.floor(counts / FOLDS)
    rest = counts - FOLDS * each
    first = np.cumsum(np.ceil(rest)).reshape(rest.shape) - np.ceil(rest)
    folds = np.empty((FOLDS, *counts.shape))
    for fold in range(FOLDS):
        folds[fold, order] = each + np.clip(rest - (fold - first) % FOLDS, 0, 1)
    return folds


def held_out_losses(fitted: Fit, cells: Cells, held_out: Floats) -> Floats:
    """Return −log P ``[fold, cell, outcome]``, predicted from the other folds.

    Spreads are those of all comparisons, and so is the start.
    """
    losses = np.zeros_like(held_out)
    for fold, counts in enumerate(held_out):
        kept = cells._replace(counts=np.maximum(cells.counts - counts, 0))
        errors, start = SlopeErrors.of(fitted, kept), fitted.parameters
        again = fit(kept, fitted.ridge, fitted.variances, start, errors, max_steps=10)
        with np.errstate(divide="ignore"):
            losses[fold] = -np.log(again.parameters.probabilities(cells))
    return np.where(held_out > 0, losses, 0.0)
