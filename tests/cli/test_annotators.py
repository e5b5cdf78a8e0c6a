"""`blindfuse annotators`."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import fuse, read, simulate
from tests.support.cli import succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_annotators_are_sorted_by_accuracy_with_remarks() -> None:
    rng, pair = np.random.default_rng(2), [(0, 1)]
    simulation = simulate(
        600, 12, 2, rng, skill=0.6, adversaries=0.1, dependent_groups=pair, copy_probability=1
    )
    matrix = simulation.responses.matrix()
    rows = [f"i{n},a{m:02},{matrix[n, m]}\n" for n in range(600) for m in range(12)]
    Path("mixed.csv").write_text("item,annotator,label\n" + "".join(rows))
    result = succeed("annotators", "mixed.csv", "-o", "annotators.jsonl")
    lines = [line for line in result.stdout.splitlines() if re.match(r"a\d\d", line)]
    assert "worse than chance" in lines[0]
    assert lines[0].startswith("a11")
    assert all("dependent group 1" in line for line in lines if line[:3] in ("a00", "a01"))
    diagnostics = fuse(read("mixed.csv").responses).diagnostics
    ratings = diagnostics.annotators
    frame = pl.read_ndjson("annotators.jsonl")
    assert frame.filter(flag="adversary")["annotator"].to_list() == ["a11"]
    assert set(frame.drop_nulls("dependent_group")["annotator"]) == {"a00", "a01"}
    assert len(diagnostics.dependence.groups) == 1
    accuracies = dict(zip(frame["annotator"], frame["accuracy"], strict=True))
    for name, accuracy in zip(ratings.names, ratings.accuracy, strict=True):
        assert accuracies[name] == pytest.approx(accuracy, abs=1e-6)


def test_at_most_20_annotators_are_printed() -> None:
    rows = [f"i{n},a{m},{n % 2}\n" for n in range(10) for m in range(45)]
    Path("crowd.csv").write_text("item,annotator,label\n" + "".join(rows))
    result = succeed("annotators", "crowd.csv")
    assert "25 more rows; -o writes all" in result.stdout
    assert len(json.loads(succeed("annotators", "crowd.csv", "--json").stdout)["annotators"]) == 45
