"""The misfit, computed a second way, where a model holds or is wrong."""

from itertools import combinations

import numpy as np
import pytest

from blindfuse import DawidSkene, Model, diagnose, simulate
from blindfuse.diagnostics.fit import Fit
from experiments.settings import FIGURE_3, FIGURE_4, TABLE_1, TABLE_2, Setting
from tests.support.diagnostics_cases import crowd, diagnosed


def test_misfit_matches_a_direct_computation() -> None:
    responses = crowd().responses
    found, fitted = diagnosed(responses)
    matrix, K = responses.matrix(), 3
    confusions, prior = fitted.model_.confusions, fitted.model_.prior
    residuals, noises = np.zeros((6, 6)), np.zeros((6, 6))
    for i, j in combinations(range(6), 2):
        both = (matrix[:, i] >= 0) & (matrix[:, j] >= 0)
        table = np.zeros((K, K))
        for a, b in matrix[both][:, [i, j]].tolist():
            table[a, b] += 1
        expected = confusions[i] @ np.diag(prior) @ confusions[j].T
        residuals[i, j] = both.sum() * np.sum((table / both.sum() - expected) ** 2)
        n_responses = (matrix[:, [i, j]] >= 0).sum(axis=0)
        fitted_share = (both.sum() / n_responses).sum() / (K + 1)
        noises[i, j] = (1 - fitted_share) * (1 - np.sum(expected**2))
    assert found.fit.misfit == pytest.approx(residuals.sum() / noises.sum())
    own = residuals[2].sum() + residuals[:, 2].sum(), noises[2].sum() + noises[:, 2].sum()
    assert found.fit.by_annotator[2] == pytest.approx(own[0] / own[1])


@pytest.mark.parametrize("setting", [TABLE_1, TABLE_2, FIGURE_3, FIGURE_4], ids=lambda s: s.name)
def test_a_true_model_fits(setting: Setting) -> None:
    for n in (1_000, 10_000):
        found, _ = diagnosed(setting.draw(n, 0).responses)
        assert found.fit.misfit < 1
        assert found.fit.holds


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_misfit_is_about_one_however_few_items_pairs_share(classes: int, seed: int) -> None:
    """Where pairs share all items, the model fits some of the noise, and it is less than one."""
    for annotators, missing, least in ((10, 0.0, 0.1), (40, 0.8, 0.9), (200, 0.97, 0.98)):
        rng = np.random.default_rng([seed, classes])
        drawn = simulate(3000, annotators, classes, rng, skill=0.3, missing=missing)
        found = DawidSkene(shrinkage=None).fit(drawn.responses)
        fit = diagnose(drawn.responses, found.model_, found.posteriors_).fit
        assert least < fit.misfit < 1.12


@pytest.mark.parametrize("seed", range(12))
def test_misfit_is_right_where_only_some_items_are_counted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model fitted the first moments of all items, not only of these."""
    monkeypatch.setattr("blindfuse.diagnostics.pairs.MAX_ITEMS", 2_000)
    drawn = simulate(40_000, 10, 3, np.random.default_rng(seed), skill=0.3)
    found, _ = diagnosed(drawn.responses)
    assert 0.5 < found.fit.misfit < found.fit.chance_limit == 1 + 3 * np.sqrt(2 / 20)
    assert found.fit.holds


def test_a_wrong_model_does_not_fit() -> None:
    simulation = crowd(1, n=5000)
    wrong = Model(np.tile(np.eye(3), (6, 1, 1)), np.full(3, 1 / 3), np.arange(6), np.arange(3))
    found = diagnose(simulation.responses, wrong, wrong.posteriors(simulation.responses))
    assert found.fit.misfit > 5
    assert not found.fit.holds


@pytest.mark.parametrize(("misfit", "verdict"), [(1.4, "fits"), (1.5, "does not fit")])
def test_the_summary_states_the_misfit_and_the_verdict(misfit: float, verdict: str) -> None:
    fit = Fit(misfit, np.ones(3), chance_limit=1.5)
    assert f"{misfit:.2g} × the sampling noise: the model {verdict}." in fit.summary()
