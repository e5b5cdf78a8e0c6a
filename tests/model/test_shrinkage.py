"""Shrinkage of confusion matrices: by pseudo-counts, or by the learned prior."""

import numpy as np
import pytest

from blindfuse import Responses
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import (
    LearnedShrinkage,
    PseudoCounts,
    ShrinkageOption,
    make_shrinkage,
    pooled_pseudo_counts,
    vote_confusions,
)


def test_shrinking_is_adding_pseudo_counts() -> None:
    counts = np.random.default_rng(0).integers(0, 20, size=(5, 3, 3)).astype(float)
    pseudo = pooled_pseudo_counts(counts, 4.0)
    mixed = counts + pseudo
    np.testing.assert_allclose(
        make_shrinkage(4.0, counts).shrink(counts), mixed / mixed.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(pseudo.sum(axis=0), 4.0)


def test_the_log_density_of_pseudo_counts_written_out() -> None:
    rng = np.random.default_rng(1)
    pseudo, confusions = rng.random((3, 3)), rng.dirichlet(np.ones(3), size=(4, 3))
    expected = sum(
        pseudo[cell[1:]] * np.log(confusions[cell]) for cell in np.ndindex(confusions.shape)
    )
    assert PseudoCounts(pseudo).log_density(confusions) == pytest.approx(expected)


def test_an_annotator_without_responses_gets_the_pooled_matrix() -> None:
    counts = np.zeros((3, 2, 2))
    counts[:2] = np.array([[30, 5], [10, 25]])
    result = make_shrinkage(1.0, counts).shrink(counts)
    np.testing.assert_allclose(result[2], [[0.75, 1 / 6], [0.25, 5 / 6]], atol=0.01)


@pytest.mark.parametrize("option", ["learned", 1.0])
def test_no_probability_is_zero_even_for_classes_without_data(option: ShrinkageOption) -> None:
    counts = np.zeros((4, 3, 3))
    counts[:, 0, 0] = 10
    shrunk = make_shrinkage(option, counts).shrink(counts)
    assert shrunk.min() > 0
    np.testing.assert_allclose(shrunk.sum(axis=1), 1)


def test_without_shrinkage_columns_are_shares_and_empty_ones_uniform() -> None:
    counts = np.array([[[3.0, 0.0], [1.0, 0.0]]])
    np.testing.assert_allclose(
        make_shrinkage(None, counts).shrink(counts), [[[0.75, 0.5], [0.25, 0.5]]]
    )


def test_learned_shrinkage_updates_the_skills() -> None:
    """Counts of a much better crowd move the skills, and with them the confusion matrices."""
    poor = np.tile(np.array([[6.0, 4.0], [4.0, 6.0]]), (10, 1, 1))
    better = np.tile(np.array([[60.0, 2.0], [2.0, 60.0]]), (10, 1, 1))
    shrinkage = make_shrinkage("learned", poor)
    assert isinstance(shrinkage, LearnedShrinkage)
    before = shrinkage.skills.copy()
    shrinkage.shrink(better)
    assert np.all(shrinkage.skills > before)


def test_vote_confusions_take_the_majority_vote_for_the_truth() -> None:
    matrix = np.array([[0, 0, 0, 1]] * 60 + [[1, 1, 1, 1]] * 40)
    confusions = vote_confusions(count_votes(Responses.from_matrix(matrix)).counts)
    np.testing.assert_allclose(confusions[0], np.eye(2), atol=0.02)
    np.testing.assert_allclose(confusions[3], [[0, 0], [1, 1]], atol=0.02)
