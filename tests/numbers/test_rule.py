"""The rule of ``fuse_numbers``: never worse than the best baseline, and it says why."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from blindfuse import Numbers, fuse_numbers, simulate_numbers
from blindfuse.numbers.agreement import (
    centred_ranks,
    leave_out,
    rest_correlations,
    rest_means,
    rest_medians,
)
from blindfuse.numbers.factor_model import fit_factor
from blindfuse.numbers.rule import MAX_MISFIT, gather_evidence
from tests.support.rating_families import FAMILIES, correlation

Floats = NDArray[np.float64]

BASELINES = "mean", "median", "standardized mean"


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_is_much_worse_than_its_best_baseline(family: str) -> None:
    # Ratings of two annotators do not show whose are worth more.
    baselines = BASELINES[:2] if family == "two_annotators" else BASELINES
    leads = []
    for seed in range(6):
        truth, matrix = FAMILIES[family](np.random.default_rng(seed))
        found = [
            correlation(fuse_numbers(matrix, method=method).values, truth, matrix)
            for method in ("auto", *baselines)
        ]
        leads.append(np.array(found)[0] - np.array(found)[1:])
    assert np.mean(leads, axis=0).min() > -0.02


@pytest.mark.parametrize("seed", range(3))
def test_what_the_rest_says_about_a_rating(seed: int) -> None:
    """Means, medians and predictions without a rating, against a loop that leaves it out."""
    table = simulate_numbers(40, 6, missing=0.4, seed=seed).numbers
    item, matrix = table.item_of_response(), table.matrix()
    fit = fit_factor(table).annotators
    means, medians = rest_means(table), rest_medians(table)
    predictions, residuals = leave_out(table, fit)
    for at in range(table.n_responses):
        row = matrix[item[at]].copy()
        row[table.codes[at]] = np.nan
        m, known = table.codes[at], ~np.isnan(row)
        weight = fit.scale[known] / fit.noise[known]
        v = 1 / (1 + weight @ fit.scale[known])
        z = v * float(weight @ (row[known] - fit.bias[known]))
        assert predictions[at] == pytest.approx(fit.scale[m] * z)
        variance = fit.noise[m] + fit.scale[m] ** 2 * v + fit.uncertainty[m] @ [z**2, 2 * z, 1]
        residual = table.values[at] - fit.bias[m] - fit.scale[m] * z
        assert residuals[at] == pytest.approx(residual / np.sqrt(variance))
        if known.any():
            assert means[at] == pytest.approx(np.nanmean(row))
            assert medians[at] == pytest.approx(np.nanmedian(row))


def test_ranks_and_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 5, (80, 4)).astype(float)
    table = Numbers.from_matrix(matrix)
    expected = np.column_stack([stats.rankdata(column) for column in matrix.T])
    expected = (expected - expected.mean(axis=0)) / len(matrix)
    np.testing.assert_allclose(centred_ranks(table).reshape(matrix.shape), expected)
    rest = rng.normal(size=matrix.shape)
    correlations = [
        np.corrcoef(*(np.clip(x, *np.sort(x)[[4, -5]]) for x in columns))[0, 1]
        for columns in zip(matrix.T, rest.T, strict=True)
    ]
    found = rest_correlations(table, {"rest": rest.ravel()})["rest"].value
    assert found == pytest.approx(np.mean(correlations))


def test_the_lead_of_a_correlation_is_in_standard_errors() -> None:
    """Of two equally good rests, one leads by more than 1.96 standard errors in 5 % of cases."""
    leads = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=(150, 1))
        table = Numbers.from_matrix(truth + rng.normal(size=(150, 3)))
        rests = {name: (truth + rng.normal(size=(150, 3))).ravel() for name in "ab"}
        found = rest_correlations(table, rests)
        leads.append(found["a"].lead(found["b"]))
    assert np.std(leads) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("n_annotators", [5, 12, 40])
def test_independent_normal_errors_rarely_look_dependent(n_annotators: int) -> None:
    tables = [simulate_numbers(400, n_annotators, seed=seed).numbers for seed in range(10)]
    misfits = np.array([gather_evidence(table, table).misfit for table in tables])
    assert np.mean(misfits > MAX_MISFIT) <= 0.1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["shared by half", "growing with the value", "by difficulty"])
def test_dependent_or_unequal_errors_keep_the_baseline_and_widen_intervals(
    kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    truth, noise = rng.normal(size=(400, 1)), rng.normal(size=(400, 8))
    if kind == "shared by half":
        matrix = truth + 0.6 * noise + rng.normal(size=(400, 1)) * (np.arange(8) < 4)
    elif kind == "growing with the value":
        truth = np.exp(3 + 1.5 * truth)
        matrix = truth * np.exp(0.3 * noise + 0.3 * rng.normal(size=(400, 1)))
    else:
        matrix = truth + noise * np.exp(0.8 * rng.normal(size=(400, 1)))
    fusion = fuse_numbers(matrix)
    assert fusion.method in BASELINES
    assert "intervals allow for shared errors" in fusion.why
    values = truth[:, 0]
    assert np.mean((fusion.low <= values) & (values <= fusion.high)) > 0.88


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_annotators", [4, 7])
def test_a_note_says_that_the_ends_of_a_scale_hide_differences(
    n_annotators: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    truth, noise = rng.normal(3, 1, 2000), rng.uniform(0.5, 1, n_annotators)
    ratings = (
        truth[:, None]
        + rng.normal(0, 0.1, n_annotators)
        + noise * rng.normal(size=(2000, n_annotators))
    )
    whole = np.clip(np.rint(ratings), 1, 5)
    gold = dict(enumerate(truth[:100].tolist()))
    for values, known, may_be_cut in (
        (whole, None, True),
        (whole, gold, False),
        (ratings, None, False),
    ):
        fusion = fuse_numbers(values, gold=known)
        is_noted = "% of the ratings are 1 or 5, the ends of the scale" in "".join(fusion.notes)
        assert is_noted == (may_be_cut and fusion.choice.is_independent)
        if not is_noted:
            assert np.mean((fusion.low <= truth) & (truth <= fusion.high)) > 0.88


def test_few_random_ratings_are_called_agreement() -> None:
    called = [
        "do not agree beyond chance"
        in fuse_numbers(np.random.default_rng(seed).normal(size=(100, 6))).why
        for seed in range(40)
    ]
    assert np.mean(called) > 0.9


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (np.full((6, 4), 7.0), "All ratings are equal"),
        ([[1.0], [2.0], [4.0]], "One annotator gave all ratings"),
        ([[1.0, 2.0, 3.0]], "1 item with two ratings"),
        ([[1.0, 2.0], [2.0, 3.0], [5.0, 5.0]], "fewer than 4 annotators"),
    ],
)
def test_tables_without_evidence_say_so(matrix: object, reason: str) -> None:
    assert reason in fuse_numbers(np.asarray(matrix)).why


@pytest.mark.parametrize("family", FAMILIES)
def test_the_reason_has_at_most_three_sentences_and_starts_with_a_number(family: str) -> None:
    why = fuse_numbers(FAMILIES[family](np.random.default_rng(0))[1]).why
    assert len(re.findall(r"[.:](?: |$)", why)) <= 3
    assert re.match(r"-?\d", why)
