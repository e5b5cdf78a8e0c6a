"""`blindfuse demo` and `simulate`."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import blindfuse
from blindfuse import read_gold, simulate
from blindfuse.cli import fusing
from blindfuse.datasets.tumours import tumours_crowd
from tests.support.cli import refuse, succeed
from tumours import TUMOURS, label_tumours

pytestmark = pytest.mark.usefixtures("folder")


def test_the_demo_shows_estimated_and_true_figures_and_writes_a_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        arguments.update(options, fusion=fusion)
        return "page"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    monkeypatch.setattr(fusing, "MAX_RESPONSES_FAST_METHODS", 0)
    text = succeed("demo", "--report", "demo.html").stdout
    assert Path("demo.html").read_text() == "page"
    fusion, error = arguments["fusion"], arguments["gold"].error.value
    assert arguments["gold"].items == 569
    assert fusion.expected_error.low < error < fusion.expected_error.high
    assert fusion.item_ratings.needs_another_label.mean() < 0.4
    row = next(line for line in text.splitlines() if line.startswith("tree 02"))
    estimated, true = (float(cell) for cell in row.split("no better")[0].split()[2::2])
    assert estimated == pytest.approx(true, abs=5)
    vote, fused = (
        float(next(line for line in text.splitlines() if line.startswith(name)).split()[-2])
        for name in ("majority vote", "blindfuse")
    )
    assert fused < 0.8 * vote


def test_the_labels_are_those_that_the_classifiers_gave() -> None:
    with TUMOURS.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == label_tumours()


def test_the_crowd_is_the_file() -> None:
    header, *rows = label_tumours()
    crowd = tumours_crowd()
    names = np.append(crowd.responses.classes, "")  # the last one is at -1
    cells = np.column_stack((names[crowd.truth], names[crowd.responses.matrix()]))
    assert cells.tolist() == [row[1:] for row in rows]
    assert crowd.responses.annotators.tolist() == header[2:]
    assert not crowd.responses.notes


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
