"""Confidence where errors are correlated."""

import numpy as np
import pytest

from blindfuse import (
    LatentSubtypes,
    MixedMembership,
    fuse,
)
from blindfuse.fusion.bounded_correction import BOUNDED_CORRECTION
from blindfuse.fusion.tempering import keep_labels
from blindfuse.metrics import calibration_error
from blindfuse.model.posteriors import vote_posteriors, weighted_votes
from tests.conftest import Crowds


def test_new_items_are_voted_on_where_the_vote_was_chosen(crowds: Crowds) -> None:
    for name in ("fact_eval", "sp"):
        fusion = fuse(crowds[name].responses)
        assert fusion.method == {"fact_eval": BOUNDED_CORRECTION, "sp": "LatentSubtypes"}[name]
        again = fusion.predict_proba(crowds[name].responses)
        np.testing.assert_allclose(again, fusion.posteriors, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_keep_labels_makes_the_label_the_most_probable_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    beliefs, posteriors = rng.dirichlet(np.ones(4), size=(2, 500))
    kept = keep_labels(beliefs, posteriors)
    np.testing.assert_array_equal(kept.argmax(axis=1), beliefs.argmax(axis=1))
    np.testing.assert_allclose(kept.sum(axis=1), 1)
    same = beliefs.argmax(axis=1) == posteriors.argmax(axis=1)
    np.testing.assert_allclose(kept[same], posteriors[same], rtol=1e-12)
    differ = posteriors[~same].max(axis=1)
    assert np.all(kept[~same].max(axis=1) < differ)  # where two methods differ, less is sure


def test_vote_labels_get_calibrated_confidences(crowds: Crowds) -> None:
    crowd = crowds["fact_eval"]
    fusion = fuse(crowd.responses)
    assert fusion.method == BOUNDED_CORRECTION
    shares, votes = vote_posteriors(crowd.responses), weighted_votes(crowd.responses)
    *_, second, first = np.sort(votes, axis=1).T
    clear = first - second > np.sqrt(votes.sum(axis=1))  # models may add at most this
    assert np.all(fusion.posteriors[clear].argmax(axis=1) == shares[clear].argmax(axis=1))
    mixed = MixedMembership().fit(crowd.responses).posteriors_
    agree = mixed.argmax(axis=1) == fusion.posteriors.argmax(axis=1)
    powers = np.log(fusion.posteriors[agree, 0] / fusion.posteriors[agree, 1]) / np.log(
        mixed[agree, 0] / mixed[agree, 1]
    )
    clear_odds = np.abs(np.log(mixed[agree, 0] / mixed[agree, 1])) > 0.1
    assert np.ptp(powers[clear_odds]) < 1e-6  # the same power for all items


def test_ambiguous_items_of_real_crowds_get_low_confidence(crowds: Crowds) -> None:
    ours, plain = [], []
    for name in ("cf_amt_weather", "dog", "sp", "zc_in", "zc_us"):
        crowd = crowds[name]
        fusion, kinds = fuse(crowd.responses), LatentSubtypes().fit(crowd.responses)
        assert fusion.method == "LatentSubtypes"
        votes = weighted_votes(crowd.responses)
        trailing = (
            votes.max(axis=1) - votes[np.arange(len(votes)), fusion.posteriors.argmax(axis=1)]
        )
        assert np.all(trailing <= np.sqrt(votes.sum(axis=1)))  # corrections are bounded
        ours.append(calibration_error(fusion.posteriors, crowd.truth))
        plain.append(calibration_error(kinds.posteriors_, crowd.truth))
    assert np.mean(ours) < 0.8 * np.mean(plain)
