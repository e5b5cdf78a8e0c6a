import numpy as np
import pytest

from blindfuse import BlindEnsemble, MomentCounts, simulate
from experiments.numpy_algorithm1 import NumpyAlgorithm1


@pytest.mark.parametrize(("classes", "annotators"), [(2, 4), (3, 5), (4, 6)])
def test_two_independent_implementations_agree(classes: int, annotators: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, classes])
        responses = simulate(3000, annotators, classes, rng, skill=0.5).responses
        reference = NumpyAlgorithm1(tolerance=1e-8, max_sweeps=3000).fit(responses)
        library = BlindEnsemble(shrinkage=None, tolerance=1e-8).fit(responses)
        moments = MomentCounts.count(responses).moments()
        objectives = [
            moments.objective(fitted.model_.confusions, fitted.model_.prior)
            for fitted in (reference, library)
        ]
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-4)
        np.testing.assert_allclose(
            reference.model_.confusions, library.model_.confusions, atol=0.01
        )
        np.testing.assert_allclose(reference.posteriors_, library.posteriors_, atol=0.02)
