"""The model of comparisons beside a slow twin, its derivatives, and what is learned."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from blindfuse import Comparisons, fuse_pairs
from blindfuse.comparisons import model, uncertainty
from blindfuse.comparisons.model import SMALL_RIDGE, Fit, fit
from blindfuse.comparisons.rule import fold_counts
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
        start = replace(ranking.evidence.plain, ridge=SMALL_RIDGE)
        assert fit(ranking.comparisons.cells, start, tolerance=1e-9).tie == pytest.approx(
            tau, abs=2e-5
        )


def test_derivatives_are_those_of_finite_differences() -> None:
    pairs = simulate_pairs(0, n_items=5, slopes=[1, 0.3, -1], positions=[0.5, 0, -1], tie=-0.7)
    cells = Comparisons.from_columns(*pairs.columns).cells
    rng = np.random.default_rng(0)
    start = Fit.at_start(cells, 0.3, np.ones(3))
    at = replace(start, strengths=rng.normal(size=5), effects=rng.normal(size=(3, 3)) / 3)

    def likelihood(x: np.ndarray) -> float:
        moved = replace(at, strengths=x[:5], tie=float(x[5]), effects=x[6:].reshape(3, 3))
        return float((cells.counts * moved.log_probabilities(cells).T).sum())

    d = at.derivatives(cells)
    slope = 1 + at.effects[cells.judge, 0]
    by_effect = np.stack([d.difference * d.by_eta, d.by_eta, d.by_tie], axis=1)
    sums = np.stack([by_effect[cells.judge == k].sum(axis=0) for k in range(3)])
    exact = [*cells.differences(slope * d.by_eta), d.by_tie.sum(), *sums.reshape(-1)]
    x = np.concatenate([at.strengths, [at.tie], at.effects.reshape(-1)])
    np.testing.assert_allclose(exact, approx_fprime(x, likelihood, 1e-6), atol=2e-3)


def test_large_tables_are_solved_without_dense_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = simulate_pairs(1, n_items=30, slopes=[1.5, 1, 0, 1], tie=-1.0, per_judge=600)
    dense = fuse_pairs(*pairs.columns)
    for module in (model, uncertainty):
        monkeypatch.setattr(module, "MAX_DENSE", 10)
    sparse = fuse_pairs(*pairs.columns)
    assert dense.evidence.uses_judges
    assert sparse.evidence.uses_judges
    np.testing.assert_allclose(sparse.strengths, dense.strengths, atol=0.1)
    widths = [ranking.high - ranking.low for ranking in (sparse, dense)]
    np.testing.assert_allclose(np.median(widths[0] / widths[1]), 1, atol=0.25)


def test_learned_spreads_are_those_that_were_drawn() -> None:
    """The spread of 300 judges, and that of the strengths of 40 items."""
    rng = np.random.default_rng(0)
    slopes, positions = 1 + rng.normal(0, 0.3, 300), rng.normal(0, 0.5, 300)
    pairs = simulate_pairs(2, n_items=40, slopes=slopes, positions=positions, per_judge=80)
    fitted = fuse_pairs(*pairs.columns).evidence.judges
    assert fitted is not None
    np.testing.assert_allclose(np.sqrt(fitted.variances), [0.3, 0.5, 0], atol=0.06)
    assert 1 / np.sqrt(fitted.ridge) == pytest.approx(pairs.strengths.std(), abs=0.08)


@pytest.mark.parametrize("seed", range(5))
def test_folds_add_up_and_are_equally_large(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = simulate_pairs(seed, tie=-1.0)
    weights = rng.integers(1, 9, len(pairs.left)) if seed else rng.random(len(pairs.left))
    table = Comparisons.from_columns(*pairs.columns, weights=weights)
    plain = Fit.at_start(table.cells, 1.0, np.zeros(3))
    folds = fold_counts(table.cells, plain)
    np.testing.assert_allclose(folds.sum(axis=0), table.cells.counts, atol=1e-9)
    assert (folds >= 0).all()
    assert np.ptp(folds.sum(axis=(1, 2))) <= 1 + 1e-9
