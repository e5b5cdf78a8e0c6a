"""Bradley–Terry with Davidson's ties, and a slope, a position bias and a tie rate per judge.

Judge k compares the left item i with the right item j. With the strengths θ,

    η = a_k (θ_i − θ_j) + b_k,   P(left) ∝ e^{η/2},   P(tie) ∝ e^{τ + c_k},   P(right) ∝ e^{−η/2}.

Without judge effects (a_k = 1, b_k = c_k = 0) and ties, this is Bradley–Terry; ties are those of
Davidson (1970), "On extending the Bradley–Terry model to accommodate ties in paired comparison
experiments". Strengths are normal with the variance 1 / ridge, effects with ``variances``.

==========  =====================  ==============================================================
symbol      name                   shape
==========  =====================  ==============================================================
θ           ``strengths``          ``[item]``
τ           ``tie``                a number; −∞ if there are no ties
a − 1 b c   ``effects``            ``[judge, effect]``
==========  =====================  ==============================================================
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from blindfuse.kernels.tables import factorize_integers
from blindfuse.typing import Codes, Floats

SLOPE, POSITION, TIE = range(3)
"""The columns of ``effects``."""
SMALL_RIDGE = 1e-4
"""Ridge of the reported strengths: it keeps them finite, and moves the strength of an item with 40
comparisons by some 0.001 %."""
MAX_DENSE = 1_500
"""Number of items up to which equations are solved by dense matrices."""
MAX_VARIANCES = np.array([0.25, 25.0, 25.0])
"""With this variance of the slopes, one that is negative is two standard deviations from the
typical one, so that only evidence makes a judge an adversary."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Comparisons in codes; equal ones are one cell, with their number.

    Attributes
    ----------
    judge, left, right, prompt ``[cell]``
        positions of the judge, of the items and, if it is known, of what they were compared on.
    counts ``[cell, outcome]``
        comparisons that the left item won, ties, and comparisons that the right item won, each
        with its weight.
    """

    judge: Codes
    left: Codes
    right: Codes
    counts: Floats
    n_judges: int
    n_items: int
    prompt: Codes | None = None

    @classmethod
    def grouped(
        cls, columns: Mapping[str, Codes], outcomes: Iterable[Floats], n_judges: int, n_items: int
    ) -> "Cells":
        """Group rows with the same codes in all columns; each outcome has its counts ``[row]``."""
        cell, firsts = np.zeros_like(columns["left"], dtype=np.int64), np.zeros(0, dtype=np.intp)
        for codes in columns.values():
            cell, firsts = factorize_integers(cell * (codes.max(initial=0) + 1) + codes)
        sums = [np.bincount(cell, outcome, len(firsts)) for outcome in outcomes]
        codes_of = {name: codes[firsts] for name, codes in columns.items()}
        totals = np.stack(sums, axis=1).astype(np.float64)
        return cls(**codes_of, counts=totals, n_judges=n_judges, n_items=n_items)

    @cached_property
    def by_judge(self) -> csr_array:
        """The matrix that sums values of cells over the cells of each judge."""
        n = len(self.judge)
        entries = np.ones(n), (self.judge, np.arange(n))
        return csr_array(entries, shape=(self.n_judges, n))

    @cached_property
    def per_judge(self) -> Floats:
        """Comparisons per judge."""
        return np.asarray(self.by_judge @ self.counts.sum(axis=1))

    @cached_property
    def has_ties(self) -> bool:
        """Whether there is a tie."""
        return bool(self.counts[:, 1].any())

    @property
    def columns(self) -> dict[str, Codes]:
        """The codes without those of prompts."""
        return {"judge": self.judge, "left": self.left, "right": self.right}

    def pooled(self) -> "Cells":
        """Return one cell per pair of items, as if one judge had compared all."""
        columns = self.columns | {"judge": np.zeros_like(self.judge)}
        return self.grouped(columns, self.counts.T, 1, self.n_items)

    def differences(self, values: Floats) -> Floats:
        """Return the sums per item: of values where it is left, minus those where it is right."""
        sides = (np.bincount(side, values, self.n_items) for side in (self.left, self.right))
        return np.subtract(*sides)

    def laplacian(self, weights: Floats, ridge: float) -> Floats | csr_array:
        """Return Σ w (e_i − e_j)(e_i − e_j)ᵀ over cells, plus the ridge; sparse for many items."""
        I = self.n_items
        diagonal = np.bincount(self.left, weights, I) + np.bincount(self.right, weights, I) + ridge
        if I <= MAX_DENSE:
            pairs = np.bincount(self.left * I + self.right, weights, I * I).reshape(I, I)
            return np.asarray(np.diag(diagonal) - pairs - pairs.T)
        rows = np.concatenate([self.left, self.right, np.arange(I)])
        columns = np.concatenate([self.right, self.left, np.arange(I)])
        values = np.concatenate([-weights, -weights, diagonal])
        return csr_array((values, (rows, columns)), shape=(I, I))


class Derivatives(NamedTuple):
    """θ_i − θ_j of each cell, the derivatives of its log-likelihood by η and τ, and its expected
    information."""

    difference: Floats
    by_eta: Floats
    by_tie: Floats
    eta_eta: Floats
    eta_tie: Floats
    tie_tie: Floats


@dataclass(frozen=True, eq=False)
class Fit:
    """Strengths, ties and judge effects, given their spreads.

    Attributes
    ----------
    ridge, variances ``[effect]``
        of the strengths and the effects; the variance of effects that judges do not have is 0.
    covariances ``[judge, effect, effect]``
        of the effects, given the strengths.
    spread ``[item, item]``
        covariances of the strengths, given the effects; of many items their variances ``[item]``.
    """

    strengths: Floats
    tie: float
    effects: Floats
    ridge: float
    variances: Floats
    covariances: Floats
    spread: Floats

    @classmethod
    def at_start(cls, cells: Cells, ridge: float, variances: Floats) -> "Fit":
        """Equal items, equal judges, and the share of ties of the table."""
        ties, K = float(cells.counts[:, 1].sum()), cells.n_judges
        others = max(float(cells.counts.sum()) - ties, 0.5)
        tie = float(np.log(2 * ties / others)) if ties else -np.inf
        I, none = np.zeros(cells.n_items), np.empty(0)
        start = cls(I, tie, np.zeros((K, 3)), ridge, variances, none, I)
        return start.with_judges(K)

    @property
    def has_effects(self) -> bool:
        """Whether judges may differ."""
        return bool(self.variances.any())

    def with_judges(self, n_judges: int) -> "Fit":
        """Return the same strengths, with this number of equal judges."""
        zeros = np.zeros((n_judges, 3, 3))
        return replace(self, effects=zeros[0, :1] + zeros[:, 0], covariances=zeros)

    def is_close(self, other: "Fit", tolerance: float) -> bool:
        """Whether strengths and effects are equal to the tolerance, and spreads to 1 %."""
        pairs = ((self.strengths, other.strengths), (self.effects, other.effects))
        change = max(float(np.abs(new - old).max()) for new, old in pairs)
        own, others = (np.append(each.variances, 1 / each.ridge) for each in (self, other))
        return change < tolerance and np.allclose(own, others, rtol=0.01)

    def predictors(self, cells: Cells) -> tuple[Floats, Floats, Floats]:
        """Return θ_i − θ_j, η and τ + c of each cell."""
        difference = self.strengths[cells.left] - self.strengths[cells.right]
        effects = self.effects[cells.judge]
        eta = (1 + effects[:, SLOPE]) * difference + effects[:, POSITION]
        return difference, eta, self.tie + effects[:, TIE]

    def difference_variances(self, cells: Cells) -> Floats:
        """Return the variance of θ_i − θ_j of each cell."""
        i, j, V = cells.left, cells.right, self.spread
        if V.ndim == 1:
            return np.asarray(V[i] + V[j])
        return np.asarray(V[i, i] + V[j, j] - 2 * V[i, j])

    def judge(self, judges: Codes | None, cells: Cells) -> tuple[Floats, Floats]:
        """Return effects of judges and their covariances; of None, those of a further judge."""
        if judges is None:
            return _centre(self, cells)[None], np.diag(self.variances)[None]
        return self.effects[judges], self.covariances[judges]

    def log_probabilities(self, cells: Cells) -> Floats:
        """Return log P of a left win, a tie and a right win, ``[outcome, cell]``."""
        return log_probabilities(*self.predictors(cells)[1:])

    def derivatives(self, cells: Cells) -> Derivatives:
        """Return the derivatives of each cell."""
        difference, *predictors = self.predictors(cells)
        win, tie, loss = np.exp(log_probabilities(*predictors))
        lefts, ties, rights = cells.counts.T
        total, lead = lefts + ties + rights, win - loss
        by_eta, by_tie = (lefts - rights - total * lead) / 2, ties - total * tie
        information = ((win + loss - lead**2) / 4, -lead * tie / 2, tie * (1 - tie))
        return Derivatives(difference, by_eta, by_tie, *(total * value for value in information))

    def curvature(self, cells: Cells, information: Floats) -> Floats | csr_array:
        """Return the negative second derivatives by the strengths, on average over slopes."""
        slope = self.effects[cells.judge, SLOPE]
        squares = (1 + slope) ** 2 + self.covariances[cells.judge, SLOPE, SLOPE]
        return cells.laplacian(squares * information, self.ridge)


def log_probabilities(eta: Floats, tie: Floats) -> Floats:
    """Return log P of a left win, a tie and a right win, ``[outcome, ...]``."""
    half = np.abs(eta) / 2
    larger = half + np.log1p(np.exp(-2 * half) + np.exp(tie - half))
    return np.asarray(np.stack(np.broadcast_arrays(eta / 2, tie, -eta / 2)) - larger)


def expected_information(difference: Floats, effects: Floats, tie: float) -> Floats:
    """Return what one comparison by a judge with these effects tells about differences."""
    slope, position, more_ties = effects
    eta = (1 + slope) * difference + position
    win, _, loss = np.exp(log_probabilities(eta, np.full_like(eta, tie + more_ties)))
    return np.asarray((1 + slope) ** 2 * (win + loss - (win - loss) ** 2) / 4)


def solver(matrix: Floats | csr_array) -> Callable[[Floats], Floats]:
    """Return a function that solves equations with a positive definite matrix.

    Sparse equations are solved to 0.01 % by conjugate gradients, with all right-hand sides at once:
    Newton steps correct the rest.
    """
    if isinstance(matrix, np.ndarray):
        factor = cho_factor(matrix, lower=True)
        return lambda values: np.asarray(cho_solve(factor, values))
    scale = 1 / matrix.diagonal()[:, None]

    def solve(values: Floats) -> Floats:
        residual = values.reshape(len(values), -1)
        x, ahead = np.zeros_like(residual), scale * residual
        product = (residual * ahead).sum(axis=0)
        goal = 1e-8 * product
        for _ in range(1_000):
            moved = matrix @ ahead
            step = product / np.maximum((ahead * moved).sum(axis=0), 1e-300)
            x, residual = x + step * ahead, residual - step * moved
            scaled = scale * residual
            product, before = (residual * scaled).sum(axis=0), product
            if (product <= goal).all():
                break
            ahead = scaled + product / np.maximum(before, 1e-300) * ahead
        return x.reshape(values.shape)

    return solve


def fit(
    cells: Cells,
    start: Fit,
    learns: bool = False,
    has_fixed_judges: bool = False,
    tolerance: float = 1e-4,
    max_steps: int = 200,
) -> Fit:
    """Maximise the likelihood, penalised by the spreads, which are learned too if asked for.

    Newton steps of strengths and of effects alternate. Strengths are fitted on average over what is
    uncertain about slopes: otherwise they would grow with the number of judges.
    """
    at = start
    for _ in range(max_steps):
        before = at
        at = _strength_step(at, cells, learns, at.has_effects and not has_fixed_judges)
        if at.has_effects and not has_fixed_judges:
            at = judge_step(at, cells)
            at = _normalised(_learn_variances(at, cells) if learns else at, cells)
        if at.is_close(before, tolerance):
            break
    return at


def _strength_step(at: Fit, cells: Cells, learns: bool, has_spread: bool) -> Fit:
    """Take a Newton step of the strengths and of τ, of at most 1 each."""
    derivatives = at.derivatives(cells)
    slope = 1 + at.effects[cells.judge, SLOPE]
    uncertain = at.covariances[cells.judge, SLOPE, SLOPE] * derivatives.eta_eta
    uncertain *= derivatives.difference
    gradient = cells.differences(slope * derivatives.by_eta - uncertain) - at.ridge * at.strengths
    matrix = at.curvature(cells, derivatives.eta_eta)
    solve, tie = solver(matrix), at.tie
    if cells.has_ties:
        by_tie = derivatives.by_tie.sum() - SMALL_RIDGE * tie
        tie += float(np.clip(by_tie / (derivatives.tie_tie.sum() + SMALL_RIDGE), -1, 1))
    strengths = at.strengths + np.clip(solve(gradient), -1, 1)
    at = replace(at, strengths=strengths, tie=tie)
    if not (learns or has_spread):
        return at
    dense = isinstance(matrix, np.ndarray)
    spread = solve(np.eye(len(strengths))) if dense else 1 / matrix.diagonal()
    if not learns:
        return replace(at, spread=spread)
    variances = np.diag(spread) if dense else spread
    variance = _learned_variance(np.append(strengths, 1), np.append(variances, 0), 1 / at.ridge)
    return replace(at, spread=spread, ridge=1 / float(np.clip(variance, 0.01, 100)))


def judge_step(at: Fit, cells: Cells) -> Fit:
    """Take a Newton step of the effects of each judge, on average over what is uncertain about
    the strengths: otherwise slopes would grow with the number of items."""
    difference, by_eta, by_tie, eta_eta, eta_tie, tie_tie = at.derivatives(cells)
    along, cross = difference * eta_eta, difference * eta_tie
    uncertain = at.difference_variances(cells) * eta_eta
    by_slope = difference * by_eta - (1 + at.effects[cells.judge, SLOPE]) * uncertain
    squares = difference * along + uncertain
    rows = (squares, along, cross, along, eta_eta, eta_tie, cross, eta_tie, tie_tie)
    sums = cells.by_judge @ np.stack([*rows, by_slope, by_eta, by_tie], axis=1)
    information, gradient = sums[:, :9].reshape(-1, 3, 3), sums[:, 9:]
    active = at.variances > 0
    both = np.outer(active, active)
    precisions = np.divide(1, at.variances, where=active, out=np.ones(3))
    covariances = np.linalg.inv(information * both + np.diag(precisions)) * both
    step = np.einsum(
        "kab,kb->ka", covariances, gradient - precisions * (at.effects - _centre(at, cells))
    )
    return replace(at, effects=at.effects + np.clip(step, -1, 1), covariances=covariances)


def _centre(at: Fit, cells: Cells) -> Floats:
    """Return what effects are shrunk to: the mean slope, and no position bias."""
    weights = cells.per_judge
    return np.array([float(weights @ at.effects[:, SLOPE] / weights.sum()), 0.0, 0.0])


def _learn_variances(at: Fit, cells: Cells) -> Fit:
    judges = cells.per_judge > 0
    effects, posterior = (at.effects - _centre(at, cells))[judges], at.covariances[judges]
    learned = [
        _learned_variance(effects[:, effect], posterior[:, effect, effect], prior)
        for effect, prior in enumerate(at.variances.tolist())
    ]
    variances = np.minimum(learned, MAX_VARIANCES)
    return replace(at, variances=variances, effects=at.effects * (variances > 0))


def _normalised(at: Fit, cells: Cells) -> Fit:
    """Set the typical slope to 1 and the mean tie effect to 0, which changes no prediction."""
    effects, (typical, _) = at.effects.copy(), typical_slope(at, cells)
    mean_tie = float(effects[:, TIE].mean())
    effects[:, TIE] -= mean_tie
    if not at.variances[SLOPE] or typical < 0.1:  # judges have no direction in common
        typical = 1.0
    effects[:, SLOPE] = (1 + effects[:, SLOPE]) / typical - 1
    return replace(at, strengths=at.strengths * typical, tie=at.tie + mean_tie, effects=effects)


def _learned_variance(means: Floats, posterior: Floats, prior: float) -> float:
    """Return the variance of parameters with these posterior means and variances.

    MacKay (1992), "Bayesian Interpolation": σ² = Σ m² / Σ (1 − s/σ²), with steps half as long
    again. A variance without evidence goes to 0.
    """
    if not prior:
        return 0.0
    n_determined = float((1 - posterior / prior).sum())
    variance = float((means**2).sum()) / max(n_determined, 1e-9)
    variance *= np.sqrt(variance / prior)
    return variance if variance > 1e-4 else 0.0


def typical_slope(fitted: Fit, cells: Cells) -> tuple[float, float]:
    """Return the mean slope of judges with at least half of the median, and its standard error."""
    slopes, weights = 1 + fitted.effects[:, SLOPE], cells.per_judge
    order = np.argsort(slopes)
    middle = np.searchsorted(weights[order].cumsum(), weights.sum() / 2)
    weights = weights * (slopes >= slopes[order][middle] / 2)
    weights = weights / weights.sum()
    mean = float(weights @ slopes)
    variances = (slopes - mean) ** 2 + fitted.covariances[:, SLOPE, SLOPE]
    return mean, float(np.sqrt(weights**2 @ variances))
