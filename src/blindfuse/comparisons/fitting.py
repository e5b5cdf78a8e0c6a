"""The penalised likelihood of grouped comparisons, maximised by Gauss–Newton steps.

Strengths have a ridge; effects of judges are normal around the common judge.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, cg

from blindfuse.comparisons.likelihood import (
    SLOPE,
    Blocks,
    Cells,
    Parameters,
    assemble,
    common_block,
    information,
    log_probabilities,
    scores,
)
from blindfuse.typing import Floats

SMALL_RIDGE = 1e-4
"""Ridge of the reported strengths and of τ: it keeps them finite, and moves the strength of an item
with 40 comparisons by some 0.001 %."""


class SlopeErrors(NamedTuple):
    """What is uncertain about slopes: strengths are fitted on average over it.

    The likelihood, averaged over a judge's effects with this covariance, is lower by
    ½ Σ w (θ_i − θ_j)² Var(a) and by terms in Cov(a, b) and Cov(a, c). Without them, strengths would
    grow with the number of judges, as the mode of many products does.

    Attributes
    ----------
    weights ``[cell, 3]``
        information of the cells.
    covariances ``[cell, effect]``
        of slope and each effect.
    """

    weights: Floats
    covariances: Floats

    @classmethod
    def of(cls, fitted: "Fit", cells: Cells | None = None) -> "SlopeErrors | None":
        """Return those of a fit, for these comparisons; None if its judges have no slopes."""
        inverse, cells = fitted.curvature.inverse_judge, fitted.cells if cells is None else cells
        if inverse is None or not fitted.active[SLOPE]:
            return None
        weights = information(cells, fitted.parameters.probabilities(cells))
        return cls(weights, (inverse[:, SLOPE] * fitted.active)[cells.judge])

    def derivative(self, difference: Floats) -> Floats:
        """Return the derivative of the decrease by the difference of each cell."""
        (by_eta, cross, _), (slope, position, tie) = self.weights.T, self.covariances.T
        return np.asarray(by_eta * (slope * difference + position) + cross * tie)

    def decrease(self, difference: Floats) -> float:
        """Return by how much the average likelihood is lower."""
        average = (self.derivative(difference) + self.derivative(np.zeros_like(difference))) / 2
        return float(average @ difference)


@dataclass(frozen=True, eq=False)
class Curvature:
    """The negative second derivatives of the penalised likelihood, ready to solve.

    A common factor can go from the slopes to the strengths, so the mean slope of all comparisons is
    held fixed. Judge effects are eliminated from the equations of the common parameters.

    Attributes
    ----------
    solve
        applies the inverse block of the common parameters.
    variances ``[item]``
        of the strengths; approximate if the curvature is not dense.
    inverse_judge ``[judge, effect, effect]``
        inverse blocks of the judges; None without judge effects.
    fixed ``[judge, effect]``
        under the constraint, the inverse is ``inverse_judge`` minus the outer product of ``fixed``.
    eliminated ``[judge, effect, U]``
        that inverse times the mixed block; None without judge effects, or if it is not dense.
    """

    solve: Callable[[Floats], Floats]
    variances: Floats
    inverse_judge: Floats | None = None
    fixed: Floats | None = None
    eliminated: Floats | None = None

    @classmethod
    def of(cls, blocks: Blocks, ridge: float, precisions: Floats, cells: Cells) -> "Curvature":
        """Add ridge and precisions (∞ for effects that judges do not have), and factorise."""
        U = cells.n_items + 1
        penalty = np.full(U, ridge)
        penalty[-1] = SMALL_RIDGE if cells.has_ties else 1.0
        eliminated = inverse = fixed = None
        if blocks.judge is not None:
            prior = np.where(np.isfinite(precisions), precisions, 1.0)
            inverse = np.linalg.inv(blocks.judge + np.diag(prior))
            fixed = inverse[:, :, SLOPE] * cells.per_judge[:, None] * np.isfinite(precisions[SLOPE])
            fixed = fixed / np.sqrt(max(float(cells.per_judge @ fixed[:, SLOPE]), 1e-300))
        if not isinstance(blocks.common, np.ndarray):
            matrix = blocks.common + diags_array(penalty)
            return cls(conjugate_gradients(matrix), 1 / matrix.diagonal()[:-1], inverse, fixed)
        matrix = blocks.common + np.diag(penalty)
        if blocks.mixed is not None and inverse is not None and fixed is not None:
            eliminated = inverse @ blocks.mixed
            eliminated -= fixed[:, :, None] * np.einsum("ka,kau->u", fixed, blocks.mixed)
            matrix -= blocks.mixed.reshape(-1, U).T @ eliminated.reshape(-1, U)
        factor = cho_factor(matrix, lower=True)
        variances = np.diag(cho_solve(factor, np.eye(U)))[:-1]
        return cls(lambda x: cho_solve(factor, x), variances, inverse, fixed, eliminated)

    def judge_step(self, judge: Floats) -> Floats:
        """Return the step of the effects for this gradient, with fixed strengths."""
        if self.inverse_judge is None or self.fixed is None:
            return np.zeros_like(judge)
        step = np.einsum("kab,kb->ka", self.inverse_judge, judge)
        return np.asarray(step - self.fixed * float((self.fixed * judge).sum()))

    def step(self, common: Floats, judge: Floats) -> tuple[Floats, Floats]:
        """Return the step of common parameters and effects for these gradients."""
        if self.eliminated is None:
            return self.solve(common), self.judge_step(judge)
        step = self.solve(common - np.einsum("kau,ka->u", self.eliminated, judge))
        return step, self.judge_step(judge) - self.eliminated @ step

    def effect_variances(self) -> Floats:
        """Return the variance of each effect given the comparisons, ``[judge, effect]``."""
        if self.inverse_judge is None or self.fixed is None:
            return np.zeros((1, 3))
        variances = np.einsum("kaa->ka", self.inverse_judge) - self.fixed**2
        if self.eliminated is not None:
            rows = self.eliminated.reshape(-1, self.eliminated.shape[2])
            shared = np.einsum("nu,un->n", rows, self.solve(rows.T))
            variances += shared.reshape(variances.shape)
        return np.asarray(variances)


def conjugate_gradients(matrix: csr_array) -> Callable[[Floats], Floats]:
    """Return a function that solves equations with a large sparse matrix."""
    scale = 1 / matrix.diagonal()
    precondition = LinearOperator(matrix.shape, matvec=lambda x: scale * x.reshape(-1))

    def solve(rhs: Floats) -> Floats:
        columns = rhs.reshape(len(rhs), -1).T
        options = {"rtol": 1e-8, "maxiter": 1_000, "M": precondition}
        return np.stack([cg(matrix, b, **options)[0] for b in columns], axis=1).reshape(rhs.shape)

    return solve


@dataclass(frozen=True, eq=False)
class Fit:
    """The maximum of the penalised likelihood, and the curvature there."""

    cells: Cells
    parameters: Parameters
    curvature: Curvature
    ridge: float
    variances: Floats

    @property
    def active(self) -> Floats:
        """1 for effects that judges have, 0 for others."""
        return (self.variances > 0).astype(float)


class Objective(NamedTuple):
    """The penalised likelihood; effects with infinite precision keep their value."""

    cells: Cells
    ridge: float
    precisions: Floats
    errors: SlopeErrors | None = None

    @property
    def penalties(self) -> Floats:
        """Precisions, 0 for effects that keep their value."""
        return np.where(np.isfinite(self.precisions), self.precisions, 0.0)

    def value(self, at: Parameters) -> float:
        """Return the penalised log-likelihood."""
        difference, eta, tie = at.predictors(self.cells)
        logs = np.maximum(log_probabilities(eta, tie), -1e4)  # 0 · −∞ without ties
        penalty = self.ridge * float(at.strengths @ at.strengths)
        penalty += float((self.penalties * at.effects**2).sum())
        penalty += SMALL_RIDGE * at.tie**2 if self.cells.has_ties else 0.0
        decrease = 0.0 if self.errors is None else self.errors.decrease(difference)
        return float((self.cells.counts * logs).sum()) - penalty / 2 - decrease

    def derivatives(self, at: Parameters) -> tuple[Curvature, Floats, Floats]:
        """Return the curvature, and the gradient by common parameters and by effects."""
        cells, errors, active = self.cells, self.errors, np.isfinite(self.precisions).astype(float)
        difference, _, _ = at.predictors(cells)
        probabilities = at.probabilities(cells)
        blocks = assemble(cells, at, information(cells, probabilities), active)
        by_eta, by_tie = np.einsum("co,cop->pc", cells.counts, scores(probabilities))
        by_difference = (1 + at.effects[cells.judge, SLOPE]) * by_eta
        if errors is not None:
            by_difference = by_difference - errors.derivative(difference)
            extra = errors.weights[:, 0] * errors.covariances[:, SLOPE]
            more = common_block(cells, extra, np.zeros_like(extra), 0.0)
            blocks = blocks._replace(common=blocks.common + more)
        by_tau = by_tie.sum() - SMALL_RIDGE * at.tie if cells.has_ties else 0.0
        common = np.append(cells.differences(by_difference) - self.ridge * at.strengths, by_tau)
        by_effect = (difference * by_eta, by_eta, by_tie)
        sums = [np.bincount(cells.judge, one, cells.n_judges) for one in by_effect]
        judge = (np.stack(sums, axis=1) - self.penalties * at.effects) * active
        return Curvature.of(blocks, self.ridge, self.precisions, cells), common, judge


def fit(
    cells: Cells,
    ridge: float,
    variances: Floats,
    start: Parameters | None = None,
    errors: SlopeErrors | None = None,
    max_steps: int = 100,
    has_fixed_strengths: bool = False,
) -> Fit:
    """Maximise the penalised likelihood of strengths, τ and effects with these variances.

    A step is halved until the likelihood does not decrease.
    """
    with np.errstate(divide="ignore"):
        objective = Objective(cells, ridge, 1 / variances, errors)
    at = start or Parameters.at_start(cells)
    value = objective.value(at)
    for _ in range(max_steps):
        curvature, common, judge = objective.derivatives(at)
        if has_fixed_strengths:
            common, judge = 0 * common, curvature.judge_step(judge)
        else:
            common, judge = curvature.step(common, judge)
        before = value
        for share in 0.5 ** np.arange(40):
            tie = at.tie + share * float(common[-1]) if cells.has_ties else at.tie
            new = Parameters(at.strengths + share * common[:-1], tie, at.effects + share * judge)
            value = objective.value(new)
            if value >= before:
                at = new
                break
        if value - before <= 1e-13 * abs(before):
            break
    return Fit(cells, at, curvature, ridge, variances)


def refit_strengths(fitted: Fit) -> Fit:
    """Return the fit with the smallest ridge, for the same judge effects.

    Its curvature counts what is uncertain about the effects.
    """
    errors, none = SlopeErrors.of(fitted), np.zeros(3)
    again = fit(fitted.cells, SMALL_RIDGE, none, fitted.parameters, errors).parameters
    with np.errstate(divide="ignore"):
        objective = Objective(fitted.cells, SMALL_RIDGE, 1 / fitted.variances, errors)
    curvature, _, _ = objective.derivatives(again)
    return Fit(fitted.cells, again, curvature, SMALL_RIDGE, fitted.variances)
