"""What the page of labels shows: figures, paragraphs, warnings and classes."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blindfuse import Fusion, Responses, fuse, report_html, simulate
from blindfuse.report import annotators
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
            expected, abs=5e-5
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
    monkeypatch.setattr(annotators, "MAX_MATRIX_CLASSES", 2)
    monkeypatch.setattr("blindfuse.report.labels.MAX_CLASSES", 2)
    page, prior = page_of(crowd()), crowd().model.prior
    shown = find_block(page, "annotators", Listing).data["matrix_classes"]
    assert set(shown) == set(np.argsort(prior)[1:].tolist())
    rarest = crowd().responses.classes[crowd().diagnostics.class_shares.share.argmin()]
    assert rarest not in [row[0] for row in find_block(page, "classes", Table).rows]
    assert "The 2 most common of 3 classes" in report_html(crowd())
