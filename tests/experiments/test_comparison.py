from experiments.comparison import count_reproduced, find_differences
from experiments.experiment import Table
from experiments.methods import ALG_2, EM, FUSE, PLAIN_ALG_1, VOTE
from experiments.results import RunSummary

COLUMN = "N = 10,000"


def one_column_table(kind: str, printed: dict[str, float], measured: dict[str, float]) -> Table:
    return Table(
        "Error",
        list(measured),
        [COLUMN],
        {(row, COLUMN): value for row, value in printed.items()},
        {(row, COLUMN): RunSummary(value, 0.0, 1) for row, value in measured.items()},
        kind,
        {"synthetic": "Oracle MAP", "real": VOTE}.get(kind, ""),
    )


def test_synthetic_cells_are_compared_by_the_ratio_to_the_oracle() -> None:
    twice_as_hard = one_column_table(
        "synthetic",
        {VOTE: 6.0, "Alg. 2 MAP": 1.2, "Oracle MAP": 1.0},
        {VOTE: 12.0, "Alg. 2 MAP": 2.0, FUSE: 2.0, "Oracle MAP": 2.0},
    )
    differences = {one.row: one for one in find_differences(twice_as_hard, 2)}
    assert set(differences) == {"Alg. 2 MAP", "Oracle MAP"}
    assert differences["Alg. 2 MAP"].better
    assert "1 × the oracle, printed 1.2 ×" in differences["Alg. 2 MAP"].cells[0]
    assert not differences["Oracle MAP"].better
    assert differences["Oracle MAP"].cells == ["N = 10,000 (2.00 %, printed 1.00 %)"]
    assert count_reproduced(twice_as_hard) == 1


def test_times_are_compared_by_their_ratio() -> None:
    times = one_column_table(
        "time", {ALG_2: 10.0, EM: 1.0}, {ALG_2: 0.5, EM: 1.05, PLAIN_ALG_1: 9.0}
    )
    (faster,) = find_differences(times, 2)
    assert (faster.row, faster.better) == (ALG_2, True)
    assert faster.cells == ["N = 10,000 (20 × as fast)"]


def test_real_cells_are_compared_by_the_difference_from_the_vote() -> None:
    real = one_column_table(
        "real",
        {VOTE: 30.0, EM: 40.0, "Alg. 2 MAP": 29.0},
        {VOTE: 31.0, EM: 31.0, "Alg. 2 MAP": 30.1},
    )
    assert {one.row: one.better for one in find_differences(real, 2)} == {VOTE: False, EM: True}


def test_crowd_cells_are_compared_by_the_error() -> None:
    crowd = one_column_table(
        "crowd", {VOTE: 30.0, EM: 40.0, FUSE: 29.0}, {VOTE: 31.0, EM: 39.9, FUSE: 28.0}
    )
    assert {one.row: one.better for one in find_differences(crowd, 2)} == {VOTE: False, FUSE: True}
    assert count_reproduced(crowd) == 1


def test_nothing_is_compared_with_an_oracle_without_errors() -> None:
    perfect = one_column_table(
        "synthetic", {VOTE: 6.0, "Oracle MAP": 1.0}, {VOTE: 0.0, "Oracle MAP": 0.0}
    )
    assert find_differences(perfect, 2) == []
    assert count_reproduced(perfect) == 0
