"""MACE."""

import numpy as np
import pytest

from blindfuse import MACE


@pytest.mark.parametrize("seed", range(3))
def test_competence_and_guess_probabilities_are_recovered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    competence = rng.uniform(0.2, 0.95, size=8)
    habits = rng.dirichlet(np.ones(3), size=8)
    truth = rng.integers(3, size=20_000)
    columns = [
        np.where(rng.random(20_000) < c, truth, rng.choice(3, size=20_000, p=habit))
        for c, habit in zip(competence, habits, strict=True)
    ]
    fitted = MACE().fit(np.column_stack(columns))
    np.testing.assert_allclose(fitted.competence_, competence, atol=0.03)
    np.testing.assert_allclose(
        fitted.guess_probabilities_[competence < 0.7], habits[competence < 0.7], atol=0.05
    )
