"""`blindfuse compare`."""

import json

import pytest

from blindfuse import compare, read_gold
from blindfuse.estimators.registry import METHODS
from tests.support.cli import read_votes, succeed

pytestmark = pytest.mark.usefixtures("folder")


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
