"""The model of comparisons beside a slow twin, its derivatives, and what is learned."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from blindfuse import Comparisons, fuse_pairs
from blindfuse.comparisons.fitting import SMALL_RIDGE, Objective, SlopeErrors, fit
from blindfuse.comparisons.likelihood import Cells, Parameters
from blindfuse.comparisons.rule import fold_counts
from blindfuse.comparisons.spreads import likeliest_variance
from tests.support.pair_cases import simulate_pairs, slow_davidson


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tie", [-np.inf, -0.5])
def test_strengths_are_those_of_a_slow_twin(seed: int, tie: float) -> None:
    pairs = simulate_pairs(seed, n_items=6, slopes=[1], per_judge=120, tie=tie)
    ranking = fuse_pairs(pairs.left, pairs.right, pairs.winner)
    strengths, tau = slow_davidson(pairs, SMALL_RIDGE)
    order = ranking.items.astype(int)
    np.testing.assert_allclose(ranking.strengths, strengths[order], atol=2e-5)
    if np.isfinite(tie):
        reported = fit(
            ranking.comparisons.cells, SMALL_RIDGE, np.zeros(3), ranking.evidence.plain.parameters
        )
        assert reported.parameters.tie == pytest.approx(tau, abs=2e-5)


def test_the_gradient_is_that_of_finite_differences() -> None:
    pairs = simulate_pairs(0, n_items=5, slopes=[1, 0.3, -1], positions=[0.5, 0, -1], tie=-0.7)
    cells = Comparisons.from_columns(*pairs.columns).cells
    rng = np.random.default_rng(0)
    at = Parameters(rng.normal(size=5), -0.4, rng.normal(size=(3, 3)) / 3)
    errors = SlopeErrors(rng.random((len(cells.left), 3)), rng.random((3, 3))[cells.judge] / 10)
    for given in (None, errors):
        objective = Objective(cells, 0.3, np.array([2.0, 3.0, 4.0]), given)

        def value(x: np.ndarray, objective: Objective = objective) -> float:
            return objective.value(Parameters(x[:5], float(x[5]), x[6:].reshape(3, 3)))

        x = np.concatenate([at.strengths, [at.tie], at.effects.reshape(-1)])
        _, common, judge = objective.derivatives(at)
        expected = approx_fprime(x, value, 1e-6)
        np.testing.assert_allclose([*common, *judge.reshape(-1)], expected, atol=2e-3)


def test_large_tables_are_solved_without_dense_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = simulate_pairs(1, n_items=30, slopes=[1.5, 1, 0, 1], tie=-1.0, per_judge=600)
    dense = fuse_pairs(*pairs.columns)
    monkeypatch.setattr(Cells, "is_dense", False)
    sparse = fuse_pairs(*pairs.columns)
    assert dense.evidence.uses_judges
    assert sparse.evidence.uses_judges
    np.testing.assert_allclose(sparse.strengths, dense.strengths, atol=0.1)
    widths = [ranking.high - ranking.low for ranking in (sparse, dense)]
    np.testing.assert_allclose(np.median(widths[0] / widths[1]), 1, atol=0.25)


@pytest.mark.parametrize("power", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_variance_is_that_of_a_grid(seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    noise, prior = rng.uniform(0.05, 1, 30), 0.4
    estimates = rng.normal(0, np.sqrt(noise + [0.0, 0.3, 1.0, 0.1, 0.02][seed]))
    posterior = 1 / (1 / noise + 1 / prior)
    means = estimates * posterior / noise
    grid = np.linspace(1e-9, 3, 30_001)
    total = noise[:, None] + grid
    likelihood = -(np.log(total) + estimates[:, None] ** 2 / total).sum(axis=0)
    expected = grid[(likelihood + 2 * power * np.log(grid)).argmax()]
    learned = likeliest_variance(means, posterior, prior, power)
    assert learned == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("weight", [1.0, 0.3, 7.25])
def test_folds_divide_the_comparisons_evenly(weight: float) -> None:
    pairs = simulate_pairs(0, tie=-1.0)
    cells = Comparisons.from_columns(*pairs.columns, weights=[weight] * 600).cells
    folds = fold_counts(cells, pairs.strengths)
    assert folds.min() >= 0
    np.testing.assert_allclose(folds.sum(axis=0), cells.counts)
    np.testing.assert_allclose(folds.sum(axis=(1, 2)), cells.counts.sum() / 5, rtol=0.1)
