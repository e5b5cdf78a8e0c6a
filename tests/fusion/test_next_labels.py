"""Which responses to ask for next."""

import numpy as np
import pytest

from blindfuse import (
    BadParameter,
    Fusion,
    fuse,
    next_labels,
    simulate,
)


def fused() -> Fusion:
    return fuse(simulate(400, 12, 3, np.random.default_rng(0), missing=0.7).responses)


def test_gains_are_mutual_information_by_hand() -> None:
    fusion = fused()
    found = next_labels(fusion, 30)
    for item, annotator, gain in zip(found.items, found.annotators, found.gains, strict=True):
        belief, confusion = fusion.posteriors[item], fusion.model.confusions[annotator]
        expected = -np.sum(belief * np.log(np.maximum(belief, 1e-300)))
        for a in range(3):
            chance = confusion[a] @ belief
            after = confusion[a] * belief / chance
            expected += chance * np.sum(after * np.log(np.maximum(after, 1e-300)))
        assert gain == pytest.approx(expected, abs=1e-9)
    assert np.all(np.diff(found.gains) <= 1e-12)


def test_nobody_is_asked_twice_or_too_often() -> None:
    fusion = fused()
    found = next_labels(fusion, 100, max_per_annotator=20)
    asked = fusion.responses.matrix()[found.items, found.annotators]
    assert np.all(asked == -1)
    assert len(found) == len(set(found.items.tolist())) == 100
    assert np.bincount(found.annotators).max() <= 20


def test_fewer_requests_where_nothing_is_left_to_ask() -> None:
    complete = fuse(simulate(30, 4, 2, np.random.default_rng(0)).responses)
    assert len(next_labels(complete, 10)) == 0


def test_wrong_budgets_are_refused() -> None:
    fusion = fused()
    with pytest.raises(BadParameter, match="budget"):
        next_labels(fusion, 0)
    with pytest.raises(BadParameter, match="max_per_annotator"):
        next_labels(fusion, 5, max_per_annotator=0)
