"""Redundant annotators, and the best single annotator compared with the fused labels."""

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, simulate
from blindfuse.diagnostics.panel import MAX_CHANGED, Panel, compare_panel


def panel_of(responses: Responses) -> tuple[Panel, DawidSkene]:
    fitted = DawidSkene().fit(responses)
    return compare_panel(responses, fitted.model_, fitted.posteriors_), fitted


@pytest.mark.parametrize("seed", range(4))
def test_without_redundant_annotators_the_labels_stay_the_same(seed: int) -> None:
    """The labels of the model without them are computed a second time, by the model itself."""
    rng = np.random.default_rng(seed)
    drawn = simulate(400, 9, 3, rng, skill=rng.uniform(0.2, 0.8), missing=0.2 * (seed % 2))
    panel, fitted = panel_of(drawn.responses)
    kept = np.setdiff1d(np.arange(9), panel.redundant)
    rest = drawn.responses.select_annotators(kept)
    model = fitted.model_
    answered = rest.responses_per_item > 0
    before, after = model.labels(drawn.responses), model.labels(rest)
    assert np.mean((before != after)[answered]) <= MAX_CHANGED
    assert len(kept) > 0


def test_guessers_are_redundant_and_experts_are_not() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size=900)
    experts = [np.where(rng.random(900) < p, truth, 1 - truth) for p in (0.97, 0.9, 0.9)]
    guesses = [rng.integers(0, 2, size=900) for _ in range(3)]
    panel, _ = panel_of(Responses.from_matrix(np.stack([*experts, *guesses], axis=1)))
    assert {3, 4, 5} <= set(panel.redundant)
    assert 0 not in panel.redundant
    assert panel.best == 0
    assert panel.best_accuracy == pytest.approx(np.mean(experts[0] == truth), abs=0.03)
    assert "The best single annotator, 0, is expected to be right" in panel.summary()


def test_the_fused_labels_are_expected_to_be_at_least_as_accurate() -> None:
    """They are the most probable classes of the same posteriors."""
    for seed in range(5):
        drawn = simulate(300, 6, 3, np.random.default_rng(seed), skill=0.3, missing=0.4)
        panel, fitted = panel_of(drawn.responses)
        assert panel.best is not None
        assert panel.best_accuracy <= panel.fused_accuracy
        given = drawn.responses.matrix()[:, panel.best]
        items = np.flatnonzero(given >= 0)
        mean = fitted.posteriors_[items, given[items]].mean()
        assert panel.best_accuracy == pytest.approx(mean)


def test_large_crowds_and_few_responses_are_not_searched() -> None:
    drawn = simulate(500, 250, 2, np.random.default_rng(1), skill=0.3, missing=0.98)
    panel, _ = panel_of(drawn.responses)
    assert not panel.searched
    assert panel.redundant == ()
    assert panel.best is None
    assert panel.summary() == "No annotator responds to enough items to be compared."
