"""Errors against a known truth, calibration, and agreement between annotators."""

import tracemalloc
from collections.abc import Callable
from itertools import permutations
from typing import Any, get_args

import krippendorff
import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest
from statsmodels.stats import inter_rater

from blindfuse import BadLabels, BadParameter, Model, Responses, ResponseSets, simulate
from blindfuse.metrics import (
    Interval,
    Level,
    calibration_error,
    cohen_kappa,
    confusion_error,
    error_rate,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    log_loss,
    masi_alpha,
    prior_error,
    reliability,
    wilson_interval,
)
from tests.support.multi_label import simulate_sets

LEVELS: tuple[Level, ...] = get_args(Level)
COEFFICIENTS: dict[str, Callable[..., Interval]] = {
    "cohen": lambda table, **options: cohen_kappa(table[:, 0], table[:, 1], **options),
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "ac2": gwet_ac2,
    **{
        level: lambda table, level=level, **options: krippendorff_alpha(table, level, **options)
        for level in LEVELS
    },
}

seeds = st.integers(0, 2**32)


def draw_posteriors(seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Draw posteriors ``[item, class]`` and a truth from them, a fifth of it unknown."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(20, 400), rng.integers(2, 6)
    posteriors = rng.dirichlet(np.full(k, 0.5), size=n)
    truth = (posteriors.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    truth[rng.random(n) < 0.2] = -1
    return posteriors, truth


def draw_labels(
    rng: np.random.Generator, n: int, m: int, prior: list[float], alpha: float, missing: float
) -> NDArray[np.intp]:
    """Draw labels ``[item, annotator]``: the item's class with probability √α, else by the prior.

    Two labels of an item are then the same class with probability α and independent otherwise, so
    that every coefficient at every level is α.
    """
    classes = rng.choice(len(prior), size=(n, 1), p=prior)
    table = rng.choice(len(prior), size=(n, m), p=prior)
    table = np.where(rng.random((n, m)) < alpha**0.5, classes, table)
    table[rng.random((n, m)) < missing] = -1
    return table


def draw_table(seed: int) -> NDArray[np.intp]:
    """Draw a table of labels of random size, with at least two classes in the first items."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(rng.integers(2, 6), 3.0)).tolist()
    shape = int(rng.integers(25, 120)), int(rng.integers(2, 7))
    table = draw_labels(rng, *shape, prior, rng.random(), rng.choice([0.0, 0.2, 0.5]))
    table[:2] = [[0], [1]]
    return table


def library_alpha(table: NDArray[np.intp], level: Level, numbers: Any = None) -> float:
    """Return α of codes ``[item, annotator]`` by the library, with these numbers as values."""
    values = np.arange(table.max() + 1.0) if numbers is None else np.asarray(numbers, dtype=float)
    data = np.where(table >= 0, values[table], np.nan).T
    return float(krippendorff.alpha(data, level_of_measurement=level, value_domain=values))


def test_ties_count_in_part_and_unknown_truth_is_left_out() -> None:
    posteriors = np.array([[0.9, 0.1, 0.0], [0.4, 0.4, 0.2], [1 / 3] * 3, [0.0, 0.0, 1.0]])
    truth = np.array([0, 1, 2, -1])
    assert error_rate(posteriors, truth) == pytest.approx(1 - (1 + 1 / 2 + 1 / 3) / 3)


def test_errors_of_the_model_are_those_of_section_v() -> None:
    names = np.arange(2), np.arange(2)
    truth = Model(np.tile(np.eye(2), (2, 1, 1)), np.array([0.5, 0.5]), *names)
    gamma = np.array([[[0.9, 0.3], [0.1, 0.7]], [[1.0, 0.0], [0.0, 1.0]]])
    estimate = Model(gamma, np.array([0.4, 0.6]), *names)
    assert confusion_error(estimate, truth) == pytest.approx((0.6 + 0) / 2)
    assert prior_error(estimate, truth) == pytest.approx(0.2)


@settings(max_examples=30)
@given(seeds)
def test_log_loss_equals_that_of_scikit_learn(seed: int) -> None:
    posteriors, truth = draw_posteriors(seed)
    known = truth >= 0
    expected = sklearn.metrics.log_loss(
        truth[known], posteriors[known], labels=range(posteriors.shape[1])
    )
    assert log_loss(posteriors, truth) == pytest.approx(expected)


def test_log_loss_of_a_certain_and_wrong_label_is_finite() -> None:
    assert log_loss(np.eye(2), np.array([0, 0])) == pytest.approx(52 * np.log(2) / 2)


@settings(max_examples=30)
@given(seeds, st.integers(1, 20))
def test_calibration_equals_a_plain_loop(seed: int, bins: int) -> None:
    posteriors, truth = draw_posteriors(seed)
    items = [(max(p), p.argmax() == t) for p, t in zip(posteriors, truth, strict=True) if t >= 0]
    by_bin = [[i for i in items if b / bins < i[0] <= (b + 1) / bins] for b in range(bins)]
    rows = [(len(inside), *np.mean(inside, axis=0)) for inside in by_bin if inside]
    expected = sum(n * abs(accuracy - confidence) for n, confidence, accuracy in rows) / len(items)
    assert calibration_error(posteriors, truth, bins) == pytest.approx(expected)
    result = reliability(posteriors, truth, bins)
    columns = np.stack([result.items, result.confidence, result.accuracy], axis=1)
    np.testing.assert_allclose(columns, rows)


@pytest.mark.parametrize("count", [1, 2, 7, 39, 1000])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_interval_equals_that_of_scipy(count: int, confidence: float) -> None:
    for wrong in range(0, count + 1, max(1, count // 40)):
        expected = binomtest(wrong, count).proportion_ci(confidence, method="wilson")
        low, high = wilson_interval(wrong / count, count, confidence)
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert 0 <= low <= wrong / count <= high <= 1


def test_a_bin_contains_its_upper_edge() -> None:
    """Of two bins, the first contains 0.4 and 0.5, whose errors nearly cancel."""
    posteriors = np.array([[0.4, 0.3, 0.3], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    result = calibration_error(posteriors, np.array([0, 1, 0]), bins=2)
    assert result == pytest.approx((abs(0.6 - 0.5) + 0.4) / 3)


def test_posteriors_of_the_true_model_are_calibrated_and_sharper_ones_are_not() -> None:
    drawn = simulate(20_000, 5, 3, np.random.default_rng(0))
    posteriors = drawn.model.posteriors(drawn.responses)
    sharper = posteriors**3 / (posteriors**3).sum(axis=1, keepdims=True)
    assert calibration_error(posteriors, drawn.truth) < 0.02
    assert calibration_error(sharper, drawn.truth) > 0.05


@settings(max_examples=30)
@given(seeds)
def test_cohen_kappa_equals_that_of_scikit_learn(seed: int) -> None:
    first, second = draw_table(seed)[:, :2].T
    both = (first >= 0) & (second >= 0)
    expected = sklearn.metrics.cohen_kappa_score(first[both], second[both])
    assert cohen_kappa(first, second, resamples=1).value == pytest.approx(expected)


@settings(max_examples=30)
@given(seeds, st.integers(2, 4))
def test_fleiss_kappa_with_equal_numbers_of_responses_equals_that_of_statsmodels(
    seed: int, n: int
) -> None:
    """Every item has n of six responses; items with only one are left out."""
    rng = np.random.default_rng(seed)
    table = draw_labels(rng, 60, 6, [0.5, 0.3, 0.2], rng.random(), 0.0)
    rank = rng.random(table.shape).argsort(axis=1)
    table[rank >= n] = -1
    single = np.where(rank[:20] == 0, 1, -1)
    expected = inter_rater.fleiss_kappa((table[:, :, None] == np.arange(3)).sum(axis=1))
    result = fleiss_kappa(np.concatenate([table, single]), resamples=1).value
    assert result == pytest.approx(expected)


@settings(max_examples=20)
@given(seeds)
@pytest.mark.parametrize("level", LEVELS)
def test_krippendorff_alpha_equals_that_of_the_library(level: Level, seed: int) -> None:
    table = draw_table(seed)
    result = krippendorff_alpha(table, level, resamples=1).value
    assert result == pytest.approx(library_alpha(table, level))


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_level_uses_numeric_names_or_else_the_order_of_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = draw_labels(rng, 50, 4, [0.5, 0.2, 0.3], 0.4, 0.3)
    for names, numbers in (([2, 7, 100], [2, 7, 100]), (["low", "mid", "high"], [0, 1, 2])):
        labels = np.array([*names, None], dtype=object)[table]
        responses = Responses.from_matrix(labels, classes=names)
        result = krippendorff_alpha(responses, "interval", resamples=1).value
        assert result == pytest.approx(library_alpha(table, "interval", numbers))


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_items_and_annotators_changes_nothing(name: str, seed: int) -> None:
    table, rng = draw_table(seed), np.random.default_rng(seed)
    shuffled = rng.permutation(table)
    if name != "cohen":
        shuffled = rng.permutation(shuffled, axis=1)
    assert COEFFICIENTS[name](shuffled, resamples=50) == COEFFICIENTS[name](table, resamples=50)


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_equal_those_of_resampled_items(level: Level) -> None:
    rng = np.random.default_rng(1)
    table = draw_labels(rng, 80, 4, [0.5, 0.3, 0.2], 0.4, 0.3)
    table = table[(table >= 0).sum(axis=1) >= 2]
    drawn = [library_alpha(rng.choice(table, size=len(table)), level) for _ in range(400)]
    result = krippendorff_alpha(table, level, confidence=0.8)
    np.testing.assert_allclose(result[1:], np.quantile(drawn, [0.1, 0.9]), atol=0.02)
    same, other = (krippendorff_alpha(table, level, confidence=0.8, seed=n) for n in (0, 4))
    assert same == result != other


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_perfect_agreement_is_one(name: str) -> None:
    """With a single class, or in resamples that may have a single class."""
    table = np.full((9, 3), 7)
    table[0, 2] = -1
    assert COEFFICIENTS[name](table) == (1, 1, 1)
    assert COEFFICIENTS[name](np.repeat([[0], [1]], 3, axis=1)) == (1, 1, 1)


def test_agreement_never_exceeds_one() -> None:
    for seed in range(5):
        far = np.array([0, 2, 7, 10**12])[np.random.default_rng(seed).integers(4, size=(23, 1))]
        result = krippendorff_alpha(np.tile(far, (1, 3)), level="interval", resamples=20)
        assert max(result) <= 1
        assert min(result) == pytest.approx(1)


def test_codes_are_any_integers_and_names_are_not_codes() -> None:
    far = [7 if code else 10**12 for code in (0, 1, 1, 0, 1)]
    assert cohen_kappa(far, far[::-1]) == cohen_kappa([0, 1, 1, 0, 1], [1, 0, 1, 1, 0])
    with pytest.raises(BadLabels, match=r"shapes \(3,\) and \(2,\)"):
        cohen_kappa([0, 1, 1], [0, 1])
    not_codes: list[Any] = [["no", "yes"], [None, 0], [0.5, 1.0]]
    for names in not_codes:
        with pytest.raises(BadLabels, match="does not contain class codes"):
            cohen_kappa(names, [0, 1])
        with pytest.raises(BadLabels, match="does not contain class codes"):
            error_rate(np.full((2, 2), 0.5), names)


@pytest.mark.parametrize("metric", [error_rate, log_loss, calibration_error])
@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([0, 1], "3 items, but the truth of 2"),
        ([-1] * 3, "unknown \\(−1\\)"),
        ([0, 2, -1], "the codes 2,"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(
    metric: Callable[..., float], truth: list[int], message: str
) -> None:
    with pytest.raises(BadLabels, match=message):
        metric(np.full((3, 2), 0.5), np.array(truth))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_what_has_no_agreement_is_refused(name: str) -> None:
    with pytest.raises(BadLabels, match="Agreement needs items that"):
        COEFFICIENTS[name](np.array([[0, -1], [-1, 1]]))
    for options in ({"resamples": 0}, {"confidence": 0.0}, {"confidence": 1.0}):
        with pytest.raises(BadParameter, match=f"{next(iter(options))}="):
            COEFFICIENTS[name](draw_table(0), **options)


def test_unknown_levels_and_zero_counts_are_refused() -> None:
    with pytest.raises(BadParameter, match="level='ratio' must be one of 'nominal'"):
        krippendorff_alpha(draw_table(0), "ratio")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="level="):
        gwet_ac2([[0, 1]], "nominal")  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="count=0"):
        wilson_interval(0.5, 0)
    with pytest.raises(BadParameter, match="bins=0"):
        calibration_error(np.eye(2), np.arange(2), bins=0)


def test_memory_grows_with_the_votes_and_not_with_resamples() -> None:
    N, M, K = 50_000, 20, 8
    responses = simulate(N, M, K, np.random.default_rng(0)).responses
    tracemalloc.start()
    krippendorff_alpha(responses, "ordinal", resamples=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * N * M * K / 2


GWET = [
    [1, 1, -1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [-1, 5, 5, 5], [-1, -1, 1, 1], [-1, -1, 3, -1],
]  # fmt: skip
"""Four raters and twelve units: the example of Gwet (2014), which irrCAC ships as raw_4raters."""
IRR_CAC = {"identity": 0.77544, "quadratic": 0.914, "linear": 0.85874, "ordinal": 0.89894}
"""Coefficients of ``CAC(raw_4raters, weights).gwet()`` in irrCAC 0.4.4.

It is not installed here, because it needs pandas below 3 and SciPy 1.12.
"""


def plain_agreement(
    table: NDArray[np.intp], weights: NDArray[np.float64], minimum: int = 1
) -> tuple[float, NDArray[np.float64]]:
    """Mean agreement of pairs, and shares of the classes, by loops over items and pairs."""
    rows = [row[row >= 0] for row in table]
    counted = [row for row in rows if len(row) >= minimum]
    shares = np.mean([np.bincount(row, minlength=len(weights)) / len(row) for row in counted], 0)
    agreement = [
        np.mean([weights[pair] for pair in permutations(row.tolist(), 2)])
        for row in rows
        if len(row) > 1
    ]
    return float(np.mean(agreement)), shares


def test_gwet_on_the_published_example() -> None:
    found = {
        "identity": gwet_ac1(GWET).value,
        **{level: gwet_ac2(GWET, level).value for level in ("quadratic", "linear", "ordinal")},
    }
    assert found == pytest.approx(IRR_CAC, abs=6e-6)


@settings(max_examples=20)
@given(seeds)
def test_fleiss_and_gwet_by_loops(seed: int) -> None:
    """Items count equally, whatever their number of responses."""
    table = np.random.default_rng(seed).integers(-1, 4, (40, 5))
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    levels: dict[Any, NDArray[np.float64]] = {
        "quadratic": 1 - distance**2 / 9,
        "linear": 1 - distance / 3,
        "ordinal": 1 - distance * (distance + 1) / 12,
    }
    found = {level: gwet_ac2(table, level, resamples=1).value for level in levels}
    found["ac1"], levels["ac1"] = gwet_ac1(table, resamples=1).value, np.eye(4)
    for level, weights in levels.items():
        agreement, shares = plain_agreement(table, weights)
        by_chance = weights.sum() / 12 * (shares * (1 - shares)).sum()
        assert found[level] == pytest.approx((agreement - by_chance) / (1 - by_chance))
    agreement, shares = plain_agreement(table, np.eye(4), minimum=2)
    expected = (agreement - shares @ shares) / (1 - shares @ shares)
    assert fleiss_kappa(table, resamples=1).value == pytest.approx(expected)


def masi_distance(one: set[int], other: set[int]) -> float:
    """Passonneau (2006), written as nltk.metrics.masi_distance; two empty sets are equal."""
    if one == other:
        return 0.0
    shared = len(one & other)
    monotonicity = 2 / 3 if shared == min(len(one), len(other)) else 1 / 3 if shared else 0.0
    return 1 - shared / len(one | other) * monotonicity


@pytest.mark.parametrize("seed", range(3))
def test_masi_alpha_is_the_mean_distance_of_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_responses = rng.integers(1, 6, 25)
    items = np.repeat(np.arange(25), n_responses)
    annotators = np.concatenate([np.arange(n) for n in n_responses])
    sets = [{k for k in range(5) if rng.random() < 0.35} for _ in items]
    found = masi_alpha(ResponseSets.from_long(items, annotators, sets, classes=list(range(5))))
    paired = [at for at, item in enumerate(items) if n_responses[item] > 1]
    observed = sum(
        masi_distance(sets[i], sets[j]) / (n_responses[items[i]] - 1)
        for i in paired
        for j in paired
        if i != j and items[i] == items[j]
    )
    expected = np.mean([masi_distance(sets[i], sets[j]) for i in paired for j in paired if i != j])
    assert found.value == pytest.approx(1 - observed / len(paired) / expected)
    assert found.low < found.value < found.high


def test_masi_alpha_is_nominal_for_single_choices_and_one_for_agreement() -> None:
    items, annotators = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    labels = np.random.default_rng(0).integers(0, 4, 120)
    single = [[label] for label in labels.tolist()]
    found = masi_alpha(ResponseSets.from_long(items, annotators, single))
    assert found.value == pytest.approx(krippendorff_alpha(labels.reshape(40, 3)).value)
    empty: list[list[str]] = [[]] * 120
    for same in (["a|b" if n % 2 else "" for n in items], empty):
        agreed = ResponseSets.from_long(items, annotators, same, classes=["a", "b"])
        assert masi_alpha(agreed).value == 1
    with pytest.raises(BadLabels, match="No item has two responses"):
        masi_alpha(ResponseSets.from_long([0, 1], [0, 0], ["a", "b"]))


def test_masi_alpha_of_many_distinct_sets_is_close_to_that_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = simulate_sets(n_items=300, n_annotators=10, n_classes=12, seed=0)
    table = ResponseSets.from_long(drawn.items, drawn.annotators, drawn.sets)
    exact = masi_alpha(table, resamples=10).value
    monkeypatch.setattr("blindfuse.metrics.agreement.MAX_SETS", 300)
    assert masi_alpha(table, resamples=10).value == pytest.approx(exact, abs=0.03)
