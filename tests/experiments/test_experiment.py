from pathlib import Path

import numpy as np
import pytest

from experiments.catalogue import EXPERIMENTS
from experiments.experiment import Table, row_summary
from experiments.methods import ALG_2
from experiments.results import Results, RunSummary
from experiments.scale import FULL
from experiments.synthetic import close_to_oracle_checks
from experiments.tasks import Measurements, Task
from experiments.theorems import slope


def test_ml_rows_have_their_own_errors(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    measurements: Measurements = {
        "error": 1.0,
        "error_ml": 2.0,
        "all_error": 3.0,
        "all_error_ml": 4.0,
        "seconds": 5.0,
    }
    results.add(Task("adult", ALG_2, filtered=True), measurements)
    where = {"source": "adult", "filtered": True}
    for row, field, value in (
        ("Alg. 2 MAP", "error", 1),
        ("Alg. 2 ML", "error", 2),
        ("Alg. 2 MAP", "all_error", 3),
        ("Alg. 2 ML", "all_error", 4),
        (ALG_2, "seconds", 5),
    ):
        summary = row_summary(results, row, field, **where)
        assert summary is not None
        assert summary.mean == value
    section = EXPERIMENTS["table9"].section(results, FULL)
    assert section.tables[0].measured["Alg. 2 ML", "adult"].mean == 4
    assert section.tables[1].measured["Alg. 2 ML", "adult"].mean == 2


@pytest.mark.parametrize(("error", "passed"), [(2.0, True), (2.04, True), (2.1, False)])
def test_the_error_must_be_close_to_the_oracle_where_the_paper_is(
    error: float, passed: bool
) -> None:
    column = "N = 10,000"
    printed = {("Alg. 2 MAP", column): 1.13, ("Oracle MAP", column): 1.11}
    printed |= {("Alg. 2 ML", column): 3.0, ("Oracle ML", column): 1.0}
    measured = {
        ("Alg. 2 MAP", column): RunSummary(error, 0, 1),
        ("Alg. 2 ML", column): RunSummary(9, 0, 1),
    }
    measured |= {(f"Oracle {rule}", column): RunSummary(2.0, 0, 1) for rule in ("MAP", "ML")}
    table = Table("", [], [column], printed, measured, "synthetic", "Oracle MAP")
    (check,) = close_to_oracle_checks("Table I", table)
    assert check.passed is passed


def test_the_slope_of_a_power_is_its_exponent() -> None:
    powers = {float(x): RunSummary(3 * x**-0.5, 0, 1) for x in (10, 100, 1000)}
    assert slope(powers, log_x=True) == pytest.approx(-0.5)
    exponentials = {float(x): RunSummary(np.exp(-0.2 * x), 0, 1) for x in (1, 2, 5)}
    assert slope(exponentials, log_x=False) == pytest.approx(-0.2)
