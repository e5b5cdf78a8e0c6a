"""The expected error of a fusion, and posteriors that agree with it."""

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, fuse, fuse_stream, simulate
from blindfuse.estimators.registry import METHODS
from blindfuse.fusion.selection import select_method
from experiments.calibration_tables import KINDS
from experiments.settings import FIGURE_3, TABLE_1, TABLE_2
from tests.conftest import Crowds


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("setting", [TABLE_1, TABLE_2, FIGURE_3], ids=lambda one: one.name)
def test_independent_annotators_are_believed(setting, seed: int) -> None:  # type: ignore[no-untyped-def]
    """The expected error is within 10 % of the actual one, and the interval is narrow."""
    drawn = setting.draw(20_000, seed)
    fusion = fuse(drawn.responses)
    error, expected = np.mean(fusion.labels != drawn.truth), fusion.expected_error
    noise = 2 * np.sqrt(error / 20_000)
    assert abs(expected.value - error) < 0.1 * error + noise
    assert expected.high / expected.low < 1.6
    np.testing.assert_allclose(
        fusion.posteriors, fusion.model.posteriors(drawn.responses), atol=1e-12
    )


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "independent"])
def test_posteriors_agree_with_the_expected_error_and_labels_stay(kind: str) -> None:
    responses, _ = KINDS[kind](np.random.default_rng(5))
    fusion = fuse(responses)
    mean = 1 - fusion.posteriors.max(axis=1).mean()
    assert mean == pytest.approx(fusion.expected_error.value, abs=1e-9)
    assert 0 <= fusion.expected_error.low <= mean <= fusion.expected_error.high <= 1
    chosen = fusion.responses.classes[fusion.posteriors.argmax(axis=1)]
    clear = np.ptp(fusion.posteriors, axis=1) > 1e-9
    top_two = np.sort(fusion.posteriors, axis=1)[:, -2:]
    clear &= np.diff(top_two, axis=1)[:, 0] > 1e-9
    np.testing.assert_array_equal(chosen[clear], fusion.labels[clear])
    if not fusion.groups:  # merged groups are not known to the model that predicts
        again = fusion.predict_proba(responses)
        np.testing.assert_allclose(again, fusion.posteriors, atol=1e-7)


def test_the_expected_error_does_not_depend_on_the_order_of_items(crowds: Crowds) -> None:
    responses = crowds["rte"].responses
    order = np.random.default_rng(0).permutation(responses.n_items)
    one, other = fuse(responses), fuse(responses.select_items(order))
    assert one.expected_error.value == pytest.approx(other.expected_error.value, rel=1e-9)
    np.testing.assert_allclose(one.posteriors[order], other.posteriors, atol=1e-9)


def test_gold_labels_count_as_correct() -> None:
    drawn = simulate(400, 5, 2, np.random.default_rng(0), skill=0.2)
    half = {n: int(drawn.truth[n]) for n in range(200)}
    blind, checked = fuse(drawn.responses), fuse(drawn.responses, gold=half)
    assert checked.expected_error.value < 0.7 * blind.expected_error.value
    mean = 1 - checked.posteriors.max(axis=1).mean()
    assert mean == pytest.approx(checked.expected_error.value, abs=1e-9)
    every = {n: int(drawn.truth[n]) for n in range(400)}
    known = fuse(drawn.responses, gold=every)
    assert known.expected_error.value == known.expected_error.high == 0
    assert "Every label is a gold label" in known.diagnostics.summary()


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 1]],
        [[0], [1]],
        [[0, 1], [1, 0]],
        [[0, -1], [-1, 1]],
        [[0, 0, 0], [1, 1, 1]],
        [[0, 1, -1], [-1, -1, -1], [1, 1, 1]],
    ],
)
def test_tiny_tables_have_a_finite_wide_interval(matrix: list[list[int]]) -> None:
    expected = fuse(np.array(matrix)).expected_error
    assert np.isfinite([expected.low, expected.value, expected.high]).all()
    assert 0 <= expected.low <= expected.value <= 0.5
    assert expected.high > 0.5 or expected.value < 0.5
    assert expected.high - expected.low > 0.2


def test_a_thousand_classes_and_no_overlap_are_no_exception() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 1000, size=600)
    right = rng.random((600, 5)) < 0.7
    matrix = np.where(right, truth[:, None], rng.integers(0, 1000, size=(600, 5)))
    expected = fuse(Responses.from_matrix(matrix, classes=np.arange(1000))).expected_error
    assert 0 <= expected.low <= expected.value <= expected.high < 1
    alone = np.full((60, 60), -1)
    np.fill_diagonal(alone, rng.integers(0, 2, size=60))
    expected = fuse(alone).expected_error
    assert 0 < expected.low < expected.value < expected.high < 1


def test_requested_methods_keep_their_posteriors(crowds: Crowds) -> None:
    responses = crowds["rte"].responses
    fusion = fuse(responses, selection=select_method("DawidSkene", METHODS["DawidSkene"]))
    plain = DawidSkene().fit(responses)
    np.testing.assert_allclose(fusion.posteriors, plain.posteriors_, atol=1e-6)
    assert fusion.expected_error.value > 1.5 * (1 - plain.posteriors_.max(axis=1).mean())


def test_streams_are_recalibrated_as_tables_are(crowds: Crowds) -> None:
    responses = crowds["rte"].responses
    whole = fuse(responses)
    halves = [
        responses.select_items(np.arange(0, 400)),
        responses.select_items(np.arange(400, 800)),
    ]
    stream = fuse_stream(halves)
    assert stream.fusion.expected_error.value == pytest.approx(whole.expected_error.value)
    found = np.concatenate([chunk.posteriors for chunk in stream])
    np.testing.assert_allclose(found, whole.posteriors, atol=1e-7)


def test_the_actual_error_of_public_crowds_lies_within_most_intervals(crowds: Crowds) -> None:
    """These tables are among those that the relation was fitted to: this only guards it."""
    names = ("adult", "bird", "dog", "product", "rte", "sp", "temp", "web", "zc_in", "labelme")
    inside = []
    for name in names:
        crowd = crowds[name]
        fusion = fuse(crowd.responses)
        known = crowd.truth >= 0
        labels = np.searchsorted(crowd.responses.classes.astype(str), fusion.labels.astype(str))
        error = np.mean(labels[known] != crowd.truth[known])
        inside.append(fusion.expected_error.low <= error <= fusion.expected_error.high)
    assert np.mean(inside) >= 0.7


@pytest.mark.parametrize(("n_items", "n_judges"), [(5, 6), (300, 2)])
def test_scores_that_cannot_show_dependence_have_a_wide_interval(
    n_items: int, n_judges: int
) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n_items)
    scores = np.clip(4 + 3 * truth[:, None] + rng.normal(0, 1.5, (n_items, n_judges)), 0, 10)
    expected = fuse(Responses.from_scores(scores.round())).expected_error
    assert expected.high > 0.3
    assert expected.low <= expected.value <= expected.high
