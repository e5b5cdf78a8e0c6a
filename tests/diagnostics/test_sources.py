"""Coverage, overlap and conflict of sources, counted item by item."""

import numpy as np
import pytest

from blindfuse import Responses, summarize_sources
from blindfuse.errors import BadParameter


@pytest.mark.parametrize("seed", range(3))
def test_shares_are_those_of_items(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = np.where(rng.random((200, 5)) < 0.6, -1, rng.integers(3, size=(200, 5)))
    found = summarize_sources(Responses.from_matrix(votes, classes=[0, 1, 2]))
    for m in range(5):
        others = np.delete(votes, m, axis=1)
        given = votes[:, m] >= 0
        shared = given & (others >= 0).any(axis=1)
        differs = given & ((others >= 0) & (others != votes[:, [m]])).any(axis=1)
        assert found.coverage[m] == pytest.approx(given.mean())
        assert found.overlap[m] == pytest.approx(shared.mean())
        assert found.conflict[m] == pytest.approx(differs.mean())
        assert set(found.classes[m]) == set(votes[given, m].tolist())
    assert len(found.summary().splitlines()) == 6


def test_abstentions_are_refused() -> None:
    with pytest.raises(BadParameter, match="before with_abstentions"):
        summarize_sources(Responses.from_matrix([[0, -1], [1, 1]]).with_abstentions())
