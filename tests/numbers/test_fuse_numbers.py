"""``fuse_numbers`` on families of tables: it estimates well, says how, and never returns NaN."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from blindfuse import BadLabels, BadParameter, NumberFusion, Numbers, fuse_numbers, simulate_numbers
from blindfuse.numbers.fuse_numbers import METHODS

Floats = NDArray[np.float64]


def relative_error(estimates: Floats, truth: Floats) -> float:
    """RMSE after the best linear map, in units of the truth: location and scale are unknown."""
    return float(np.sqrt(1 - np.corrcoef(estimates, truth)[0, 1] ** 2))


def assert_finite(fusion: NumberFusion) -> None:
    for array in (
        *(fusion.values, fusion.low, fusion.high, fusion.standard_errors),
        *(fusion.annotators.bias, fusion.annotators.scale, fusion.annotators.noise),
        fusion.annotators.reliability,
    ):
        assert np.isfinite(array).all()
    assert (fusion.low <= fusion.values).all()
    assert (fusion.values <= fusion.high).all()
    assert "nan" not in fusion.summary().replace("annan", "")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_annotators", [5, 12, 50])
def test_the_error_is_close_to_that_of_the_oracle_and_intervals_cover(
    n_annotators: int, seed: int
) -> None:
    simulation = simulate_numbers(1000, n_annotators, seed=seed)
    fusion = fuse_numbers(simulation.numbers)
    assert_finite(fusion)
    oracle = relative_error(simulation.oracle()[0], simulation.truth)
    assert relative_error(fusion.values, simulation.truth) < 1.05 * oracle
    slope, intercept = np.polyfit(fusion.values, simulation.truth, 1)
    low, high = intercept + slope * fusion.low, intercept + slope * fusion.high
    covered = np.mean((low <= simulation.truth) & (simulation.truth <= high))
    assert 0.92 < covered < 0.98


def test_bias_scale_and_noise_are_recovered() -> None:
    simulation = simulate_numbers(5000, 12, seed=3)
    fusion = fuse_numbers(simulation.numbers)
    _slope, intercept = np.polyfit(simulation.truth, fusion.values, 1)
    rated = fusion.annotators
    np.testing.assert_allclose(rated.noise, simulation.noise, atol=0.06)
    # The estimates shrink towards the mean, so that their slope on the truth is below their unit.
    useful = simulation.scale > 0
    ratio = rated.scale[useful] / simulation.scale[useful]
    assert ratio.std() / ratio.mean() < 0.05
    assert (rated.scale[simulation.scale < 0] < 0).all()
    assert (rated.reliability[simulation.scale == 0] < 0.02).all()
    expected = simulation.bias - intercept
    np.testing.assert_allclose(rated.bias, expected, atol=0.1)
    flags = np.array(rated.flags)
    assert set(flags[simulation.scale == 0]) == {"unreliable"}
    assert set(flags[simulation.scale < 0]) == {"reversed"}


@pytest.mark.parametrize("seed", range(3))
def test_the_result_depends_neither_on_order_nor_on_names(seed: int) -> None:
    rng = np.random.default_rng(seed)
    simulation = simulate_numbers(150, 9, seed=seed)
    table = simulation.numbers
    items, codes, values = table.item_of_response(), table.codes, table.values
    expected = fuse_numbers(items, codes, values)
    order = rng.permutation(len(items))
    item_names = np.array([f"i{n}" for n in rng.permutation(table.n_items)])
    names = np.array([f"a{m}" for m in rng.permutation(table.n_annotators)])
    shuffled = fuse_numbers(item_names[items][order], names[codes][order], values[order])
    assert shuffled.method == expected.method
    place = {name: at for at, name in enumerate(shuffled.items)}
    at = [place[item_names[n]] for n in expected.items]
    for attribute in ("values", "low", "high"):
        np.testing.assert_array_equal(
            getattr(shuffled, attribute)[at], getattr(expected, attribute)
        )
    place = {name: at for at, name in enumerate(shuffled.annotators.names)}
    at = [place[names[m]] for m in expected.annotators.names]
    np.testing.assert_array_equal(shuffled.annotators.noise[at], expected.annotators.noise)
    np.testing.assert_array_equal(fuse_numbers(items, codes, values).values, expected.values)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_follows_a_change_of_units(method: str) -> None:
    table = simulate_numbers(200, 8, seed=1).numbers
    base = fuse_numbers(table, method=method)
    moved = table.with_values(1e9 + 1000 * table.values)
    other = fuse_numbers(moved, method=method)
    scale = 1000 * base.values.std()
    np.testing.assert_allclose(other.values, 1e9 + 1000 * base.values, atol=2e-4 * scale)
    np.testing.assert_allclose(other.standard_errors, 1000 * base.standard_errors, rtol=2e-3)
    np.testing.assert_allclose(other.annotators.noise, 1000 * base.annotators.noise, rtol=2e-3)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize(
    "matrix",
    [
        [[3.0]],
        [[1.0, 2.0, 3.0]],
        [[1.0], [2.0], [4.0]],
        [[1.0, 2.0], [2.0, 3.0], [5.0, 5.0]],
        np.full((6, 4), 7.0),
        np.column_stack([np.arange(30.0), np.arange(30.0), np.full(30, 2.0)]),
        np.where(np.eye(12, dtype=bool), 3.0, np.nan),
        np.vstack([np.full(4, np.nan), np.arange(16.0).reshape(4, 4)]),
        [[np.nan, 1.0, 2.0], [np.nan, 4.0, 3.0]],
    ],
    ids=[
        *("one rating", "one item", "one annotator", "two annotators", "all equal", "constant"),
        *("no overlap", "an unrated item", "an inactive annotator"),
    ],
)
def test_tiny_and_degenerate_tables_give_finite_results(matrix: object, method: str) -> None:
    assert_finite(fuse_numbers(np.asarray(matrix), method=method))


def test_constant_annotators_are_reported_and_do_not_harm() -> None:
    simulation = simulate_numbers(500, 8, useless=0, reversed_share=0, seed=2)
    matrix = np.column_stack([simulation.numbers.matrix(), np.full((500, 2), 40.0)])
    fusion = fuse_numbers(matrix)
    assert fusion.annotators.flags[-2:] == ("constant", "constant")
    assert "gives every item the same rating" in fusion.summary()
    oracle = relative_error(simulation.oracle()[0], simulation.truth)
    assert relative_error(fusion.values, simulation.truth) < 1.1 * oracle


@pytest.mark.parametrize("seed", range(3))
def test_outliers_do_not_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    simulation = simulate_numbers(600, 10, useless=0, reversed_share=0, missing=0.2, seed=seed)
    matrix = simulation.numbers.matrix()
    wild = rng.random(matrix.shape) < 0.05
    matrix[wild] += 50 * rng.standard_cauchy(wild.sum())
    fusion = fuse_numbers(matrix)
    assert_finite(fusion)
    mean = relative_error(np.nanmean(matrix, axis=1), simulation.truth)
    oracle = relative_error(simulation.oracle()[0], simulation.truth)
    assert relative_error(fusion.values, simulation.truth) < min(0.6 * mean, 2 * oracle)


def test_many_annotators_with_few_ratings_are_shrunk_towards_the_crowd() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    items = np.repeat(np.arange(400), 5)
    annotators = rng.integers(0, 700, 2000)
    values = truth[items] + rng.normal(size=2000)
    fusion = fuse_numbers(items, annotators, values)
    assert_finite(fusion)
    mean = np.bincount(items, values) / 5
    assert relative_error(fusion.values, truth) <= 1.02 * relative_error(mean, truth)
    assert abs(np.median(fusion.annotators.noise) - 1) < 0.25


def test_the_mean_is_used_where_annotators_are_alike() -> None:
    chosen = [
        fuse_numbers(np.add.outer(truth, np.zeros(5)) + rng.normal(size=(200, 5))).method
        for rng in map(np.random.default_rng, range(8))
        for truth in [rng.normal(size=200)]
    ]
    assert chosen.count("mean") >= 6


@pytest.mark.parametrize("n_annotators", [2, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_a_tenfold_scale_is_named_and_costs_nothing(n_annotators: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.normal(5, 1.5, 200)
    matrix = truth[:, None] + rng.normal(size=(200, n_annotators))
    expected = fuse_numbers(matrix)
    matrix[:, 0] *= 10
    fusion = fuse_numbers(matrix)
    note = next(note for note in fusion.notes if "another scale" in note)
    assert " 0" in note
    errors = [one.values - truth for one in (expected, fusion)]
    if n_annotators > 2:  # of two, nobody can say whose scale is right
        assert np.sqrt(np.mean(errors[1] ** 2)) < 1.1 * np.sqrt(np.mean(errors[0] ** 2)) + 0.02
        assert not [note for note in expected.notes if "scale" in note]
    found = relative_error(fusion.values, truth), relative_error(expected.values, truth)
    assert found[0] < 1.05 * found[1]


def test_copies_count_as_one_annotator() -> None:
    simulation = simulate_numbers(800, 6, useless=0, reversed_share=0, seed=5)
    matrix = simulation.numbers.matrix()
    copied = np.column_stack([matrix, matrix[:, [0, 0, 0]] + 1e-3])
    fusion = fuse_numbers(copied)
    assert fusion.copies.groups == ((0, 6, 7, 8),)
    assert [note for note in fusion.notes if "count as one annotator" in note]
    alone = fuse_numbers(matrix)
    assert not alone.copies.groups
    assert relative_error(fusion.values, simulation.truth) < 1.02 * relative_error(
        alone.values, simulation.truth
    )


@pytest.mark.parametrize("seed", range(4))
def test_noisy_copies_do_not_pass_for_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=400)
    noise = np.array([0.4, 0.7, 1.2, 0.6, 0.8])
    matrix = truth[:, None] + noise * rng.normal(size=(400, 5))
    copied = np.column_stack([matrix, matrix[:, 0] + 0.08 * rng.normal(size=400)])
    copied[rng.random(copied.shape) < 0.3] = np.nan
    fusion = fuse_numbers(copied)
    assert fusion.copies.groups == ((0, 5),)
    assert "most in 0, 5 (1.00)" in fusion.copies.summary()
    assert np.mean((fusion.low <= truth) & (truth <= fusion.high)) > 0.88
    # If the copies confirmed each other, their noise would be that of copying, 0.06.
    assert (fusion.annotators.noise[[0, 5]] > 0.25).all()


@pytest.mark.parametrize("seed", range(6))
def test_precise_or_independent_annotators_are_not_taken_for_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = np.array([0.1, 0.1, 1.0, 1.0, 1.0, 1.0])
    precise = rng.normal(size=(300, 1)) + noise * rng.normal(size=(300, 6))
    assert not fuse_numbers(precise).copies.groups
    independent = fuse_numbers(simulate_numbers(400, 12, seed=seed).numbers).copies
    assert len(independent.pairs) <= 1
    assert not independent.groups


def test_gold_values_calibrate_the_scale_and_are_held_fixed() -> None:
    simulation = simulate_numbers(1000, 10, seed=6)
    truth = 300 + 40 * simulation.truth
    gold = dict(enumerate(truth[:100].tolist()))
    fusion = fuse_numbers(simulation.numbers, gold=gold)
    np.testing.assert_array_equal(fusion.values[:100], truth[:100])
    np.testing.assert_array_equal(fusion.low[:100], fusion.high[:100])
    error = np.sqrt(np.mean((fusion.values[100:] - truth[100:]) ** 2))
    _posterior, variance = simulation.oracle()
    assert error < 1.06 * 40 * np.sqrt(variance.mean())
    covered = (fusion.low[100:] <= truth[100:]) & (truth[100:] <= fusion.high[100:])
    assert 0.92 < covered.mean() < 0.98
    new = fusion.predict(simulation.numbers)
    np.testing.assert_allclose(new[100:], fusion.values[100:], rtol=1e-3)
    one = fuse_numbers(simulation.numbers, gold={0: float(truth[0])})
    assert_finite(one)


def test_bad_gold_values_and_methods_are_refused() -> None:
    table = simulate_numbers(20, 4).numbers
    with pytest.raises(BadLabels, match="Gold items 99"):
        fuse_numbers(table, gold={99: 1.0})
    with pytest.raises(BadLabels, match="not a number"):
        fuse_numbers(table, gold={1: "high"})
    with pytest.raises(BadLabels, match="not a finite"):
        fuse_numbers(table, gold={1: float("nan")})
    with pytest.raises(BadParameter, match="method='best'"):
        fuse_numbers(table, method="best")
    with pytest.raises(BadLabels, match="Unknown annotators 'new'"):
        fuse_numbers(table).predict(Numbers.from_matrix([[1.0]], annotators=["new"]))


@pytest.mark.parametrize("method", METHODS)
def test_predictions_for_the_same_items_are_the_estimates(method: str) -> None:
    table = simulate_numbers(300, 8, seed=7).numbers
    fusion = fuse_numbers(table, method=method)
    np.testing.assert_allclose(fusion.predict(table), fusion.values, atol=1e-9)
    restored = pickle.loads(pickle.dumps(fusion))
    np.testing.assert_array_equal(restored.predict(table), fusion.predict(table))
    one_by_one = [fusion.predict(table.select_items(np.array([n])))[0] for n in range(5)]
    np.testing.assert_allclose(one_by_one, fusion.predict(table)[:5])


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=3, max_size=3),
        min_size=1,
        max_size=12,
    )
)
def test_any_small_matrix_gives_finite_results(rows: list[list[float | None]]) -> None:
    matrix = np.array(rows, dtype=float)
    if np.isnan(matrix).all():
        with pytest.raises(BadLabels, match="no ratings"):
            fuse_numbers(matrix)
    else:
        assert_finite(fuse_numbers(matrix))
