"""The table of items: confidences, gains and votes."""

from collections import Counter

import pytest

from blindfuse.report.blocks import Chart, Listing
from tests.support.report_cases import crowd, find_block, page_of


def test_rows_have_confidences_and_all_votes_largest_gain_first() -> None:
    fusion = crowd()
    page, matrix = page_of(fusion), fusion.responses.matrix()
    table = find_block(page, "items", Listing)
    voters = table.data["voters"]
    names = fusion.responses.items.tolist()
    assert len(table.rows) == len(names)
    assert [row["gain"] for row in table.rows] == sorted(
        (row["gain"] for row in table.rows), reverse=True
    )
    ranked = [names[n] for n in fusion.item_ratings.ranked()]
    assert [row["name"] for row in table.rows[: len(ranked)]] == ranked
    others = [row["confidence"] for row in table.rows if row["gain"] == 0]
    assert others == sorted(others)
    for row in table.rows:
        n = names.index(row["name"])
        first, second = sorted(fusion.posteriors[n], reverse=True)[:2]
        assert (row["confidence"], row["second_posterior"]) == pytest.approx(
            (first, second), abs=5e-5
        )
        assert fusion.responses.classes[row["label"]] == fusion.labels[n]
        assert row["needs_another_label"] == fusion.item_ratings.needs_another_label[n]
        votes = Counter(label for label in matrix[n].tolist() if label >= 0)
        assert {vote["label"]: vote["count"] for vote in row["votes"]} == votes
        voted = {
            (voters[voter], vote["label"]) for vote in row["votes"] for voter in vote["voters"]
        }
        expected = zip(fusion.responses.annotators, matrix[n].tolist(), strict=True)
        assert voted == {(name, label) for name, label in expected if label >= 0}
        assert row["outvoted"] == (votes[row["label"]] < max(votes.values(), default=0))
    bins = find_block(page, "items", Chart).spec["datasets"]["rows"]
    assert sum(bar["count"] for bar in bins) == len(names)
    assert sum(bar["marked"] for bar in bins) == fusion.item_ratings.needs_another_label.sum()
