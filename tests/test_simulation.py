"""Simulated responses follow the parameters."""

import doctest

import numpy as np
import pytest

import blindfuse.simulation
from blindfuse import BadParameter, simulate
from blindfuse.simulation import draw_confusions


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("skill", [0.0, 0.5, 1.0])
def test_annotators_are_better_than_random(seed: int, skill: float) -> None:
    confusions = draw_confusions(50, 4, np.random.default_rng(seed), skill)
    np.testing.assert_allclose(confusions.sum(axis=1), 1)
    assert np.all(np.einsum("mkk->mk", confusions) >= confusions.max(axis=1))
    if skill == 1:
        np.testing.assert_array_equal(confusions, np.tile(np.eye(4), (50, 1, 1)))


def test_docstring_examples() -> None:
    assert doctest.testmod(blindfuse.simulation, raise_on_error=True).attempted > 0


def test_responses_follow_the_prior_and_the_confusion_matrices() -> None:
    simulation = simulate(300_000, 3, 3, np.random.default_rng(1), prior=[0.6, 0.3, 0.1])
    np.testing.assert_allclose(np.bincount(simulation.truth) / 300_000, [0.6, 0.3, 0.1], atol=0.005)
    matrix = simulation.responses.matrix()
    for m in range(3):
        for k in range(3):
            shares = np.bincount(matrix[simulation.truth == k, m], minlength=3)
            np.testing.assert_allclose(
                shares / shares.sum(), simulation.model.confusions[m, :, k], atol=0.01
            )


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.9, 0.999, 1.0])
def test_the_share_of_missing_responses(missing: float) -> None:
    simulation = simulate(20_000, 20, 2, np.random.default_rng(2), missing=missing)
    share = 1 - simulation.responses.n_responses / 400_000
    assert share == pytest.approx(missing, abs=4 * (missing * (1 - missing) / 400_000) ** 0.5)
    assert simulation.responses.repeated == 0


def test_responses_are_missing_at_random() -> None:
    labelled = simulate(50_000, 4, 2, np.random.default_rng(3), missing=0.5).responses.matrix() >= 0
    np.testing.assert_allclose(labelled[:25_000].mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(labelled[25_000:].mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(labelled.T) - np.eye(4), 0, atol=0.02)


def test_adversaries_have_their_largest_entries_off_the_diagonal() -> None:
    model = simulate(1, 10, 3, np.random.default_rng(4), adversaries=0.4).model
    diagonal_is_largest = np.einsum("mkk->mk", model.confusions) >= model.confusions.max(axis=1)
    assert diagonal_is_largest.all(axis=1).tolist() == [True] * 6 + [False] * 4


def test_copiers_agree_more_often_than_conditionally_independent_annotators() -> None:
    rng = np.random.default_rng(5)
    simulation = simulate(
        100_000,
        5,
        3,
        rng,
        skill=0.3,
        dependent_groups=[(0, 1, 2)],
        copy_probability=0.8,
        missing=0.1,
    )
    matrix, confusions = simulation.responses.matrix(), simulation.model.confusions
    for i, j in [(0, 1), (1, 2), (3, 4), (0, 3)]:
        both = (matrix[:, i] >= 0) & (matrix[:, j] >= 0)
        agreement = (matrix[both, i] == matrix[both, j]).mean()
        independent = np.einsum("ak,ak,k->", confusions[i], confusions[j], simulation.model.prior)
        assert (agreement > independent + 0.05) == (j <= 2)
    for m in range(3):
        labelled = matrix[:, m] >= 0
        accuracy = (matrix[labelled, m] == simulation.truth[labelled]).mean()
        assert accuracy == pytest.approx(simulation.model.accuracies[m], abs=0.01)


def test_the_result_depends_only_on_the_generator() -> None:
    first, same, other = (
        simulate(50, 4, 3, np.random.default_rng(seed), missing=0.3).responses.matrix()
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "parameter",
    [
        {"skill": 1.5},
        {"missing": -0.1},
        {"adversaries": 2},
        {"copy_probability": 7},
        {"prior": [1, 2, 3]},
    ],
)
def test_parameters_outside_their_range_are_refused(parameter: dict[str, float]) -> None:
    with pytest.raises(BadParameter, match=next(iter(parameter))):
        simulate(10, 3, 2, np.random.default_rng(0), **parameter)  # type: ignore[arg-type]
