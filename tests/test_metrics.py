"""Errors against a known truth, and agreement of annotators."""

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any, get_args

import krippendorff
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest
from statsmodels.stats import inter_rater

from blindfuse import BadLabels, BadParameter, Model, Responses, simulate
from blindfuse.metrics import (
    Agreement,
    Level,
    calibration_error,
    cohen_kappa,
    confusion_error,
    error_rate,
    fleiss_kappa,
    krippendorff_alpha,
    log_loss,
    prior_error,
    reliability,
    share_interval,
)
from blindfuse.model.posteriors import weighted_votes
from tests.conftest import Crowds

LEVELS: tuple[Level, ...] = get_args(Level)
COEFFICIENTS: dict[str, Callable[..., Agreement]] = {
    "cohen": lambda table, **how: cohen_kappa(table[:, 0], table[:, 1], **how),
    "fleiss": fleiss_kappa,
    **{
        level: lambda table, level=level, **how: krippendorff_alpha(table, level, **how)
        for level in LEVELS
    },
}

seeds = st.integers(0, 2**32)


def drawn_posteriors(seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Posteriors ``[item, class]`` and a truth drawn from them, a fifth of it unknown."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(20, 400), rng.integers(2, 6)
    posteriors = rng.dirichlet(np.full(k, 0.5), size=n)
    truth = (posteriors.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    truth[rng.random(n) < 0.2] = -1
    return posteriors, truth


def agreeing(
    rng: np.random.Generator, n: int, m: int, prior: list[float], alpha: float, missing: float
) -> NDArray[np.intp]:
    """Labels ``[item, annotator]``: the item's class with a chance of √α, else any by the prior.

    Two answers to an item are then either the same class (α) or independent, so that every
    coefficient at every level is α.
    """
    classes = rng.choice(len(prior), size=(n, 1), p=prior)
    table = rng.choice(len(prior), size=(n, m), p=prior)
    table = np.where(rng.random((n, m)) < alpha**0.5, classes, table)
    table[rng.random((n, m)) < missing] = -1
    return table


def drawn_table(seed: int) -> NDArray[np.intp]:
    """Labels ``[item, annotator]`` of any size, with at least two classes in the first items."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(rng.integers(2, 6), 3.0)).tolist()
    shape = int(rng.integers(25, 120)), int(rng.integers(2, 7))
    table = agreeing(rng, *shape, prior, rng.random(), rng.choice([0.0, 0.2, 0.5]))
    table[:2] = [[0], [1]]
    return table


def by_library(table: NDArray[np.intp], level: Level, numbers: Any = None) -> float:
    """Krippendorff's α of codes ``[item, annotator]``, which stand for these numbers."""
    values = np.arange(table.max() + 1.0) if numbers is None else np.asarray(numbers, dtype=float)
    data = np.where(table >= 0, values[table], np.nan).T
    return float(krippendorff.alpha(data, level_of_measurement=level, value_domain=values))


def test_ties_share_the_credit_and_unknown_truth_is_left_out() -> None:
    beliefs = np.array([[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [1 / 3] * 3, [0.0, 0.0, 1.0]])
    truth = np.array([0, 1, 2, -1])
    assert error_rate(beliefs, truth) == pytest.approx(1 - (1 + 1 / 2 + 1 / 3) / 3)


def test_errors_of_the_model_are_those_of_section_v() -> None:
    names = np.arange(2), np.arange(2)
    truth = Model(np.tile(np.eye(2), (2, 1, 1)), np.array([0.5, 0.5]), *names)
    gamma = np.array([[[0.9, 0.3], [0.1, 0.7]], [[1.0, 0.0], [0.0, 1.0]]])
    estimate = Model(gamma, np.array([0.4, 0.6]), *names)
    assert confusion_error(estimate, truth) == pytest.approx((0.6 + 0) / 2)
    assert prior_error(estimate, truth) == pytest.approx(0.2)


@settings(max_examples=30)
@given(seeds)
def test_log_loss_is_scikit_learns(seed: int) -> None:
    posteriors, truth = drawn_posteriors(seed)
    known = truth >= 0
    expected = sklearn.metrics.log_loss(
        truth[known], posteriors[known], labels=range(posteriors.shape[1])
    )
    assert log_loss(posteriors, truth) == pytest.approx(expected)


def test_certain_and_wrong_costs_much_but_not_infinity() -> None:
    assert log_loss(np.eye(2), np.array([0, 0])) == pytest.approx(52 * np.log(2) / 2)


@settings(max_examples=30)
@given(seeds, st.integers(1, 20))
def test_calibration_error_is_that_of_a_plain_loop(seed: int, bins: int) -> None:
    posteriors, truth = drawn_posteriors(seed)
    items = [(max(p), p.argmax() == t) for p, t in zip(posteriors, truth, strict=True) if t >= 0]
    expected = 0.0
    for b in range(bins):
        held = [item for item in items if b / bins < item[0] <= (b + 1) / bins]
        if held:
            confidence, right = np.mean(held, axis=0)
            expected += len(held) / len(items) * abs(right - confidence)
    assert calibration_error(posteriors, truth, bins) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_reliability_by_sorting(seed: int) -> None:
    posteriors, truth = drawn_posteriors(seed)
    known = truth >= 0
    sure, right = posteriors.max(axis=1)[known], (posteriors.argmax(axis=1) == truth)[known]
    bin_of = np.ceil(sure * 10)
    found = reliability(posteriors, truth, 10)
    for at, b in enumerate(np.unique(bin_of)):
        assert found.items[at] == np.sum(bin_of == b)
        assert found.confidence[at] == pytest.approx(sure[bin_of == b].mean())
        assert found.accuracy[at] == pytest.approx(right[bin_of == b].mean())
    assert found.items.sum() == known.sum()


@pytest.mark.parametrize(("wrong", "count"), [(0, 5), (3, 7), (50, 1000), (9, 9)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_of_a_share_is_scipys(wrong: int, count: int, confidence: float) -> None:
    expected = binomtest(wrong, count).proportion_ci(confidence, method="wilson")
    found = share_interval(wrong / count, count, confidence)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("count", range(1, 40))
def test_the_interval_holds_its_share(count: int) -> None:
    for wrong in range(count + 1):
        low, high = share_interval(wrong / count, count)
        assert 0 <= low <= wrong / count <= high <= 1


def test_an_interval_needs_items() -> None:
    with pytest.raises(BadParameter, match="count=0"):
        share_interval(0.5, 0)


def test_a_bin_holds_its_upper_edge() -> None:
    """Of two bins, 0.4 and 0.5 are in the first, and right and wrong nearly cancel there."""
    posteriors = np.array([[0.4, 0.3, 0.3], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    found = calibration_error(posteriors, np.array([0, 1, 0]), bins=2)
    assert found == pytest.approx((abs(0.6 - 0.5) + 0.4) / 3)


def test_calibration_error_does_not_depend_on_the_order_of_tied_classes() -> None:
    tied = np.full((10, 2), 0.5)
    assert calibration_error(tied, np.zeros(10, dtype=int)) == 0


def test_posteriors_of_the_true_model_are_calibrated_and_sharper_ones_are_not() -> None:
    drawn = simulate(20_000, 5, 3, np.random.default_rng(0))
    posteriors = drawn.model.posteriors(drawn.responses)
    sharper = posteriors**3 / (posteriors**3).sum(axis=1, keepdims=True)
    assert calibration_error(posteriors, drawn.truth) < 0.02
    assert calibration_error(sharper, drawn.truth) > 0.05


@settings(max_examples=30)
@given(seeds)
def test_cohen_kappa_is_scikit_learns(seed: int) -> None:
    one, other = drawn_table(seed)[:, :2].T
    both = (one >= 0) & (other >= 0)
    expected = sklearn.metrics.cohen_kappa_score(one[both], other[both])
    assert cohen_kappa(one, other, resamples=1).value == pytest.approx(expected)


@settings(max_examples=30)
@given(seeds, st.integers(2, 4))
def test_fleiss_kappa_of_equally_many_answers_is_that_of_statsmodels(seed: int, n: int) -> None:
    """Every item has n of six answers, and some, left out, have only one."""
    rng = np.random.default_rng(seed)
    table = agreeing(rng, 60, 6, [0.5, 0.3, 0.2], rng.random(), 0.0)
    rank = rng.random(table.shape).argsort(axis=1)
    table[rank >= n] = -1
    lone = np.where(rank[:20] == 0, 1, -1)
    expected = inter_rater.fleiss_kappa((table[:, :, None] == np.arange(3)).sum(axis=1))
    found = fleiss_kappa(np.concatenate([table, lone]), resamples=1).value
    assert found == pytest.approx(expected)


@settings(max_examples=20)
@given(seeds)
def test_fleiss_kappa_of_unequally_many_answers_weighs_items_equally(seed: int) -> None:
    table = drawn_table(seed)
    items = [[int(label) for label in row if label >= 0] for row in table]
    items = [labels for labels in items if len(labels) > 1]
    differ = [[a != b for a, b in combinations(labels, 2)] for labels in items]
    observed = sum(Fraction(sum(pairs), len(pairs)) for pairs in differ) / len(items)
    shares = [
        sum(Fraction(labels.count(k), len(labels)) for labels in items) / len(items)
        for k in range(table.max() + 1)
    ]
    expected = 1 - observed / (1 - sum(share**2 for share in shares))
    assert fleiss_kappa(table, resamples=1).value == pytest.approx(float(expected))


@settings(max_examples=20)
@given(seeds)
@pytest.mark.parametrize("level", LEVELS)
def test_krippendorff_alpha_is_that_of_the_library(level: Level, seed: int) -> None:
    table = drawn_table(seed)
    found = krippendorff_alpha(table, level, resamples=1).value
    assert found == pytest.approx(by_library(table, level))


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_level_takes_numbers_by_name_and_text_by_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = agreeing(rng, 50, 4, [0.5, 0.2, 0.3], 0.4, 0.3)
    for names, numbers in (([2, 7, 100], [2, 7, 100]), (["low", "mid", "high"], [0, 1, 2])):
        labels = np.array([*names, None], dtype=object)[table]
        responses = Responses.from_matrix(labels, classes=names)
        found = krippendorff_alpha(responses, "interval", resamples=1).value
        assert found == pytest.approx(by_library(table, "interval", numbers))


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_items_and_annotators_changes_nothing(name: str, seed: int) -> None:
    table, rng = drawn_table(seed), np.random.default_rng(seed)
    shuffled = rng.permutation(table)
    if name != "cohen":
        shuffled = rng.permutation(shuffled, axis=1)
    assert COEFFICIENTS[name](shuffled, resamples=50) == COEFFICIENTS[name](table, resamples=50)


def test_answers_may_come_as_responses_a_matrix_or_a_frame() -> None:
    table = drawn_table(1)
    item, annotator = np.nonzero(table >= 0)
    frame = pd.DataFrame({"item": item, "annotator": annotator, "label": table[item, annotator]})
    for coefficient in (fleiss_kappa, krippendorff_alpha):
        found = coefficient(table)
        assert coefficient(Responses.from_matrix(table)) == found
        assert coefficient(frame) == found


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_intervals_hold_the_coefficient_of_the_population_as_often_as_they_say(name: str) -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        table = agreeing(rng, 200, 4, [0.4, 0.35, 0.25], 0.5, 0.2)
        found = COEFFICIENTS[name](table, resamples=200)
        hits += found.low <= 0.5 <= found.high
    assert 88 <= hits < 100


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_are_those_of_items_drawn_one_by_one(level: Level) -> None:
    rng = np.random.default_rng(1)
    table = agreeing(rng, 80, 4, [0.5, 0.3, 0.2], 0.4, 0.3)
    table = table[(table >= 0).sum(axis=1) >= 2]
    drawn = [by_library(rng.choice(table, size=len(table)), level) for _ in range(400)]
    found = krippendorff_alpha(table, level, confidence=0.8)
    np.testing.assert_allclose(found[1:], np.quantile(drawn, [0.1, 0.9]), atol=0.02)


def test_more_confidence_is_wider_and_a_seed_gives_the_same_interval() -> None:
    table = drawn_table(2)
    wide, narrow = (fleiss_kappa(table, confidence=c) for c in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
    assert fleiss_kappa(table, seed=3) == fleiss_kappa(table, seed=3) != fleiss_kappa(table, seed=4)


@pytest.mark.parametrize("name", ["web", "bird"])
def test_agreement_in_a_public_crowd(crowds: Crowds, name: str) -> None:
    responses = crowds[name].responses
    table = responses.matrix()
    for level in LEVELS:
        found = krippendorff_alpha(responses, level, resamples=200)
        assert found.value == pytest.approx(by_library(table, level))
        assert 0 < found.low < found.value < found.high < 1


def test_a_public_crowd_against_its_truth(crowds: Crowds) -> None:
    crowd = crowds["web"]
    votes = weighted_votes(crowd.responses)
    shares, labels = votes / votes.sum(axis=1, keepdims=True), votes.argmax(axis=1)
    known = crowd.truth >= 0
    true = crowd.truth[known]
    kappa = cohen_kappa(labels, crowd.truth)
    assert kappa.low < kappa.value < kappa.high
    assert kappa.value == pytest.approx(sklearn.metrics.cohen_kappa_score(labels[known], true))
    loss = sklearn.metrics.log_loss(true, shares[known], labels=range(votes.shape[1]))
    assert log_loss(shares, crowd.truth) == pytest.approx(loss)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_class_only_is_perfect_agreement(name: str) -> None:
    table = np.full((9, 3), 7)
    table[0, 2] = -1
    assert COEFFICIENTS[name](table) == (1, 1, 1)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_agreement_about_several_classes_is_one_even_where_a_resample_has_one(name: str) -> None:
    assert COEFFICIENTS[name](np.repeat([[0], [1]], 3, axis=1)) == (1, 1, 1)


@pytest.mark.parametrize("seed", range(5))
def test_no_agreement_is_more_than_perfect(seed: int) -> None:
    codes = np.random.default_rng(seed).integers(4, size=(23, 1))
    far = np.array([0, 2, 7, 10**12])[codes]
    found = krippendorff_alpha(np.tile(far, (1, 3)), level="interval", resamples=20)
    assert max(found) <= 1
    assert min(found) == pytest.approx(1)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_agreement_without_pairs_is_refused(name: str) -> None:
    with pytest.raises(BadLabels, match="agreement needs items that"):
        COEFFICIENTS[name](np.array([[0, -1], [-1, 1]]))


def test_labels_of_different_lengths_are_refused() -> None:
    with pytest.raises(BadLabels, match=r"shape \(3,\) and \(2,\)"):
        cohen_kappa([0, 1, 1], [0, 1])


@pytest.mark.parametrize("names", [["no", "yes"], [None, 0], [0.5, 1.0]])
def test_names_are_no_codes(names: list[Any]) -> None:
    with pytest.raises(BadLabels, match="holds no class codes"):
        cohen_kappa(names, [0, 1])
    with pytest.raises(BadLabels, match="holds no class codes"):
        error_rate(np.full((2, 2), 0.5), names)  # type: ignore[arg-type]


def test_codes_may_be_any_whole_numbers() -> None:
    far = [7 if code else 10**12 for code in (0, 1, 1, 0, 1)]
    assert cohen_kappa(far, far[::-1]) == cohen_kappa([0, 1, 1, 0, 1], [1, 0, 1, 1, 0])


@pytest.mark.parametrize("metric", [error_rate, log_loss, calibration_error])
@pytest.mark.parametrize(
    ("truth", "words"),
    [([0, 1], "3 items, but the truth of 2"), ([-1] * 3, "all −1"), ([0, 2, -1], "the codes 2,")],
)
def test_a_truth_that_does_not_fit_is_refused(
    metric: Callable[..., float], truth: list[int], words: str
) -> None:
    with pytest.raises(BadLabels, match=words):
        metric(np.full((3, 2), 0.5), np.array(truth))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_parameters_outside_their_rules_are_refused(name: str) -> None:
    table = drawn_table(0)
    for how in ({"resamples": 0}, {"confidence": 0.0}, {"confidence": 1.0}):
        with pytest.raises(BadParameter, match=f"{next(iter(how))}="):
            COEFFICIENTS[name](table, **how)


def test_unknown_levels_and_no_bins_are_refused() -> None:
    with pytest.raises(BadParameter, match="level='ratio' is none of 'nominal'"):
        krippendorff_alpha(drawn_table(0), "ratio")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="bins=0"):
        calibration_error(np.eye(2), np.arange(2), bins=0)


def test_memory_is_that_of_the_votes_not_of_labels_by_class_nor_of_resamples() -> None:
    N, M, K = 50_000, 20, 8
    responses = simulate(N, M, K, np.random.default_rng(0)).responses
    tracemalloc.start()
    krippendorff_alpha(responses, "ordinal", resamples=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * N * M * K / 2
