"""Ratings of items, computed a second way."""

from collections import Counter

import numpy as np
import pytest

from blindfuse import simulate
from blindfuse.diagnostics.items import CONFIDENT, rate_items
from tests.support.diagnostics_cases import crowd, diagnosed


def test_ratings_match_a_direct_computation() -> None:
    found, fitted = diagnosed(crowd(3).responses)
    for n, posterior in enumerate(fitted.posteriors_[:50]):
        best, second, _ = sorted(posterior, reverse=True)
        assert found.items.confidence[n] == best
        assert found.items.margin[n] == pytest.approx(best - second)
        entropy = -sum(p * np.log(p) for p in posterior if p > 0)
        assert found.items.entropy[n] == pytest.approx(entropy, abs=1e-12)
        assert found.items.needs_another_label[n] == (best < CONFIDENT)


@pytest.mark.parametrize("seed", range(5))
def test_outvoted_items_match_a_direct_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    responses = simulate(1000, 7, 3, rng, missing=0.5).responses
    found, fitted = diagnosed(responses)
    labels = fitted.posteriors_.argmax(axis=1)
    for n, row in enumerate(responses.matrix().tolist()):
        votes = Counter(label for label in row if label >= 0)
        beaten = bool(votes) and votes[labels[n]] < max(votes.values())
        assert found.items.outvoted[n] == beaten
    assert found.items.outvoted.any()
    assert responses.responses_per_item.min() == 0


def test_the_summary_counts_items_below_the_threshold() -> None:
    found, fitted = diagnosed(crowd(3).responses)
    count = int(np.sum(fitted.posteriors_.max(axis=1) < 0.9))
    assert found.items.summary() == (
        f"{count} of 400 ({100 * count / 400:.0f} %) need another label: confidence below 90 %."
    )


def test_the_summary_says_where_to_begin_if_most_items_need_a_label() -> None:
    responses = crowd(3).responses
    split = np.full((responses.n_items, responses.n_classes), 1 / responses.n_classes)
    text = rate_items(responses, split).summary()
    assert text.startswith("400 of 400 (100 %) need another label")
    assert text.endswith("Begin with those that `blindfuse next` lists.")
