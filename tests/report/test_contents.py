"""What the page shows: figures, paragraphs, warnings, classes and history."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from blindfuse import Fusion, Responses, fuse, report_html, simulate
from blindfuse.report import annotators
from tests.support.report_cases import contents_of, crowd


def test_classes_history_and_paragraphs() -> None:
    fusion = crowd()
    found, shares = contents_of(fusion, notes=["read as long"]), fusion.diagnostics.class_shares
    labels = Counter(fusion.labels)
    reported = Counter(fusion.responses.by_item.symbols.tolist())
    for k, one in enumerate(found.class_summaries):
        assert one.n_labels == labels[one.name]
        votes = reported[k] / fusion.responses.n_responses
        assert one.votes == pytest.approx(votes, abs=5e-5)
        expected = shares.share[k], shares.low[k], shares.high[k]
        assert (one.share, one.low, one.high) == pytest.approx(expected, abs=5e-5)
    assert [value for _, value in found.history] == fusion.history.tolist()
    assert found.notes[0] == "read as long"
    assert found.paragraphs == fusion.diagnostics.paragraphs()
    error = 1 - fusion.posteriors.max(axis=1).mean()
    assert float(found.key_figures[0].value.removesuffix("\u00a0%")) == pytest.approx(
        100 * error, rel=0.05
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_error_is_stated_alike_in_figures_and_paragraphs(seed: int) -> None:
    drawn = simulate(300, 8, 3, np.random.default_rng(seed), skill=seed / 5, missing=0.3)
    found = contents_of(fuse(drawn.responses))
    figures = [one for one in found.key_figures if one.description.startswith("expected error")]
    paragraph = next(one for one in found.paragraphs if one.heading == "Expected error")
    for figure in figures:
        stated = f"{figure.value} {figure.description.removeprefix('expected error ')}"
        assert stated.replace("\u00a0", " ") in paragraph.text
    assert bool(figures) == ("Not stated" not in paragraph.text)


def test_what_the_responses_do_not_tell_is_not_on_the_page() -> None:
    clicks = Responses.from_matrix(np.random.default_rng(0).integers(2, size=(200, 5)))
    found = contents_of(fuse(clicks))
    assert {one.heading for one in found.warnings} == {"Expected error", "Agreement"}
    assert not any(one.description.startswith("expected error") for one in found.key_figures)
    assert [one.low for one in found.class_summaries] == [None, None]
    assert "agree no more than by chance" in report_html(fuse(clicks))


def warnings_of(fusion: Fusion) -> dict[str, str]:
    return {one.heading: one.text for one in contents_of(fusion).warnings}


def test_warnings_are_paragraphs() -> None:
    fusion = replace(crowd())
    bad = replace(crowd().diagnostics.fit, misfit=7.0)
    vars(fusion)["diagnostics"] = replace(crowd().diagnostics, fit=bad)
    assert "does not fit" in warnings_of(fusion)["Fit"]
    assert "'worker 00', 'worker 01', 'worker 02'" in warnings_of(fusion)["Dependence"]


def test_a_good_fusion_has_no_warnings() -> None:
    good = fuse(simulate(2000, 8, 3, np.random.default_rng(0), skill=0.4).responses)
    assert contents_of(good).warnings == ()
    assert "No diagnostic gives a reason to distrust these figures" in report_html(good)


def test_long_histories_keep_their_first_and_last_iteration() -> None:
    fusion = replace(crowd(), history=np.linspace(-5000.0, -1.0, 5000))
    history = contents_of(fusion).history
    assert len(history) <= 400
    assert (history[0], history[-1]) == ((1, -5000.0), (5000, -1.0))


def test_only_the_most_common_of_many_classes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotators, "MAX_MATRIX_CLASSES", 2)
    monkeypatch.setattr("blindfuse.report.contents.MAX_CLASSES", 2)
    found, prior = contents_of(crowd()), crowd().model.prior
    assert set(found.annotators.matrix_classes) == set(np.argsort(prior)[1:].tolist())
    rarest = crowd().responses.classes[crowd().diagnostics.class_shares.share.argmin()]
    assert rarest not in [one.name for one in found.class_summaries]
    assert "The 2 most common of 3 classes" in report_html(crowd())
