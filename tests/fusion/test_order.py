"""The order of rows, annotators and classes, their names and the seed do not change the result."""

import numpy as np
import pytest

from blindfuse import Responses, fuse
from blindfuse.responses.coding import positions
from experiments.calibration_tables import KINDS
from tests.conftest import Crowds
from tests.support.fusion_cases import independent, pairs_of
from tests.support.shuffling import shuffle

QUICK = ("barzan", "bird", "rte", "temp", "ws_youtube", "zc_in")


def assert_order_does_not_matter(responses: Responses, seeds: range) -> None:
    expected = fuse(responses)
    labels = positions(expected.labels, responses.classes)
    for seed in seeds:
        other = shuffle(responses, seed)
        found = fuse(other.responses, seed=seed)
        np.testing.assert_array_equal(other.restore(found.labels), labels)
        posteriors = np.empty_like(found.posteriors)
        posteriors[np.ix_(other.items, other.classes)] = found.posteriors
        np.testing.assert_allclose(posteriors, expected.posteriors, atol=1e-7)
        assert found.why == expected.why
        assert str(found.expected_error) == str(expected.expected_error)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "independent"])
def test_generated_tables(kind: str) -> None:
    for seed in range(2):
        responses, _ = KINDS[kind](np.random.default_rng(seed))
        few = responses.select_items(np.arange(min(500, responses.n_items)))
        assert_order_does_not_matter(few, range(1))


@pytest.mark.parametrize("seed", range(12))
def test_small_tables_full_of_ties(seed: int) -> None:
    """Classes are not reported equally often; if they were, nothing could prefer one of them."""
    rng = np.random.default_rng(seed)
    n, m, K = int(rng.integers(5, 40)), int(rng.integers(1, 7)), int(rng.integers(2, 5))
    matrix = rng.integers(-1, K, size=(n, m))
    if seed % 2:
        truth = rng.integers(K, size=n)
        matrix = np.where(rng.random((n, m)) < 0.5, truth[:, None], matrix)
    alone = np.repeat(np.arange(K), 3 * n * np.arange(1, K + 1))  # unlike numbers of responses
    rows = np.full((len(alone), m), -1)
    rows[:, 0] = alone
    responses = Responses.from_matrix(np.vstack([matrix, rows]), classes=range(K))
    assert_order_does_not_matter(responses, range(2))


@pytest.mark.parametrize("seed", range(3))
def test_two_responses_per_item(seed: int) -> None:
    drawn = independent(seed, m=12, missing=0.0)
    assert_order_does_not_matter(pairs_of(drawn, seed), range(2))


@pytest.mark.parametrize("name", QUICK)
def test_public_crowds(crowds: Crowds, name: str) -> None:
    assert_order_does_not_matter(crowds[name].responses, range(1))
