"""Sufficient statistics of streams; tests/estimators/test_streaming.py adds and saves them."""

from collections import Counter

import numpy as np

from blindfuse import MomentCounts, simulate
from blindfuse.model.posteriors import count_votes
from blindfuse.moments.statistics import EMStatistics, MomentStatistics


def test_statistics_of_moments_hold_their_counts_and_those_of_votes() -> None:
    responses = simulate(300, 4, 3, np.random.default_rng(0), missing=0.3).responses
    statistics = MomentStatistics.from_responses(responses)
    votes, units = count_votes(responses), statistics.vote_units
    np.testing.assert_array_equal(statistics.votes.counts, votes.counts)
    np.testing.assert_array_equal(statistics.votes.totals, votes.totals)
    np.testing.assert_array_equal(units.counts, np.rint(units.counts))
    np.testing.assert_array_equal(units.totals, np.rint(units.totals))
    assert statistics.moments == MomentCounts.count(responses)
    assert statistics.n_responses == responses.n_responses


def test_statistics_of_em_count_the_items_with_each_pattern() -> None:
    responses = simulate(500, 4, 2, np.random.default_rng(0), missing=0.3).responses
    statistics = EMStatistics.from_responses(responses)
    patterns = map(tuple, statistics.patterns.matrix().tolist())
    rows = Counter(map(tuple, responses.matrix().tolist()))
    assert dict(zip(patterns, statistics.sizes.tolist(), strict=True)) == rows
    assert statistics.n_responses == responses.n_responses
