import pytest

from experiments.experiment import Table
from experiments.results import RunSummary
from experiments.two_classes import _close_to_oracle_checks


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
    (check,) = _close_to_oracle_checks("Table I", table)
    assert check.passed is passed
