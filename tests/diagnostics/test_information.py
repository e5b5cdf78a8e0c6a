"""Agreement beyond chance: α as in the metrics, and the excess by a loop over pairs."""

from itertools import combinations

import numpy as np
import pytest

from blindfuse import Responses, simulate
from blindfuse.diagnostics.information import measure_information
from blindfuse.metrics import krippendorff_alpha
from tests.support.fusion_cases import clusters, independent, random_clicks


@pytest.mark.parametrize("seed", range(6))
def test_alpha_and_its_interval_are_those_of_the_bootstrap(seed: int) -> None:
    responses = independent(seed, n=300, missing=0.1 * seed).responses
    found = measure_information(responses)
    assert found is not None
    expected = krippendorff_alpha(responses)
    assert found.alpha.value == pytest.approx(expected.value, abs=1e-9)
    assert found.alpha[1:] == pytest.approx(expected[1:], abs=0.02)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_excess_agreement_is_that_of_a_loop_over_pairs(seed: int, missing: float) -> None:
    responses = independent(seed, n=80, m=5, missing=missing).responses
    matrix = responses.matrix()
    paired = matrix[(matrix >= 0).sum(axis=1) >= 2]
    rates = np.array([np.bincount(column[column >= 0], minlength=3) for column in paired.T])
    rates = rates / rates.sum(axis=1, keepdims=True)
    excess, n_pairs = [], []
    for row in paired:
        pairs = list(combinations(np.flatnonzero(row >= 0), 2))
        excess.append(sum((row[i] == row[j]) - rates[i] @ rates[j] for i, j in pairs))
        n_pairs.append(len(pairs))
    mean = sum(excess) / sum(n_pairs)
    deviations = np.array(excess) - mean * np.array(n_pairs)
    error = np.sqrt(np.sum(deviations**2)) / sum(n_pairs)
    found = measure_information(responses)
    assert found is not None
    assert (found.excess, found.excess_low) == pytest.approx((mean, mean - 1.959964 * error))


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("m", [2, 5, 20])
def test_random_clicks_are_rarely_beyond_chance_and_skill_is(share: float, m: int) -> None:
    beyond = []
    for seed in range(60):
        found = measure_information(Responses.from_matrix(random_clicks(seed, 300, m, share)))
        assert found is not None
        beyond.append(found.is_beyond_chance)
        assert ("no more than by chance" in found.summary()) != found.is_beyond_chance
    assert np.mean(beyond) <= 0.1
    for seed in range(5):
        drawn = simulate(300, m, 2, np.random.default_rng(seed), skill=0.5)
        skilled = measure_information(drawn.responses)
        assert skilled is not None
        assert skilled.is_beyond_chance


def test_annotators_with_unlike_rates_agree_beyond_chance_though_alpha_is_low() -> None:
    """One reports the class of a tenth of the items, the other that of nine tenths."""
    position = np.arange(2000) / 2000
    matrix = np.stack([position < 0.1, position < 0.9], axis=1).astype(int)
    found = measure_information(Responses.from_matrix(matrix))
    assert found is not None
    assert found.alpha.low < 0 < found.excess_low
    assert "at different rates" in found.summary()


def test_sources_of_one_class_each_agree_by_chance_though_alpha_is_positive() -> None:
    rng, own = np.random.default_rng(0), np.arange(6) % 2
    truth = rng.integers(2, size=(300, 1))
    fires = rng.random((300, 6)) < np.where(truth == own, 0.6, 0.1)
    found = measure_information(Responses.from_matrix(np.where(fires, own, -1)))
    assert found is not None
    assert not found.is_beyond_chance
    assert found.alpha.low > 0
    assert "different rates; given those, they agree no more than by chance" in found.summary()


def test_abstentions_do_not_count() -> None:
    responses = independent(0, missing=0.5).responses
    found, plain = map(measure_information, (responses.with_abstentions(), responses))
    assert found is not None
    assert plain is not None
    assert found.alpha == pytest.approx(plain.alpha)
    assert (found.excess, found.excess_low) == pytest.approx(
        (plain.excess, plain.excess_low), rel=0.01
    )


def test_without_pairs_there_is_nothing_to_compare() -> None:
    assert measure_information(Responses.from_matrix([[0, -1], [-1, 1]])) is None
    assert measure_information(clusters(0)) is None
