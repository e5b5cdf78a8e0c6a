"""The best single annotator, compared with the fused labels."""

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, simulate
from blindfuse.diagnostics.annotators import rate_annotators
from blindfuse.diagnostics.panel import Panel, compare_panel


def panel_of(responses: Responses) -> tuple[Panel, DawidSkene]:
    fitted = DawidSkene().fit(responses)
    rated = rate_annotators(responses, fitted.model_)
    return compare_panel(responses, fitted.posteriors_, rated), fitted


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_annotator_is_compared_where_it_differs_from_the_labels(seed: int, K: int) -> None:
    """Shares and means, counted item by item."""
    drawn = simulate(300, 6, K, np.random.default_rng(seed), skill=0.3, missing=0.4)
    panel, fitted = panel_of(drawn.responses)
    assert panel.best is not None
    assert panel.best == fitted.model_.accuracies.argmax()
    given = drawn.responses.matrix()[:, panel.best]
    n_items, of_labels, of_responses = 0, [], []
    for posterior, response in zip(fitted.posteriors_, given, strict=True):
        n_items += response >= 0
        if response >= 0 and response != posterior.argmax():
            of_labels.append(posterior.max())
            of_responses.append(posterior[response])
    assert panel.differing == pytest.approx(len(of_labels) / n_items)
    assert panel.label_correct == pytest.approx(np.mean(of_labels))
    assert panel.response_correct == pytest.approx(np.mean(of_responses))
    assert panel.label_correct >= panel.response_correct
    if K == 2:
        assert panel.label_correct + panel.response_correct == pytest.approx(1)


def test_an_annotator_who_agrees_with_all_labels_is_said_to() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size=200)
    noisy = [np.where(rng.random(200) < 0.7, truth, 1 - truth) for _ in range(2)]
    panel, _ = panel_of(Responses.from_matrix(np.stack([truth, *noisy], axis=1)))
    assert panel.best == 0
    assert panel.differing == 0
    assert "Its responses are the fused labels of its items." in panel.summary()


def test_sources_of_one_class_are_not_compared() -> None:
    """They are correct as often as their class is true, whatever they know."""
    drawn = simulate(300, 5, 2, np.random.default_rng(0), skill=0.5)
    matrix = np.array(drawn.responses.matrix())
    for m in range(5):
        matrix[matrix[:, m] != m % 2, m] = -1
    panel, _ = panel_of(Responses.from_matrix(matrix))
    assert panel.best is None
    assert panel.summary().startswith("No annotator reports more than one class")


def test_annotators_of_few_items_are_not_compared() -> None:
    drawn = simulate(500, 250, 2, np.random.default_rng(1), skill=0.3, missing=0.98)
    panel, _ = panel_of(drawn.responses)
    assert panel.best is None
    assert panel.summary() == (
        "No annotator reports more than one class and responds to at least 10 % of the items, so "
        "none is compared with the fused labels."
    )
