"""The page of labels: figures, paragraphs, warnings, classes, annotators, dependence and items."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blindfuse import Fusion, Responses, fuse, report_html, simulate
from blindfuse.report import labels as label_page
from blindfuse.report import listings
from blindfuse.report.blocks import Chart, Listing, Page, Table
from tests.support.report_cases import crowd, find_block, page_of


def chart_rows(page: Page, section: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = find_block(page, section, Chart).spec["datasets"]["rows"]
    return rows


def test_classes_and_paragraphs() -> None:
    fusion = crowd()
    page, shares = page_of(fusion, notes=["read as long"]), fusion.diagnostics.class_shares
    labels = Counter(fusion.labels)
    reported = Counter(fusion.responses.by_item.symbols.tolist())
    for k, row in enumerate(chart_rows(page, "classes")):
        assert row["labels"] == labels[row["name"]]
        votes = reported[k] / fusion.responses.n_responses
        expected = shares.share[k], shares.low[k], shares.high[k], votes
        assert [row[key] for key in ("value", "low", "high", "mark")] == pytest.approx(
            expected, abs=1e-6
        )
    assert page.notes[0] == "read as long"
    shown = {each.heading: each.text for each in (*page.warnings, *page.paragraphs)}
    assert shown == {each.heading: each.text for each in fusion.paragraphs()}
    error = 1 - fusion.posteriors.max(axis=1).mean()
    assert float(page.figures[0][0].removesuffix("\u00a0%")) == pytest.approx(100 * error, rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_error_is_stated_alike_in_figures_and_paragraphs(seed: int) -> None:
    drawn = simulate(300, 8, 3, np.random.default_rng(seed), skill=seed / 5, missing=0.3)
    fusion = fuse(drawn.responses)
    figures = {description: value for value, description in page_of(fusion).figures}
    text = fusion.paragraphs()[0].text
    stated = [one for one in figures if one.startswith("expected error")]
    for description in stated:
        figure = f"{figures[description]} {description.removeprefix('expected error ')}"
        assert figure.replace("\u00a0", " ") in text
    assert bool(stated) == ("Not stated" not in text)


def test_what_the_responses_do_not_tell_is_not_on_the_page() -> None:
    clicks = fuse(Responses.from_matrix(np.random.default_rng(0).integers(2, size=(200, 5))))
    page = page_of(clicks)
    assert {one.heading for one in page.warnings} == {"Expected error", "Agreement"}
    assert not any(description.startswith("expected error") for _, description in page.figures)
    assert [row["low"] for row in chart_rows(page, "classes")] == [None, None]
    assert "agree no more than by chance" in report_html(clicks)


def warnings_of(fusion: Fusion) -> dict[str, str]:
    return {one.heading: one.text for one in page_of(fusion).warnings}


def test_warnings_are_paragraphs() -> None:
    fusion = replace(crowd())
    bad = replace(crowd().diagnostics.fit, misfit=7.0)
    vars(fusion)["diagnostics"] = replace(crowd().diagnostics, fit=bad)
    assert "does not fit" in warnings_of(fusion)["Fit"]
    assert "'worker 00', 'worker 01', 'worker 02'" in warnings_of(fusion)["Dependence"]


def test_a_good_fusion_has_no_warnings() -> None:
    good = fuse(simulate(2000, 8, 3, np.random.default_rng(0), skill=0.4).responses)
    assert page_of(good).warnings == ()
    assert "No diagnostic gives a reason to distrust these figures" in report_html(good)


def test_only_the_most_common_of_many_classes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MAX_MATRIX_CLASSES", 2)
    monkeypatch.setattr(label_page, "MAX_DRAWN_CLASSES", 2)
    page, prior = page_of(crowd()), crowd().model.prior
    shown = find_block(page, "annotators", Listing).data["matrix_classes"]
    assert set(shown) == set(np.argsort(prior)[1:].tolist())
    rarest = crowd().responses.classes[crowd().diagnostics.class_shares.share.argmin()]
    assert rarest not in [row["name"] for row in find_block(page, "classes", Table).rows]
    assert "Shown are 2 of 3 classes" in report_html(crowd())


def annotator_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = find_block(page_of(crowd()), "annotators", Listing).rows
    return rows


def test_annotators_have_the_figures_of_the_diagnostics() -> None:
    fusion, rows = crowd(), annotator_rows()
    found, names = fusion.diagnostics.annotators, fusion.responses.annotators.tolist()
    assert [row["responses"] for row in rows] == sorted(found.n_responses, reverse=True)
    assert len(rows) == len(names)
    for row in rows:
        m = names.index(row["name"])
        assert row["responses"] == np.sum(fusion.responses.by_item.codes == m)
        figures = found.accuracy[m], found.low[m], found.high[m]
        assert (row["value"], row["low"], row["high"]) == pytest.approx(figures, abs=1e-6)
        assert row["worst_class"] == found.worst_class[m]
        assert row["confused_with"] == found.confused_with[m]
        assert row["misfit"] == pytest.approx(fusion.diagnostics.fit.by_annotator[m], abs=1e-6)
        biased = found.bias[m].argmax() if found.bias[m].max() >= 0.05 else None
        assert row["over_reported"] == biased
        assert row["over_reported_by"] == pytest.approx(found.bias[m].max(), abs=1e-6)
        assert ("no better than chance" in row["remarks"]) == found.spammer[m]
        assert ("worse than chance" in row["remarks"]) == found.adversary[m]
        expected = 1000 * fusion.model.confusions[m].T
        np.testing.assert_allclose(row["matrix"], expected, atol=0.5)
    assert any(row["remarks"] for row in rows)


def test_rows_without_a_matrix_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MAX_MATRIX_CELLS", 100)
    rows = annotator_rows()
    assert sum(row["matrix"] is None for row in rows) == 40 - 100 // 9
    assert all(row["matrix"] for row in rows if row["remarks"])
    assert f"{40 - 100 // 9} with fewer responses" in report_html(crowd())


def test_pairs_are_those_of_the_diagnostics() -> None:
    fusion = crowd()
    found, page = fusion.diagnostics.dependence, page_of(fusion)
    names = fusion.responses.annotators
    expected = {
        frozenset(names[pair]): excess
        for pair, excess in zip(found.pairs, found.excess, strict=True)
    }
    assert expected
    listed = {
        frozenset((row["first"], row["second"])): row["value"]
        for row in find_block(page, "dependence", Table).rows
    }
    assert listed == pytest.approx({pair: expected[pair] for pair in listed})
    cells = chart_rows(page, "dependence")
    framed = {frozenset((cell["first"], cell["second"])) for cell in cells if cell["framed"]}
    assert set(listed) <= framed <= set(expected)
    drawn = list(dict.fromkeys(cell["first"] for cell in cells))
    assert len(drawn) == 30
    assert {"worker 00", "worker 01", "worker 02"} <= set(drawn[:4])


def test_items_have_confidences_and_all_votes_largest_gain_first() -> None:
    fusion = crowd()
    page, matrix = page_of(fusion), fusion.responses.matrix()
    table, rated = find_block(page, "items", Listing), fusion.item_ratings
    voters = table.data["voters"]
    names = fusion.responses.items.tolist()
    assert len(table.rows) == len(names)
    gains = [row["gain"] for row in table.rows]
    assert gains == sorted(gains, reverse=True)
    ranked = [names[n] for n in rated.ranked()]
    assert [row["name"] for row in table.rows[: len(ranked)]] == ranked
    others = [row["confidence"] for row in table.rows if row["gain"] == 0]
    assert others == sorted(others)
    for row in table.rows:
        n = names.index(row["name"])
        first, second = sorted(fusion.posteriors[n], reverse=True)[:2]
        assert (row["confidence"], row["second_posterior"]) == pytest.approx(
            (first, second), abs=1e-6
        )
        assert fusion.responses.classes[row["label"]] == fusion.labels[n]
        assert row["needs_another_label"] == rated.needs_another_label[n]
        votes = Counter(label for label in matrix[n].tolist() if label >= 0)
        assert {vote["label"]: vote["count"] for vote in row["votes"]} == votes
        voted = {
            (voters[voter], vote["label"]) for vote in row["votes"] for voter in vote["voters"]
        }
        expected = zip(fusion.responses.annotators, matrix[n].tolist(), strict=True)
        assert voted == {(name, label) for name, label in expected if label >= 0}
        assert row["outvoted"] == (votes[row["label"]] < max(votes.values(), default=0))
    bins = chart_rows(page, "items")
    assert sum(bar["count"] for bar in bins) == len(names)
    assert sum(bar["marked"] for bar in bins) == rated.needs_another_label.sum()
