"""`blindfuse demo`."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blindfuse
from blindfuse.cli import fusing
from blindfuse.datasets.tumours import tumours_crowd
from tests.support.cli import succeed
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
