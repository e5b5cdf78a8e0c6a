"""Sufficient statistics that add up, and ``OneFactor`` on streams."""

import numpy as np
import pytest

from blindfuse import BadParameter, Numbers, OneFactor, simulate_numbers
from blindfuse.numbers.factor_model import fit_factor, item_sums, rating_sums, standardize


@pytest.mark.parametrize("seed", range(3))
def test_statistics_of_partitions_add_up_to_those_of_the_ratings(seed: int) -> None:
    table = simulate_numbers(120, 6, seed=seed).numbers
    _, z, v = fit_factor(table)
    parts = [np.arange(first, 120, 3) for first in range(3)]
    sums = np.sum(
        [rating_sums(table.select_items(part), z[part], v[part]) for part in parts], axis=0
    )
    of_items = np.sum([item_sums(z[part], v[part]) for part in parts], axis=0)
    mean = z.mean()
    deviation = np.sqrt((z**2 + v).mean() - mean**2)
    z, v, item = (z - mean) / deviation, v / deviation**2, table.item_of_rating()
    x, ones = table.values, np.ones(table.n_ratings)
    terms = ones, x, x**2, z[item], (z**2 + v)[item], x * z[item]
    expected = np.column_stack([np.bincount(table.codes, term) for term in terms])
    np.testing.assert_allclose(standardize(sums, of_items), expected, atol=1e-9)


def test_a_stream_learns_what_the_whole_table_teaches() -> None:
    simulation = simulate_numbers(4000, 8, seed=4)
    whole = OneFactor().fit(simulation.numbers)
    stream = OneFactor()
    for first in range(0, 4000, 500):
        stream.partial_fit(simulation.numbers.select_items(np.arange(first, first + 500)))
    assert stream.batches_ == 8
    np.testing.assert_allclose(stream.scale_, whole.scale_, atol=0.05)
    np.testing.assert_allclose(stream.noise_, whole.noise_, atol=0.05)
    np.testing.assert_allclose(whole.noise_, simulation.noise, atol=0.06)
    estimates = stream.predict(simulation.numbers)
    assert np.corrcoef(estimates, whole.values_)[0, 1] > 0.999


def test_new_annotators_may_appear_and_old_ratings_may_be_forgotten() -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(6000, 1))
    early = truth[:3000] + np.array([0.5, 0.5, 2.0]) * rng.normal(size=(3000, 3))
    late = truth[3000:] + np.array([2.0, 0.5, 0.5, 0.5]) * rng.normal(size=(3000, 4))
    stream = OneFactor().fit(Numbers.from_matrix(early, annotators=["a", "b", "c"]))
    for rows in np.split(late, 10):
        batch = Numbers.from_matrix(rows, annotators=["a", "b", "c", "d"])
        stream.partial_fit(batch, forget=300)
    assert stream.annotators_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_allclose(stream.noise_, [2.0, 0.5, 0.5, 0.5], atol=0.2)
    with pytest.raises(BadParameter, match="forget"):
        stream.partial_fit(batch, forget=-1)
