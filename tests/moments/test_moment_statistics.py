"""Sufficient statistics of Algorithm 1; tests/estimators/test_streaming.py adds and merges them."""

import numpy as np

from blindfuse import MomentCounts, simulate
from blindfuse.model.posteriors import count_votes
from blindfuse.moments.statistics import MomentStatistics
from blindfuse.responses.alphabet import Alphabet


def test_statistics_hold_the_counts_of_votes_and_moments() -> None:
    responses = simulate(300, 4, 3, np.random.default_rng(0), missing=0.3).responses
    statistics = MomentStatistics.from_responses(responses)
    votes = count_votes(responses)
    np.testing.assert_array_equal(statistics.votes.counts, votes.counts)
    np.testing.assert_array_equal(statistics.votes.totals, votes.totals)
    assert statistics.moments == MomentCounts.count(responses)
    assert statistics.n_responses == responses.n_responses


def test_vote_units_are_integers() -> None:
    responses = simulate(300, 4, 3, np.random.default_rng(0), missing=0.3).responses
    units = MomentStatistics.from_responses(responses).vote_units
    np.testing.assert_array_equal(units.counts, np.rint(units.counts))
    np.testing.assert_array_equal(units.totals, np.rint(units.totals))


def test_saved_arrays_restore_the_statistics() -> None:
    responses = simulate(300, 4, 3, np.random.default_rng(0), missing=0.3).responses
    statistics = MomentStatistics.from_responses(responses)
    restored = MomentStatistics.from_arrays(
        statistics.annotators, statistics.alphabet, statistics.arrays()
    )
    assert restored.moments == statistics.moments
    np.testing.assert_array_equal(restored.vote_units.counts, statistics.vote_units.counts)
    np.testing.assert_array_equal(restored.vote_units.totals, statistics.vote_units.totals)


def test_reindexed_statistics_have_zeros_for_new_annotators_and_classes() -> None:
    responses = simulate(200, 3, 2, np.random.default_rng(0)).responses
    statistics = MomentStatistics.from_responses(responses)
    annotators = np.array([*responses.annotators, "new"], dtype=object)
    classes = np.array([*responses.classes, "new"], dtype=object)
    larger = statistics.reindexed(annotators, Alphabet.plain(classes))
    assert larger.vote_units.counts[3].sum() == larger.moments.singles[3].sum() == 0
    assert larger.moments.singles[:, 2].sum() == 0
    np.testing.assert_array_equal(
        larger.vote_units.counts[:3, :2, :2], statistics.vote_units.counts
    )
    np.testing.assert_array_equal(larger.moments.singles[:3, :2], statistics.moments.singles)
