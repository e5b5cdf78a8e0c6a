"""Bradley–Terry with Davidson's ties, and a slope, a position bias and a tie rate per judge.

Judge k compares the left item i with the right item j. With the strengths θ,

    η = a_k (θ_i − θ_j) + b_k,   P(left) ∝ e^{η/2},   P(tie) ∝ e^{τ + c_k},   P(right) ∝ e^{−η/2}.

Without judge effects (a_k = 1, b_k = c_k = 0) and ties, this is Bradley–Terry; ties are those of
Davidson (1970), "On extending the Bradley–Terry model to accommodate ties in paired comparison
experiments".

==========  =====================  ==============================================================
symbol      name                   shape
==========  =====================  ==============================================================
θ           ``strengths``          ``[item]``
τ           ``tie``                a number; −∞ if there are no ties
a − 1 b c   ``effects``            ``[judge, effect]``
θ, τ        "common"               U = items + 1 parameters, in this order
==========  =====================  ==============================================================
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from blindfuse.typing import Codes, Floats

SLOPE, POSITION, TIE = range(3)
"""The columns of ``effects``."""


class Cells(NamedTuple):
    """Grouped comparisons: ``counts[cell, outcome]`` of left wins, ties and right wins."""

    judge: Codes
    left: Codes
    right: Codes
    counts: Floats
    n_judges: int
    n_items: int

    @property
    def totals(self) -> Floats:
        """Comparisons per cell."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def per_judge(self) -> Floats:
        """Comparisons per judge."""
        return np.bincount(self.judge, self.totals, self.n_judges).astype(float)

    @property
    def has_ties(self) -> bool:
        """Whether there is a tie."""
        return bool(self.counts[:, 1].any())

    @property
    def is_dense(self) -> bool:
        """Whether curvatures are dense matrices. With more items, the steps are solved by
        conjugate gradients, which leave the coupling of items and judges to the iterations.
        """
        return self.n_items <= 3_000 and self.n_items * self.n_judges <= 30_000_000

    def with_one_judge(self) -> "Cells":
        """Return the same cells, as if one judge had compared all."""
        return self._replace(judge=np.zeros_like(self.judge), n_judges=1)

    def pooled(self) -> "Cells":
        """Return one cell per pair of items, as if one judge had compared all."""
        key, place = np.unique(self.left * self.n_items + self.right, return_inverse=True)
        sums = [np.bincount(place, one, len(key)) for one in self.counts.T]
        left, right = np.divmod(key, self.n_items)
        counts = np.asarray(np.stack(sums, axis=1), dtype=np.float64)
        return Cells(np.zeros_like(left), left, right, counts, 1, self.n_items)

    def differences(self, values: Floats) -> Floats:
        """Return the sums per item: of values where it is left, minus those where it is right."""
        sides = (np.bincount(side, values, self.n_items) for side in (self.left, self.right))
        return np.subtract(*sides)


@dataclass(frozen=True, eq=False)
class Parameters:
    """Strengths, log odds of ties, and effects of the judges."""

    strengths: Floats
    tie: float
    effects: Floats

    @classmethod
    def at_start(cls, cells: Cells) -> "Parameters":
        """Equal items, equal judges, and the share of ties of the table."""
        ties, total = cells.counts[:, 1].sum(), cells.counts.sum()
        tie = float(np.log(2 * ties / max(total - ties, 0.5))) if ties else -np.inf
        return cls(np.zeros(cells.n_items), tie, np.zeros((cells.n_judges, 3)))

    def with_effects(self, effects: Floats) -> "Parameters":
        """Return the same strengths with other judge effects."""
        return replace(self, effects=effects)

    def predictors(self, cells: Cells) -> tuple[Floats, Floats, Floats]:
        """Return θ_i − θ_j, η and τ + c of each cell."""
        difference = self.strengths[cells.left] - self.strengths[cells.right]
        effects = self.effects[cells.judge]
        eta = (1 + effects[:, SLOPE]) * difference + effects[:, POSITION]
        return difference, eta, self.tie + effects[:, TIE]

    def probabilities(self, cells: Cells) -> Floats:
        """Return P of a left win, a tie and a right win of each cell."""
        _, eta, tie = self.predictors(cells)
        return np.asarray(np.exp(log_probabilities(eta, tie)))


def log_probabilities(eta: Floats, tie: Floats) -> Floats:
    """Return log P of a left win, a tie and a right win, ``[..., outcome]``."""
    logits = np.stack(np.broadcast_arrays(eta / 2, tie, -eta / 2), axis=-1)
    logits -= logits.max(axis=-1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))


def scores(probabilities: Floats) -> Floats:
    """Return the derivatives of log P by η and τ, ``[cell, outcome, (η, τ)]``."""
    win, tie, loss = probabilities.T
    expected = (win - loss) / 2
    by_eta = np.stack([0.5 - expected, -expected, -0.5 - expected], axis=1)
    return np.stack([by_eta, np.stack([-tie, 1 - tie, -tie], axis=1)], axis=2)


def information(cells: Cells, probabilities: Floats) -> Floats:
    """Return the expected curvature of each cell, as (ηη, ητ, ττ) ``[cell, 3]``."""
    win, tie, loss = probabilities.T
    lead = win - loss
    single = [(win + loss - lead**2) / 4, -lead * tie / 2, tie * (1 - tie)]
    return np.stack(single, axis=1) * cells.totals[:, None]


class Blocks(NamedTuple):
    """A quadratic form in the parameters: ``common[U, U]``, ``mixed[judge, effect, U]`` and
    ``judge[judge, effect, effect]``; the latter two are None without judge effects.
    """

    common: Floats | csr_array
    mixed: Floats | None = None
    judge: Floats | None = None


def assemble(cells: Cells, at: Parameters, weights: Floats, active: Floats) -> Blocks:
    """Return Σ X W Xᵀ, where X are the derivatives of (η, τ) and W is ``weights[cell, 3]``.

    ``active[effect]`` is 0 for effects that judges do not have, and 1 for others.
    """
    difference, _, _ = at.predictors(cells)
    slope = 1 + at.effects[cells.judge, SLOPE]
    eta, cross, tie = weights.T
    common = common_block(cells, slope**2 * eta, slope * cross, float(tie.sum()))
    if not active.any():
        return Blocks(common)
    K, U = cells.n_judges, cells.n_items + 1
    ones, zeros = np.ones_like(eta), np.zeros_like(eta)
    by_eta = np.stack([difference, ones, zeros]) * active[:, None]
    by_tie = np.stack([zeros, zeros, ones]) * active[:, None]
    along, across = by_eta * eta + by_tie * cross, by_eta * cross + by_tie * tie
    judge, mixed = np.empty((K, 3, 3)), np.zeros((K, 3, U))
    at_left, at_right = cells.judge * U + cells.left, cells.judge * U + cells.right
    for a in range(3):
        for b in range(a, 3):
            value = along[a] * by_eta[b] + across[a] * by_tie[b]
            judge[:, a, b] = judge[:, b, a] = np.bincount(cells.judge, value, K)
        if active[a] and cells.is_dense:
            sides = (np.bincount(side, slope * along[a], K * U) for side in (at_left, at_right))
            mixed[:, a] = np.subtract(*sides).reshape(K, U)
            mixed[:, a, -1] = np.bincount(cells.judge, across[a], K)
    return Blocks(common, mixed if cells.is_dense else None, judge)


def common_block(cells: Cells, by_item: Floats, cross: Floats, by_tie: float) -> Floats | csr_array:
    """Return the block of strengths and τ: a Laplacian of the compared pairs, and one row.

    If the matrix is sparse, τ is treated as independent of the strengths.
    """
    I, U = cells.n_items, cells.n_items + 1
    if cells.is_dense:
        pairs = np.bincount(cells.left * U + cells.right, by_item, U * U).reshape(U, U)
        matrix = -(pairs + pairs.T)
        np.fill_diagonal(matrix, pairs.sum(axis=0) + pairs.sum(axis=1))
        matrix[I] = matrix[:, I] = np.append(cells.differences(cross), by_tie)
        return matrix
    rows = np.concatenate([cells.left, cells.right, cells.left, cells.right, [I]])
    columns = np.concatenate([cells.right, cells.left, cells.left, cells.right, [I]])
    values = np.concatenate([-by_item, -by_item, by_item, by_item, [by_tie]])
    return csr_array((values, (rows, columns)), shape=(U, U))
