"""`blindfuse simulate`."""

import numpy as np
import polars as pl
import pytest

from blindfuse import read_gold, simulate
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_files_hold_the_simulated_responses_and_truth() -> None:
    sizes = ("--items", "200", "--annotators", "9", "--classes", "4", "--missing", "0.5")
    annotators = ("--skill", "0.2", "--adversaries", "0.3", "--copiers", "2", "--seed", "7")
    succeed("simulate", "-o", "s.parquet", "--truth", "t.csv", *sizes, *annotators)
    expected = simulate(
        200, 9, 4, np.random.default_rng(7), skill=0.2, missing=0.5, adversaries=0.3,
        dependent_groups=[(0, 1, 2)], copy_probability=0.9,
    )  # fmt: skip
    rows, frame = expected.responses.by_item, pl.read_parquet("s.parquet")
    assert frame["label"].to_list() == [str(label) for label in rows.symbols]
    assert frame["annotator"].to_list() == [f"a{m + 1}" for m in rows.codes]
    items = expected.responses.item_of_response()
    assert frame["item"].to_list() == [f"i{n + 1}" for n in items]
    truth = read_gold("t.csv")
    assert list(truth.values()) == [str(code) for code in expected.truth]
    assert (
        succeed("simulate", *sizes, *annotators).stdout == pl.read_parquet("s.parquet").write_csv()
    )
    assert "--copiers" in refuse("simulate", "--annotators", "3", "--copiers", "3")
