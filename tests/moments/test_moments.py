"""Sample moments and the objective (21)."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from blindfuse import MomentCounts, Responses, simulate
from tests.moments.cases import random_table


def test_moments_are_averages_over_items_labelled_by_all() -> None:
    matrix = np.array([[0, 0, 1], [1, 0, -1], [1, 1, -1], [-1, 1, 1]])
    moments = MomentCounts.count(Responses.from_matrix(matrix)).moments()
    np.testing.assert_allclose(moments.first, np.array([[1 / 3, 2 / 3], [0.5, 0.5], [0, 1]]))
    np.testing.assert_array_equal(moments.items_per_pair, [3, 1, 2])
    np.testing.assert_allclose(moments.second[0], [[1 / 3, 0], [1 / 3, 1 / 3]])
    assert moments.items_per_triple == [1]
    assert moments.third[0, 0, 0, 1] == 1


def test_a_pair_without_common_items_has_weight_zero() -> None:
    matrix = np.array([[0, 1, -1, 0], [1, -1, 0, 1], [1, 1, -1, 0], [0, -1, 1, 0]])
    moments = MomentCounts.count(Responses.from_matrix(matrix)).moments()
    pair = list(combinations(range(4), 2)).index((1, 2))
    assert moments.weights("equal")[1][pair] == moments.weights("counts")[1][pair] == 0
    assert np.isfinite(moments.second).all()
    assert np.isfinite(moments.third).all()


@pytest.mark.parametrize("seed", range(5))
def test_moments_converge_to_those_of_the_model(seed: int) -> None:
    """(13), (14) and (16): at the true model the objective is sampling noise of order 1/N."""
    rng = np.random.default_rng(seed)
    simulation = simulate(200_000, 4, 3, rng, missing=0.2)
    moments = MomentCounts.count(simulation.responses).moments()
    at_truth = moments.objective(simulation.model.confusions, simulation.model.prior)
    shuffled = simulation.model.confusions.copy()
    shuffled[0] = shuffled[0][:, [1, 2, 0]]
    assert at_truth < 1e-4
    assert moments.objective(shuffled, simulation.model.prior) > 100 * at_truth


def test_the_objective_is_half_the_weighted_sum_of_squares() -> None:
    responses = random_table(3, 60, 3, 2, 0.3)
    moments = MomentCounts.count(responses).moments()
    rng = np.random.default_rng(0)
    gamma: NDArray[np.float64] = rng.dirichlet(np.ones(2), size=(3, 2)).transpose(0, 2, 1)
    prior = np.array([0.3, 0.7])
    total = 0.0
    for m in range(3):
        total += moments.items_per_annotator[m] * np.sum((moments.first[m] - gamma[m] @ prior) ** 2)
    for p, (i, j) in enumerate(combinations(range(3), 2)):
        model = gamma[i] @ np.diag(prior) @ gamma[j].T
        total += moments.items_per_pair[p] * np.sum((moments.second[p] - model) ** 2)
    cube = np.zeros((2, 2, 2))
    for k in range(2):
        cube += prior[k] * np.multiply.outer(
            np.outer(gamma[0, :, k], gamma[1, :, k]), gamma[2, :, k]
        )
    total += moments.items_per_triple[0] * np.sum((moments.third[0] - cube) ** 2)
    assert moments.objective(gamma, prior) == pytest.approx(total / 2 / 60)


@pytest.mark.parametrize("seed", range(5))
def test_reordered_moments_are_those_of_reordered_responses(seed: int) -> None:
    responses = simulate(400, 5, 3, np.random.default_rng(seed), missing=0.3).responses
    rng = np.random.default_rng(seed)
    annotators, classes = rng.permutation(5)[:4], rng.permutation(3)
    selected = responses.select_annotators(annotators)
    selected = selected.recoded(selected.annotators, responses.classes[classes])
    reordered = MomentCounts.count(responses).moments().reordered(annotators, classes)
    expected = MomentCounts.count(selected).moments()
    for field in (
        "first",
        "second",
        "third",
        "items_per_annotator",
        "items_per_pair",
        "items_per_triple",
    ):
        np.testing.assert_array_equal(getattr(reordered, field), getattr(expected, field))
