"""Sufficient statistics that add up, and ``OneFactor`` on streams."""

import numpy as np
import pytest

from blindfuse import BadParameter, Numbers, OneFactor, simulate_numbers
from blindfuse.numbers.annotator_fit import initial_fit
from blindfuse.numbers.factor_em import FactorStatistics, e_step, fit_factor, maximize


def test_statistics_of_partitions_add_up_to_those_of_the_table() -> None:
    table = simulate_numbers(300, 6, seed=0).numbers
    fit = fit_factor(table).annotators

    def statistics(part: Numbers) -> FactorStatistics:
        return e_step(part, fit)[2]

    whole = statistics(table)
    parts = [statistics(table.select_items(np.arange(first, 300, 3))) for first in range(3)]
    total = parts[2] + parts[0] + parts[1]
    np.testing.assert_allclose(total.sums, whole.sums)
    np.testing.assert_allclose(total.totals, whole.totals)
    np.testing.assert_allclose(maximize(total, fit).scale, maximize(whole, fit).scale)
    assert total.discounted(0.5).sums.sum() == pytest.approx(0.5 * whole.sums.sum())


def test_statistics_of_different_annotators_are_matched_by_name() -> None:
    table = simulate_numbers(50, 4, seed=1).numbers
    fit = initial_fit(4)
    others = np.array([3, 2, 9, 8])
    renamed = Numbers(table.items, others, table.by_item)
    (_, _, one), (_, _, other) = e_step(table, fit), e_step(renamed, fit)
    total = one + other
    assert total.annotators.tolist() == [0, 1, 2, 3, 9, 8]
    np.testing.assert_allclose(total.sums[3], one.sums[3] + other.sums[0])
    np.testing.assert_allclose(total.sums[4], other.sums[2])


def test_rescaled_statistics_are_those_of_rescaled_ratings() -> None:
    table = simulate_numbers(50, 4, seed=2).numbers
    z, _, statistics = e_step(table, initial_fit(4))
    _n, _u, x, xx, _zs, _zz, xz = statistics.rescaled(3.0, -1.0).sums.T
    values, item = 3 * table.values - 1, table.item_of_rating()
    np.testing.assert_allclose(x, np.bincount(table.codes, values))
    np.testing.assert_allclose(xx, np.bincount(table.codes, values**2))
    np.testing.assert_allclose(xz, np.bincount(table.codes, values * z[item]))


def test_normalized_statistics_are_those_of_standardised_z() -> None:
    table = simulate_numbers(80, 5, seed=3).numbers
    z, v, statistics = e_step(table, initial_fit(5))
    mean = z.mean()
    deviation = np.sqrt((z**2 + v).mean() - mean**2)
    z, v, item = (z - mean) / deviation, v / deviation**2, table.item_of_rating()
    sums = statistics.normalized().sums
    np.testing.assert_allclose(sums[:, 4], np.bincount(table.codes, z[item]), atol=1e-9)
    np.testing.assert_allclose(sums[:, 5], np.bincount(table.codes, (z**2 + v)[item]))
    np.testing.assert_allclose(sums[:, 6], np.bincount(table.codes, table.values * z[item]))


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


def test_merged_estimators_know_what_both_learned() -> None:
    table = simulate_numbers(4000, 8, seed=5).numbers
    first = OneFactor().fit(table.select_items(np.arange(1000)))
    second = OneFactor().fit(table.select_items(np.arange(1000, 4000)))
    whole = OneFactor().fit(table)
    merged = first.merge(second)
    assert merged.batches_ == 2
    np.testing.assert_allclose(merged.scale_, whole.scale_, atol=0.03)
    np.testing.assert_allclose(merged.bias_, whole.bias_, atol=0.05)
    with pytest.raises(BadParameter, match="no batch"):
        merged.merge(OneFactor())


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
