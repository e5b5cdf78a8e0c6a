"""OrdinalDawidSkene."""

import numpy as np
import pytest
from scipy.stats import norm

from blindfuse import DawidSkene, OrdinalDawidSkene
from blindfuse.estimators.em import make_e_step
from blindfuse.estimators.ordinal_dawid_skene import (
    BIASES,
    GUESS_SHARES,
    NOISES,
    type_confusions,
)
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import count_votes
from experiments.ordinal_crowds import ordinal_crowd


@pytest.mark.parametrize("n_classes", [2, 3, 5, 11])
def test_types_are_confusion_matrices(n_classes: int) -> None:
    types = type_confusions(n_classes)
    np.testing.assert_allclose(types.sum(axis=1), 1)
    assert types.min() >= 0


def test_a_type_that_perceives_with_noise_written_out() -> None:
    types = type_confusions(4)
    at = 0
    for bias in BIASES:
        for noise in NOISES:
            for guesses in GUESS_SHARES:
                for true in range(4):
                    perceived = norm(true + bias, noise)
                    cuts = [0.0, *(perceived.cdf(a + 0.5) for a in range(3)), 1.0]
                    expected = (1 - guesses) * np.diff(cuts) + guesses / 4
                    np.testing.assert_allclose(types[at, :, true], expected, atol=1e-12)
                at += 1


@pytest.mark.parametrize("seed", range(4))
def test_better_than_without_the_order_where_perception_is_noisy(seed: int) -> None:
    drawn = ordinal_crowd("noise", 800, 20, seed)
    errors = [
        error_rate(method.fit(drawn.responses).posteriors_, drawn.truth)
        for method in (OrdinalDawidSkene(), DawidSkene())
    ]
    assert errors[0] <= errors[1]
    oracle = error_rate(drawn.model.posteriors(drawn.responses), drawn.truth)
    assert errors[0] <= 1.25 * oracle + 0.005


@pytest.mark.parametrize("seed", range(4))
def test_biases_are_found(seed: int) -> None:
    drawn = ordinal_crowd("noise", 2000, 15, seed)
    position = np.arange(5)
    shift = np.einsum("mak,a->mk", drawn.model.confusions, position) - position
    fitted = OrdinalDawidSkene().fit(drawn.responses)
    np.testing.assert_allclose(fitted.biases_, shift @ drawn.model.prior, atol=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_the_variational_bound_rises_in_every_iteration(seed: int) -> None:
    responses = ordinal_crowd("distance", 300, 30, seed).responses
    method, expected = OrdinalDawidSkene(), count_votes(responses)
    method._initialize_m_step(responses.annotators, responses.alphabet, expected)
    e_step, bounds = make_e_step(responses), []
    for _ in range(40):
        parameters = method._m_step(expected)
        expected = e_step(parameters)
        bounds.append(expected.log_likelihood + parameters.log_prior)
    assert np.all(np.diff(bounds) > -method.tolerance * responses.n_responses)
