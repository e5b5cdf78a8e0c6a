"""The conditions of Lemma 1: ranks, shared items and rare classes."""

import numpy as np

from blindfuse import Model, Responses, diagnose, simulate


def test_components_ranks_and_rare_classes() -> None:
    simulation = simulate(1000, 6, 3, np.random.default_rng(0), prior=[0.6, 0.39, 0.01], skill=0.4)
    matrix = np.array(simulation.responses.matrix())
    matrix[:500, :3] = -1
    matrix[500:, 3:] = -1
    responses = Responses.from_matrix(matrix, classes=[0, 1, 2])
    model = simulation.model
    found = diagnose(responses, model, model.posteriors(responses)).identifiability
    assert found.n_components == 2
    assert found.rare_classes.tolist() == [2]
    assert found.n_full_rank == 6
    assert not found.holds
    assert "2 groups" in found.summary()
    assert "Fewer than 30 expected items" in found.summary()


def test_similar_columns_lower_the_rank() -> None:
    rank_two = np.array([[0.5, 0.5, 0.1], [0.4, 0.4, 0.1], [0.1, 0.1, 0.8]])
    full_rank = 0.7 * np.eye(3) + 0.1
    model = Model(
        np.array([rank_two, full_rank, full_rank, full_rank]),
        np.full(3, 1 / 3),
        np.arange(4),
        np.arange(3),
    )
    responses = simulate(100, 4, 3, np.random.default_rng(0)).responses
    found = diagnose(responses, model, model.posteriors(responses)).identifiability
    assert (found.n_full_rank, found.n_components, found.holds) == (3, 1, True)
