"""The page of labels: figures, paragraphs, warnings, classes, annotators, dependence and items."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from blindfuse import Responses, fuse, report_html, simulate
from blindfuse.report import listings, tables
from blindfuse.report.blocks import Chart, Listing, Page, Table
from tests.support.report_cases import crowd, find_block, page_of


def chart_rows(page: Page, section: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = find_block(page, section, Chart).spec["datasets"]["rows"]
    return rows


def test_classes_and_paragraphs() -> None:
    fusion = crowd()
    page, shares = page_of(fusion), fusion.diagnostics.class_shares
    labels = Counter(fusion.labels)
    reported = Counter(fusion.responses.by_item.symbols.tolist())
    for k, row in enumerate(chart_rows(page, "classes")):
        assert row["labels"] == labels[row["name"]]
        expected = shares.share[k], shares.low[k], shares.high[k]
        drawn = [row[name] for name in ("share", "share_low", "share_high")]
        assert drawn == pytest.approx(expected, abs=1e-6)
        votes = reported[k] / fusion.responses.n_responses
        assert row["votes"] == pytest.approx(votes, abs=1e-6)
    shown = {each.heading: each.text for each in (*page.warnings, *page.paragraphs)}
    assert shown == {each.heading: each.text for each in fusion.paragraphs()}


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_error_is_stated_alike_in_figures_and_paragraphs(seed: int) -> None:
    drawn = simulate(300, 8, 3, np.random.default_rng(seed), skill=seed / 5, missing=0.3)
    fusion = fuse(drawn.responses)
    figures = {description: value for value, description in page_of(fusion).figures}
    text = fusion.paragraphs()[0].text
    stated = [name for name in figures if name.startswith("expected error")]
    for description in stated:
        figure = f"{figures[description]} {description.removeprefix('expected error ')}"
        assert figure.replace("\u00a0", " ") in text
        error = 100 * (1 - fusion.posteriors.max(axis=1).mean())
        assert float(figures[description][:-2]) == pytest.approx(error, rel=0.05, abs=0.1)
    assert bool(stated) == ("Not stated" not in text)


def test_what_the_responses_do_not_tell_is_not_on_the_page() -> None:
    clicks = fuse(Responses.from_matrix(np.random.default_rng(0).integers(2, size=(200, 5))))
    page = page_of(clicks)
    assert {each.heading for each in page.warnings} == {"Expected error", "Agreement"}
    assert not any(description.startswith("expected error") for _, description in page.figures)
    assert [row["share_low"] for row in chart_rows(page, "classes")] == [None, None]
    assert "agree no more than by chance" in report_html(clicks)


def test_warnings_are_paragraphs() -> None:
    fusion, bad = replace(crowd()), replace(crowd().diagnostics.fit, misfit=7.0)
    vars(fusion)["diagnostics"] = replace(crowd().diagnostics, fit=bad)
    warnings = {each.heading: each.text for each in page_of(fusion).warnings}
    assert "does not fit" in warnings["Fit"]
    assert "'worker 00', 'worker 01', 'worker 02'" in warnings["Dependence"]
    good = fuse(simulate(2000, 8, 3, np.random.default_rng(0), skill=0.4).responses)
    assert page_of(good).warnings == ()
    assert [each.name for each in page_of(good).sections] == ["classes", "annotators", "items"]


def test_of_many_rows_the_first_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, limit in (
        (listings, "MAX_MATRIX", 2),
        (listings, "MAX_MATRIX_CELLS", 100),
        (listings, "MAX_LISTED", 70),
        (tables, "MAX_CLASSES", 2),
        (tables, "MAX_ANNOTATORS", 30),
    ):
        monkeypatch.setattr(module, name, limit)
    fusion = crowd()
    page, text = page_of(fusion), report_html(fusion)
    annotators = find_block(page, "annotators", Listing)
    common = fusion.responses.classes[np.sort(np.argsort(fusion.model.prior)[1:])].tolist()
    assert annotators.data["matrix_classes"] == common
    assert sum(row["matrix"] is not None for row in annotators.rows) == 100 // 4
    assert {len(row["matrix"]) for row in annotators.rows if row["matrix"]} == {2}
    flagged = {row["name"] for row in annotators.rows if row["flagged"]}
    assert {"worker 00", "worker 01", "worker 02"} <= flagged
    rarest = fusion.responses.classes[fusion.diagnostics.class_shares.share.argmin()]
    assert rarest not in [row["name"] for row in find_block(page, "classes", Table).rows]
    for sentence in ("2 of 3 classes", "30 of 40 annotators", "70 of 900 items"):
        assert f"Shown are {sentence}" in text


def test_annotators_have_the_figures_of_the_diagnostics() -> None:
    fusion = crowd()
    rows = find_block(page_of(fusion), "annotators", Listing).rows
    rated, names = fusion.diagnostics.annotators, fusion.responses.annotators.tolist()
    coverage = fusion.diagnostics.coverage
    grouped = {m for group in fusion.diagnostics.dependence.groups for m in group}
    assert [row["accuracy"] for row in rows] == sorted(row["accuracy"] for row in rows)
    assert len(rows) == len(names)
    for row in rows:
        m = names.index(row["name"])
        assert row["responses"] == np.sum(fusion.responses.by_item.codes == m)
        figures = rated.accuracy[m], rated.low[m], rated.high[m]
        shown = [row[name] for name in ("accuracy", "accuracy_low", "accuracy_high")]
        assert shown == pytest.approx(figures, abs=1e-6)
        assert row["worst_class"] == rated.classes[rated.worst_class[m]]
        assert row["confused_with"] == rated.classes[rated.confused_with[m]]
        for name in ("coverage", "overlap", "conflict"):
            assert row[name] == pytest.approx(getattr(coverage, name)[m], abs=1e-6)
        assert ("no better than chance" in row["remark"]) == rated.spammer[m]
        assert ("worse than chance" in row["remark"]) == rated.adversary[m]
        assert ("dependent group" in row["remark"]) == (m in grouped)
        assert row["flagged"] == bool(row["remark"])
        expected = 1000 * fusion.model.confusions[m].T
        np.testing.assert_allclose(row["matrix"], expected, atol=0.5)
    assert any(row["flagged"] for row in rows)


def test_pairs_are_those_of_the_dependent_groups() -> None:
    fusion = crowd()
    dependence, page = fusion.diagnostics.dependence, page_of(fusion)
    names, tested = fusion.responses.annotators, dependence.tested.tolist()
    expected = {
        frozenset(names[list(pair)]): dependence.excess_matrix[tuple(map(tested.index, pair))]
        for group in dependence.groups
        for pair in combinations(group, 2)
    }
    listed = {
        frozenset((row["first"], row["second"])): row["value"]
        for row in find_block(page, "dependence", Table).rows
    }
    assert listed
    assert listed == pytest.approx(expected, abs=1e-4)
    cells = chart_rows(page, "dependence")
    framed = {frozenset((cell["first"], cell["second"])) for cell in cells if cell["framed"]}
    assert framed == set(listed)
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
        posteriors = sorted(fusion.posteriors[n], reverse=True)[:2]
        shown = row["confidence"], row["second_posterior"]
        assert shown == pytest.approx(posteriors, abs=1e-6)
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
