"""MajorityVote."""

import numpy as np
import pytest

from blindfuse import MajorityVote
from blindfuse.metrics import error_rate
from tests.conftest import Crowds
from tests.estimators.crowds import crowd


def test_ties_go_to_the_annotators_who_agree_more_often_with_the_vote() -> None:
    """Ann and Bob always vote with the majority, Cem and Dan do so half of the time."""
    table = [
        ["a", "a", "a", "b"],
        ["b", "b", "b", "a"],
        ["a", "a", "b", "a"],
        ["b", "b", "a", "b"],
        ["a", "a", "b", "b"],
        ["b", "b", "a", "a"],
    ]
    vote = MajorityVote().fit(table)
    assert vote.ties_.tolist() == [False] * 4 + [True, True]
    assert vote.labels_.tolist() == ["a", "b", "a", "b", "a", "b"]
    assert vote.predict(table).tolist() == vote.labels_.tolist()
    np.testing.assert_allclose(vote.agreement_, [5 / 6, 5 / 6, 1 / 2, 1 / 2])


def test_ties_between_equal_annotators_go_to_the_more_common_class_then_the_first() -> None:
    vote = MajorityVote().fit([["b", "c"], ["c", "b"], ["b", "b"]])
    assert vote.labels_.tolist() == ["b", "b", "b"]
    even = MajorityVote().fit([["b", "a"], ["a", "b"]])
    assert even.labels_.tolist() == ["a", "a"]


def test_breaking_ties_is_on_average_better_than_by_chance(crowds: Crowds) -> None:
    """Errors of the labels against the expected error of ties that are broken at random."""
    differences = []
    for name in ("adult", "dog", "labelme", "rte", "sp", "temp", "trec", "web"):
        crowd = crowds[name]
        vote = MajorityVote().fit(crowd.responses)
        by_chance = error_rate(vote.posteriors_, crowd.truth)
        codes = np.searchsorted(crowd.responses.classes, vote.labels_)
        gold = crowd.truth >= 0
        differences.append(np.mean(codes[gold] != crowd.truth[gold]) - by_chance)
    assert np.mean(differences) < -0.01
    assert max(differences) < 0.01


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
