"""The rule: plain Bradley–Terry, or judge effects where they predict held-out comparisons better.

Judge effects are used if they lower the mean loss of held-out comparisons by more than
``SIGNIFICANT_Z`` standard errors.
"""

from dataclasses import dataclass, replace

import numpy as np

from blindfuse.comparisons.model import Cells, Fit, fit
from blindfuse.typing import Floats

SIGNIFICANT_Z, FOLDS = 1.5, 5
"""Standard errors by which judge effects must predict better, and folds of the comparisons. Of 200
simulated tables each, 7 to 16 % use judge effects if judges are equal, and at least 96 % if 3 of 9
are random."""


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
            return "Only one judge, or none, is named, so all comparisons count alike."
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
    pooled, n_judges = cells.pooled(), int(np.count_nonzero(cells.per_judge))
    plain = fit(pooled, Fit.at_start(pooled, 1.0, np.zeros(3)), learns=True)
    plain = plain.with_judges(cells.n_judges)
    total, held_out = cells.counts.sum(), fold_counts(cells, plain)
    plain_losses = held_out_losses(plain, cells, held_out)
    plain_loss = float((held_out * plain_losses).sum() / total)
    variances = np.array([0.25, 0.1 * has_sides, 0.25 * cells.has_ties]) * (n_judges > 1)
    judges = fit(cells, replace(plain, variances=variances), learns=True)
    if not judges.has_effects:
        return Evidence(plain, None, plain_loss, n_judges)
    gains = plain_losses - held_out_losses(judges, cells, held_out)
    mean = float((held_out * gains).sum() / total)
    error = float(np.sqrt((held_out * (gains - mean) ** 2).sum()) / total)
    return Evidence(plain, judges, plain_loss, n_judges, plain_loss - mean, error)


def fold_counts(cells: Cells, plain: Fit) -> Floats:
    """Divide the comparisons into folds, ``[fold, cell, outcome]``, by their content only.

    Comparisons are dealt out in the order of the likelihood of their judge and of the strengths of
    their items, so that neither names nor sides nor the order of rows matter.
    """
    logs = np.where(cells.counts > 0, plain.log_probabilities(cells).T, 0.0)
    of_judge = cells.by_judge @ (cells.counts * logs).sum(axis=1)
    sides = plain.strengths[np.stack([cells.left, cells.right])].round(6)
    keys = of_judge[cells.judge].round(6), cells.judge, sides.max(axis=0), sides.min(axis=0)
    order = np.lexsort(keys[::-1])
    is_new = np.any([np.diff(key[order], prepend=np.inf) != 0 for key in keys], axis=0)
    pair = np.empty(len(order), dtype=np.intp)
    pair[order] = np.cumsum(is_new) - 1
    is_weaker_left = sides[0] < sides[1]
    counts = np.where(is_weaker_left[:, None], cells.counts[:, ::-1], cells.counts)
    totals = np.stack([np.bincount(pair, column) for column in counts.T], axis=1)
    edges = np.concatenate([[0.0], totals.cumsum()])
    folds = np.empty((FOLDS, *cells.counts.shape))
    for fold in range(FOLDS):
        dealt = np.diff(edges // FOLDS + np.clip(edges % FOLDS - fold, 0, 1)).reshape(totals.shape)
        share = (dealt / np.maximum(totals, 1e-300))[pair]
        folds[fold] = cells.counts * np.where(is_weaker_left[:, None], share[:, ::-1], share)
    return folds


def held_out_losses(fitted: Fit, cells: Cells, held_out: Floats) -> Floats:
    """Return −log P ``[fold, cell, outcome]``, predicted from the other folds.

    Spreads are those of all comparisons, and so is the start.
    """
    losses = np.zeros_like(held_out)
    for fold, counts in enumerate(held_out):
        kept = replace(cells, counts=np.maximum(cells.counts - counts, 0))
        kept = kept if fitted.has_effects else kept.pooled()
        losses[fold] = -fit(kept, fitted, max_steps=10).log_probabilities(cells).T
    return np.where(held_out > 0, losses, 0.0)
