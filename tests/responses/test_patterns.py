"""Distinct response patterns, and distinct sets of annotators."""

from collections import Counter

import numpy as np

from blindfuse import simulate
from blindfuse.responses.canonical import panels, response_patterns


def test_patterns_are_the_distinct_rows_and_panels_the_distinct_sets_of_annotators() -> None:
    responses = simulate(3000, 5, 3, np.random.default_rng(0), missing=0.5).responses
    matrix = responses.matrix()
    for patterns, rows in (
        (response_patterns(responses), matrix),
        (panels(responses), np.where(matrix >= 0, 0, -1)),
    ):
        starts, annotators, symbols = patterns.by_pattern
        sizes: dict[tuple[int, ...], int] = {}
        for pattern, size in enumerate(patterns.sizes.tolist()):
            row = np.full(5, -1)
            entries = slice(starts[pattern], starts[pattern + 1])
            row[annotators[entries]] = symbols[entries]
            sizes[tuple(row.tolist())] = size
        assert sizes == Counter(tuple(row) for row in rows.tolist())


def test_complete_responses_form_one_panel() -> None:
    responses = simulate(400, 6, 3, np.random.default_rng(0)).responses
    assert panels(responses).sizes.tolist() == [400]
