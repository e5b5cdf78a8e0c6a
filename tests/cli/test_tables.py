"""`blindfuse annotators`, `compare` and `next`."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import compare, fuse, next_labels, read, read_gold, simulate
from blindfuse.estimators.registry import METHODS
from tests.support.cli import read_votes, refuse, succeed

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


def test_errors_with_gold_labels_and_differences_without() -> None:
    truth, responses = read_gold("truth.csv"), read_votes()
    options = ("--method", "glad", "--method", "majority-vote", "--method", "eigen-ratio")
    document = json.loads(
        succeed("compare", "votes.csv", "--truth", "truth.csv", "--json", *options).stdout
    )
    methods = {name: METHODS[name] for name in ("GLAD", "MajorityVote", "EigenRatio")}
    expected = {row.method: row for row in compare(responses, truth, methods)}
    assert document["n_gold_items"] == 300
    assert {row["method"] for row in document["methods"]} == set(expected)
    for row in document["methods"]:
        comparison = expected[row["method"]]
        assert row["error"] == pytest.approx(comparison.error, abs=1e-6)
        assert row["differs"] == pytest.approx(comparison.differs, abs=1e-6)
    errors = [row["error"] for row in document["methods"] if row["error"] is not None]
    assert errors == sorted(errors)
    text = succeed("compare", "votes.csv", "--truth", "truth.csv", *options).stdout
    best = min(row.error for row in expected.values() if row.error is not None)
    line = next(line for line in text.splitlines() if " best " in line)
    assert f"{100 * best:.2f} %" in line
    assert "300 gold labels" in text
    assert "EigenRatio was not run: EigenRatio needs two classes" in text
    without = succeed("compare", "votes.csv", *options).stdout
    assert "error" not in without
    assert "differs from fuse" in without


def test_requests_are_those_of_next_labels() -> None:
    options = ("--budget", "30", "--max-per-annotator", "6")
    result = succeed("next", "votes.csv", *options, "-o", "requests.csv")
    expected = next_labels(fuse(read_votes()), 30, max_per_annotator=6)
    frame = pl.read_csv("requests.csv")
    assert frame["item"].to_list() == expected.items.tolist()
    assert frame["annotator"].to_list() == expected.annotators.tolist()
    np.testing.assert_allclose(frame["gain"], expected.gains, atol=5.1e-7)
    assert "10 more rows" in result.stdout
    assert "--budget 0 must be an integer of at least 1" in refuse(
        "next", "votes.csv", "--budget", "0"
    )
    requested = json.loads(succeed("next", "votes.csv", "--json").stdout)["requests"]
    assert len(requested) == 100


def test_no_request_is_made_if_everyone_has_labelled_everything() -> None:
    succeed("simulate", "-o", "all.csv", "--items", "50", "--annotators", "4")
    assert "No request would be informative" in succeed("next", "all.csv", "--budget", "5").stdout
