"""Annotators who repeat each other, and ties of the vote."""

import numpy as np
import pytest

from blindfuse import Responses, fuse, simulate
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.fusion.pooled_model import fit_pooled_model
from blindfuse.fusion.repetition import find_repetition, is_clearly_a_group


def copied_crowd(seed: int, n: int = 800, copies: int = 4, others: int = 3) -> np.ndarray:
    """``others`` independent annotators, then one with ``copies`` who copy nine in ten."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, others + 1)) < 0.55
    matrix = np.where(right, truth[:, None], rng.integers(3, size=(n, others + 1)))
    source = matrix[:, [-1]]
    noise = rng.random((n, copies)) < 0.07
    return np.hstack([matrix, np.where(noise, rng.integers(3, size=(n, copies)), source)])


def test_kappa_is_cohens() -> None:
    matrix = copied_crowd(0)
    kappa, n_common = count_pairs(Responses.from_matrix(matrix)).chance_corrected_agreement
    one, other = matrix[:, 0], matrix[:, 4]
    chance = sum(np.mean(one == k) * np.mean(other == k) for k in range(3))
    expected = (np.mean(one == other) - chance) / (1 - chance)
    assert kappa[0, 4] == pytest.approx(expected) == pytest.approx(kappa[4, 0])
    assert n_common[0, 4] == len(matrix)
    assert np.isnan(np.diag(kappa)).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_majority_of_copies_is_found_and_left_to_the_vote(seed: int) -> None:
    responses = Responses.from_matrix(copied_crowd(seed))
    found = find_repetition(responses, count_pairs(responses))
    assert found is not None
    np.testing.assert_array_equal(np.flatnonzero(found.repeating), [3, 4, 5, 6, 7])
    assert found.inside > 0.7 > found.outside
    assert "repeat each other" in found.describe()
    assert fuse(responses).method == "MajorityVote"


@pytest.mark.parametrize("seed", range(4))
def test_experts_do_not_repeat_each_other(seed: int) -> None:
    """They agree as much as copies do, but the others agree with them accordingly."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=1000)
    skills = np.array([0.97, 0.97, 0.97, 0.97, 0.6, 0.6, 0.6])
    right = rng.random((1000, 7)) < skills
    matrix = np.where(right, truth[:, None], rng.integers(3, size=(1000, 7)))
    responses = Responses.from_matrix(matrix)
    assert find_repetition(responses, count_pairs(responses)) is None


@pytest.mark.parametrize("seed", range(4))
def test_independent_annotators_do_not_repeat_each_other(seed: int) -> None:
    drawn = simulate(1000, 9, 3, np.random.default_rng(seed), skill=0.2)
    pairs = count_pairs(drawn.responses)
    assert find_repetition(drawn.responses, pairs) is None


def test_a_large_group_must_agree_far_more_than_others() -> None:
    matrix = copied_crowd(0, copies=3, others=6)
    responses = Responses.from_matrix(matrix)
    pairs = count_pairs(responses)
    assert is_clearly_a_group(responses, pairs, (6, 7, 8, 9))
    assert not is_clearly_a_group(responses, pairs, (0, 1, 2, 3))
    assert is_clearly_a_group(responses, pairs, (0, 1))


def test_ties_go_against_a_class_that_is_reported_too_often() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=3000)
    too_often = np.where(truth[:, None] == 1, rng.random((3000, 4)) < 0.5, True)
    matrix = np.where(too_often, 0, 1)
    matrix[truth == 0] = np.where(rng.random((np.sum(truth == 0), 4)) < 0.03, 1, 0)
    votes = np.stack([(matrix == k).sum(axis=1) for k in range(2)], axis=1).astype(float)
    model = fit_pooled_model(votes)
    assert model.posteriors(np.array([[2.0, 2.0]]))[0, 1] > 0.9
    np.testing.assert_allclose(model.confusion.sum(axis=0), 1)
    assert model.confusion[0, 1] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"]])
def test_two_annotators_are_treated_alike(names: list[str]) -> None:
    """Nobody can say who of two is better, so neither of them may win all ties."""
    rng = np.random.default_rng(2)
    truth = rng.integers(4, size=2000)
    right = rng.random((2000, 2)) < [0.9, 0.5]
    matrix = np.where(right, truth[:, None], rng.integers(4, size=(2000, 2)))
    fusion = fuse(Responses.from_matrix(matrix, annotators=names))
    tied = matrix[:, 0] != matrix[:, 1]
    assert 0.3 < np.mean(fusion.labels[tied] == matrix[tied, 0]) < 0.7
