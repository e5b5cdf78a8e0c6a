"""MajorityVote."""

import numpy as np
import pytest

from blindfuse import MajorityVote
from blindfuse.metrics import error_rate
from tests.conftest import Crowds
from tests.estimators.crowds import crowd


def test_ties_go_to_the_class_reported_more_often_then_to_the_first() -> None:
    vote = MajorityVote().fit([["b", "c"], ["a", "b"], ["b", "b"], ["a", "c"]])
    assert vote.labels_.tolist() == ["b", "b", "b", "a"]
    assert vote.ties_.tolist() == [True, True, False, True]
    even = MajorityVote().fit([["b", "a"], ["a", "b"]])
    assert even.labels_.tolist() == ["a", "a"]


def test_posteriors_are_vote_shares() -> None:
    responses = crowd(3).responses
    votes = (responses.matrix()[:, :, None] == np.arange(3)).sum(axis=1)
    is_labelled = votes.sum(axis=1) > 0
    shares = MajorityVote().fit(responses).posteriors_[is_labelled]
    total = votes[is_labelled].sum(axis=1)[:, None]
    np.testing.assert_allclose(shares, votes[is_labelled] / total)


@pytest.mark.parametrize(
    ("name", "percent"),
    [("trec", 34.86), ("bird", 24.07), ("rte", 10.31), ("web", 26.93), ("dog", 17.78)],
)
def test_published_errors(crowds: Crowds, name: str, percent: float) -> None:
    crowd = crowds[name]
    vote = MajorityVote().fit(crowd.responses)
    assert 100 * error_rate(vote.posteriors_, crowd.truth) == pytest.approx(percent, abs=0.01)
