"""Agreement of ratings against published examples and other libraries."""

import krippendorff
import numpy as np
import pytest

from blindfuse import BadLabels, Numbers, simulate_numbers
from blindfuse.numbers.agreement import intraclass_correlation

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
"""Table 2 of Shrout and Fleiss (1979): six targets by four judges."""


def test_the_example_of_shrout_and_fleiss() -> None:
    icc = intraclass_correlation(Numbers.from_matrix(SHROUT_FLEISS))
    assert icc.value == pytest.approx(0.17, abs=0.005)
    assert (icc.low, icc.high) == pytest.approx((-0.13, 0.72), abs=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_unbalanced_analysis_of_variance(seed: int) -> None:
    table = simulate_numbers(40, 6, seed=seed).numbers
    rows = [row[~np.isnan(row)] for row in table.matrix()]
    rows = [row for row in rows if len(row) > 1]
    n, N = sum(map(len, rows)), len(rows)
    grand = np.concatenate(rows).mean()
    between = sum(len(row) * (row.mean() - grand) ** 2 for row in rows) / (N - 1)
    within = sum(((row - row.mean()) ** 2).sum() for row in rows) / (n - N)
    k = (n - sum(len(row) ** 2 for row in rows) / n) / (N - 1)
    expected = (between - within) / (between + (k - 1) * within)
    icc = intraclass_correlation(table)
    assert icc.value == pytest.approx(expected)
    assert icc.low < icc.value < icc.high


@pytest.mark.parametrize("seed", range(4))
def test_alpha_of_interval_data_is_nearly_the_same(seed: int) -> None:
    table = simulate_numbers(400, 5, seed=seed).numbers
    alpha = krippendorff.alpha(table.matrix().T, level_of_measurement="interval")
    assert intraclass_correlation(table).value == pytest.approx(alpha, abs=0.02)
    shifted = intraclass_correlation(table.with_values(1e6 + table.values))
    assert shifted == pytest.approx(intraclass_correlation(table))


def test_the_interval_of_the_icc_covers_the_true_one() -> None:
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        matrix = rng.normal(size=(30, 1)) + rng.normal(size=(30, 4))
        icc = intraclass_correlation(Numbers.from_matrix(matrix))
        covered.append(icc.low <= 0.5 <= icc.high)
    assert 0.9 < np.mean(covered) < 0.99


def test_perfect_agreement_and_too_few_ratings() -> None:
    assert intraclass_correlation(Numbers.from_matrix([[1, 1], [2, 2]])).value == 1
    for few in ([[1.0], [2.0]], [[1.0, 2.0]]):
        with pytest.raises(BadLabels, match="items have two ratings"):
            intraclass_correlation(Numbers.from_matrix(few))
