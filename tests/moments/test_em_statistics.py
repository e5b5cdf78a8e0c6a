"""Sufficient statistics of EM; tests/estimators/test_streaming.py adds and merges them."""

from collections import Counter

import numpy as np

from blindfuse import Responses, simulate
from blindfuse.moments.statistics import EMStatistics


def rows(responses: Responses) -> Counter[tuple[int, ...]]:
    return Counter(tuple(row) for row in responses.matrix().tolist())


def test_sizes_count_the_items_with_each_pattern() -> None:
    responses = simulate(500, 4, 2, np.random.default_rng(0), missing=0.3).responses
    statistics = EMStatistics.from_responses(responses)
    patterns = [tuple(row) for row in statistics.patterns.matrix().tolist()]
    assert dict(zip(patterns, statistics.sizes.tolist(), strict=True)) == rows(responses)
    assert statistics.n_responses == responses.n_responses


def test_expanding_the_patterns_restores_the_items() -> None:
    responses = simulate(500, 4, 2, np.random.default_rng(1), missing=0.3).responses
    assert rows(EMStatistics.from_responses(responses).to_responses()) == rows(responses)


def test_saved_arrays_restore_the_statistics() -> None:
    responses = simulate(500, 4, 2, np.random.default_rng(2), missing=0.3).responses
    statistics = EMStatistics.from_responses(responses)
    restored = EMStatistics.from_arrays(
        statistics.annotators, statistics.alphabet, statistics.arrays()
    )
    np.testing.assert_array_equal(restored.sizes, statistics.sizes)
    np.testing.assert_array_equal(restored.patterns.matrix(), statistics.patterns.matrix())
