"""The table of items: confidences, gains and votes."""

from collections import Counter

import pytest

from tests.support.report_cases import contents_of, crowd


def test_rows_have_confidences_and_all_votes_largest_gain_first() -> None:
    fusion = crowd()
    table, matrix = contents_of(fusion).items, fusion.responses.matrix()
    names = fusion.responses.items.tolist()
    assert len(table.rows) == table.total == len(names)
    assert [row.gain for row in table.rows] == sorted(
        (row.gain for row in table.rows), reverse=True
    )
    ranked = [names[n] for n in fusion.item_ratings.ranked()]
    assert [row.name for row in table.rows[: len(ranked)]] == ranked
    others = [row.confidence for row in table.rows if row.gain == 0]
    assert others == sorted(others)
    for row in table.rows:
        n = names.index(row.name)
        first, second = sorted(fusion.posteriors[n], reverse=True)[:2]
        assert (row.confidence, row.second_posterior) == pytest.approx((first, second), abs=5e-5)
        assert fusion.responses.classes[row.label] == fusion.labels[n]
        assert row.needs_another_label == fusion.item_ratings.needs_another_label[n]
        votes = Counter(label for label in matrix[n].tolist() if label >= 0)
        assert {vote.label: vote.count for vote in row.votes} == votes
        voted = {(table.voters[voter], vote.label) for vote in row.votes for voter in vote.voters}
        expected = zip(fusion.responses.annotators, matrix[n].tolist(), strict=True)
        assert voted == {(name, label) for name, label in expected if label >= 0}
        assert row.outvoted == (votes[row.label] < max(votes.values(), default=0))
    assert table.n_needing_label == sum(row.needs_another_label for row in table.rows)
    assert sum(table.counts_needing) == table.n_needing_label
    assert sum(table.counts) == len(names)
