"""BayesianDawidSkene."""

import numpy as np

from blindfuse import BayesianDawidSkene


def test_an_annotator_without_responses_has_the_prior_mean() -> None:
    table = np.full((3, 4), -1)
    table[:, :3] = [[0, 0, 0], [1, 1, 1], [0, 0, 1]]
    silent = (
        BayesianDawidSkene(diagonal_pseudo_count=4, off_diagonal_pseudo_count=1)
        .fit(table)
        .model_.confusions[3]
    )
    np.testing.assert_allclose(silent, [[0.8, 0.2], [0.2, 0.8]])
