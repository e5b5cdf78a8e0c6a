"""Requirements of moment matching: overlap, memory and cost."""

import numpy as np
import pytest

from blindfuse import BadParameter, NotIdentifiable, Responses, simulate
from blindfuse.moments.requirements import (
    MAX_AUTO_MOMENT_BYTES,
    counting_is_cheaper,
    moment_bytes,
    require_memory,
    require_overlap,
)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[0, 1], [1, 1]], "Only 2 annotators responded"),
        ([[0, 1, -1], [1, -1, 1], [-1, 0, 1]], "No item was labelled by three annotators"),
    ],
)
def test_too_little_overlap_is_refused(matrix: list[list[int]], reason: str) -> None:
    with pytest.raises(NotIdentifiable, match=f"{reason}.*majority vote"):
        require_overlap(Responses.from_matrix(matrix))


def test_moments_larger_than_the_limit_are_refused() -> None:
    require_memory(100, 2)
    with pytest.raises(BadParameter, match=r"1,000 annotators would take 30 GiB.*moments='labels'"):
        require_memory(1000, 2)


def test_counting_is_cheaper_for_few_annotators_and_never_above_the_limit() -> None:
    few = simulate(20_000, 5, 2, np.random.default_rng(0)).responses
    many = simulate(20, 500, 2, np.random.default_rng(0)).responses
    assert counting_is_cheaper(few)
    assert moment_bytes(500, 2) > MAX_AUTO_MOMENT_BYTES
    assert not counting_is_cheaper(many)
